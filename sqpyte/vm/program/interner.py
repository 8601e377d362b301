"""The decoded programs that the VM holds, by content, and what they keep in raw memory."""
from c_engine.generated.layout import SQPYTE_WHY_LARGE
from sqpyte.vm.base import mem
from sqpyte.vm.program.hopeless import too_many_fields


class Program(object):
    """A decoded program.

    Its constants are in raw memory, `addresses`, which is freed when the program is forgotten; the
    caller of `Interner.forget` sees to it that it isn't running then. What was compiled of it isn't
    entered any more either: nothing but the program's places leads there.
    """
    _immutable_fields_ = ['ops[*]', 'nregisters', 'ncursors', 'nslots', 'unseen[*]', 'number']

    def __init__(self, ops, nregisters, ncursors, nslots, unseen, number, content, addresses):
        self.ops = ops
        self.nregisters = nregisters
        self.ncursors = ncursors
        self.nslots = nslots        # offsets of columns that a frame keeps (column_slots.py)
        self.unseen = unseen        # registers that are unmarked when the VM is entered (bound.py)
        self.number = number
        self.content = content
        self.addresses = addresses
        self.size = 2 * len(content)
        for op in ops:
            self.size += op.estimated_size()
        self.running = 0            # runs of the VM in it, one within another
        self.used = 0               # when it was last entered (budget.py)
        self.given_up = 0           # how often the JIT has given a trace of it up (hopeless.py)
        self.hopeless = 0           # why it isn't run (any more): SQPYTE_WHY_..., or 0
        if too_many_fields(nregisters, ncursors, nslots):
            self.hopeless = SQPYTE_WHY_LARGE
        self.falls = 0              # how often a trace of it has fallen back to the interpreter
        self.passed = 0             # opcodes that it has passed in the VM, in runs that have ended


if mem.TRANSLATED_HOST:
    def next_number(last):
        return last + 1
else:
    from itertools import count
    _numbers = count(1)

    def next_number(last):
        """The number after the `last` one; elsewhere than in the VM one that nobody else gets meanwhile."""
        return next(_numbers)


class Interner(object):
    """The programs, by content and by number.  A number isn't used twice."""

    def __init__(self):
        self.by_content = {}
        self.by_number = {}
        self.last = 0
        self.size = 0               # bytes of all programs, about

    def new_number(self):
        """A number that no program has had."""
        self.last = next_number(self.last)
        return self.last

    def add(self, program):
        """Keep a program."""
        self.by_content[program.content] = program
        self.by_number[program.number] = program
        self.size += program.size

    def get(self, number):
        """The program of that number, or None if there is none (any more)."""
        return self.by_number.get(number, None)

    def leave_out(self, program):
        """Have a program decoded anew when it is next asked for; it stays whole for who has it."""
        if self.by_content.get(program.content, None) is program:
            del self.by_content[program.content]
        del self.by_number[program.number]
        self.size -= program.size

    def forget(self, program):
        """Forget a program that isn't running."""
        self.leave_out(program)
        free_constants(program.addresses)
        program.addresses = []


def free_constants(addresses):
    """Free the constants at addresses, a program's, which nobody runs any more."""
    for address in addresses:
        mem.free(address)


interner = Interner()


class Constants(object):
    """The raw memory of the program that is being decoded."""

    def __init__(self):
        self.addresses = []

    def alloc(self, size):
        """The address of `size` bytes that live as long as the program."""
        address = mem.alloc(size)
        self.addresses.append(address)
        return address

    def text(self, data):
        """The address of a copy of the str `data` that lives as long as the program."""
        address = mem.immortal_bytes(data)
        self.addresses.append(address)
        return address


constants = Constants()
