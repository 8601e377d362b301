"""Private copies of texts and blobs: what a frame keeps of bytes whose place in memory is about to change.

They are freed with their frame, so a loop that makes one in every iteration leaves the VM from time to time.
"""
from sqpyte.vm.base import mem
from sqpyte.vm.base.jit import dont_look_inside
from sqpyte.vm.values.values import CONSTANT

# After so many copies, or so many bytes of them, the loop leaves.
MOST_KEPT = 5000
MOST_KEPT_BYTES = 8 << 20


class Kept(object):
    """Private copies of texts and blobs, which are freed with their frame."""

    def __init__(self):
        self.addresses = []
        self.size = 0           # bytes
        self.crowded = False    # they are many, or large

    def enter(self, address, size):
        """Keep what lies at an address."""
        self.addresses.append(address)
        self.size += size
        self.crowded = len(self.addresses) > MOST_KEPT or self.size > MOST_KEPT_BYTES


def private_copy(w, kept):
    """The same text or blob in memory that is freed with the frame whose `kept` it enters."""
    return w.moved(copied(w.address, w.size, kept), CONSTANT)


# Takes plain integers: RPython's optimiser may call a function that both reads and makes values
# before it has filled in one that it is given (OptHeap.force_from_effectinfo passes over the
# pure fields of a structure that the callee also writes).
@dont_look_inside
def copied(address, size, kept):
    """Address of a copy of the bytes, which enters `kept`."""
    copy = mem.duplicate(address, size)
    kept.enter(copy, size)
    return copy
