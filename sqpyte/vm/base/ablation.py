"""What of the VM is switched off, so that a measurement shows what it buys: SQPYTE_WITHOUT=arithmetic,...

c_engine/core/mechanisms.h has the names, of all parts of the system; C reads them.  The VM asks C when it starts.  A
program that is decoded afterwards leaves the opcodes of a group to upstream's code, one at a time, in a hot loop as
elsewhere; traces are made all the same, without them.  An opcode's name, as `Column` (any but IsType), stands for that
opcode alone: for tests.
"""
from sqpyte.vm.base import capi


class Switches(object):
    """What is switched off; set once, before anything is traced.

    Attributes:
        types: numbers and NULL are in their register's Mem, always: written there at once, read from there with a
            look at the type (bool).
        in_c: for each opcode, 1 if C executes it, else 0 (list of int).
    """
    _immutable_fields_ = ['types?']

    def __init__(self):
        self.types = False
        self.in_c = [0] * 256

    def read(self):
        """Take what C says."""
        self.types = capi.numbers_in_mem() != 0
        for number in range(256):
            self.in_c[number] = capi.left_in_c(number)


switches = Switches()
