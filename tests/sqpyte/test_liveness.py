"""Liveness of registers: what is written back before C goes on."""
from c_engine.generated import opcodes
from sqpyte import interp, liveness  # noqa: F401  (interp fills the table)
from sqpyte.program import Op


def program(*ops):
    decoded = [Op(getattr(opcodes, 'OP_' + name), p1, p2, p3, p5) for name, p1, p2, p3, p5 in ops]
    liveness.annotate(decoded)
    return decoded


def test_a_loop_keeps_what_the_next_iteration_reads():
    ops = program(
        ('Rewind', 0, 4, 0, 0),
        ('Column', 0, 1, 1, 0),
        ('Add', 1, 2, 3, 0),            # r3 = r1 + r2; r3 isn't read any more
        ('Next', 0, 1, 0, 0),
        ('Halt', 0, 0, 0, 0))
    assert ops[0].live == [2]
    assert ops[2].live == [1, 2]
    assert ops[3].live == [2]           # r1 is read again before it is used
    assert ops[4].live == []


def test_a_subroutine_returns_to_its_callers():
    ops = program(
        ('Gosub', 1, 3, 0, 0),
        ('SCopy', 5, 6, 0, 0),
        ('Halt', 0, 0, 0, 0),
        ('Integer', 7, 4, 0, 0),
        ('Return', 1, 0, 0, 0))
    assert 5 in ops[3].live and 5 in ops[4].live
    assert 4 not in ops[3].live


def test_an_unknown_opcode_reads_everything():
    ops = program(
        ('Integer', 1, 1, 0, 0),
        ('Integer', 2, 2, 0, 0),
        ('OpenWrite', 0, 2, 0, 0),
        ('Halt', 0, 0, 0, 0))
    assert ops[2].live == [0, 1, 2]


def test_what_min_and_max_may_not_set_stays_live():
    ops = program(
        ('CollSeq', 3, 0, 0, 0),
        ('AggStep', 0, 1, 2, 1),
        ('If', 3, 4, 0, 0),
        ('Halt', 0, 0, 0, 0),
        ('Halt', 0, 0, 0, 0))
    ops[1].skip_register = 3
    liveness.annotate(ops)
    assert 3 in ops[1].live
