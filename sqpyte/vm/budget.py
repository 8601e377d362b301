"""How much memory programs and their machine code may take, and who is forgotten beyond that.

The limit is the engine's (sqpyte_set_memory, SQPYTE_VM_MEMORY).  What is used is what decoded
programs take and the machine code times FACTOR: beside a trace the JIT keeps, in the RPython heap,
how every guard's state is brought back.  It is looked at when a statement enters the VM, and when a
trace falls back to the interpreter, which happens a few dozen times before there is another trace:
so a single statement can't go far beyond it either.

When there is too much, programs and machine code that weren't used for longest are forgotten. What
runs isn't: a statement that is run by another one's function stays in C then.
"""
from sqpyte.vm.base import capi, jit
from sqpyte.vm.program.interner import interner

# Bytes for each byte of machine code, as measured by what the process takes.
FACTOR = 6
MAX_NUMBER = 0x7FFFFFFF     # of a program: an int in the Vdbe


class Budget(object):
    """See the module's docstring; `clock` counts the VM's runs."""

    def __init__(self):
        self.clock = 0
        self.running = 0        # runs of the VM, one within another
        self.forgotten = 0      # programs
        self.least = 0          # what is used when all is forgotten

    def used(self):
        """Bytes of programs and machine code, about."""
        return interner.size + FACTOR * jit.code_size()

    @jit.dont_look_inside
    def is_full(self):
        """Whether programs and machine code take more than they may."""
        return self.used() >= capi.memory_limit() or interner.last == MAX_NUMBER

    def enter(self, program):
        """A statement of that program begins to run."""
        self.clock += 1
        self.running += 1
        program.used = self.clock
        program.running += 1

    def leave(self, program):
        """It has left the VM."""
        self.running -= 1
        program.running -= 1
        self.note()

    def note(self):
        """Tell the engine what there is."""
        capi.note_memory(self.used(), jit.code_size(), len(interner.by_number), self.forgotten)

    def make_room(self):
        """Forget what wasn't used for longest, half first, in the end all.

        Returns: whether there is room now. There is none made while a statement runs.
        """
        if self.running:
            return False
        if capi.memory_limit() <= self.least and not interner.by_number:
            return False                # nothing is left to be forgotten
        enough = capi.memory_limit() // 4 * 3
        for part in [2, 4, 0]:
            self.forget_programs(part)
            jit.drop_loops(part)
            if self.used() <= enough:
                break
            if part == 0:
                self.least = self.used()
        self.note()
        return not self.is_full()

    def forget_programs(self, part):
        """Forget the programs but those used in the last 1/part of the time since the oldest one was
        used; with 0 all."""
        oldest = self.clock
        for program in list(interner.by_number.values()):
            oldest = min(oldest, program.used)
        first = self.clock + 1 if part == 0 else self.clock - (self.clock - oldest) // part
        for program in list(interner.by_number.values()):
            if program.used < first and program.running == 0:
                interner.forget(program)
                self.forgotten += 1


budget = Budget()
