"""Programs that the JIT can't compile, or for which that doesn't pay.

RPython gives a trace up that is too long, or a guard of which holds more than MOST_FIELDS values, and doesn't note it:
it records the same trace again after as many rounds of the loop, in vain again, for as long as the loop runs. So a
program whose frame has that many fields doesn't enter the VM, for each is such a value at a loop's head; and one whose
traces have been given up several times leaves it, for good. Of TPC-H's and SSB's queries, with an eager JIT or not, no
trace is given up.

A trace has the types of its row's values, and what its conditions said. A row of others falls back to the interpreter,
and after some falls from one guard there is a bridge for such rows. Of twelve columns that are NULL at random there are
4 096 combinations: a sum of each took 60 times as long as in C, for ten seconds of rows. So falls are counted, and
a program that falls more often than FALLS, and than once in OPCODES_A_FALL opcodes, leaves the VM for good, too: a fall
takes some 20 us, and an opcode in machine code saves 5 ns. TPC-H's and SSB's queries fall up to 4 600 times, and are
faster for it.

Both are looked at where a trace falls back to the interpreter, as the budget is.
"""
from c_engine.generated.layout import SQPYTE_WHY_FALLS, SQPYTE_WHY_LARGE
from sqpyte.vm.base import jit

# RPython's FAILARGS_LIMIT.
MOST_FIELDS = 1000
# Falls of a program that are never too many: 0.15 s.
FALLS = 6000
OPCODES_A_FALL = 4000
# Traces of a program, given up.
MOST_GIVEN_UP = 4
# Of each cursor: see Frame.
FIELDS_OF_A_CURSOR = 7


class Seen(object):
    """How many traces had been given up in the process when that was last looked at."""

    def __init__(self):
        self.given_up = 0


seen = Seen()


def too_many_fields(nregisters, ncursors, nslots):
    """Whether a program's frame has more fields than a guard may hold values."""
    return nregisters + FIELDS_OF_A_CURSOR * ncursors + nslots >= MOST_FIELDS


@jit.dont_look_inside
def is_hopeless(program):
    """Note of a program that runs what was given up since the last look; whether that is enough."""
    count = jit.given_up()
    if count != seen.given_up:
        seen.given_up = count
        program.given_up += 1
        if program.given_up >= MOST_GIVEN_UP:
            program.hopeless = SQPYTE_WHY_LARGE
    return program.hopeless != 0


@jit.dont_look_inside
def falls_too_often(program, passed):
    """Note that a program which runs has fallen back to the interpreter; whether it does so too often.

    Args: passed, how many opcodes it has passed since it entered the VM (int).
    """
    program.falls += 1
    if program.falls > FALLS + (program.passed + passed) // OPCODES_A_FALL:
        program.hopeless = SQPYTE_WHY_FALLS
    return program.hopeless != 0
