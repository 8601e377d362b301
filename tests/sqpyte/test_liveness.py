"""Liveness of registers: what is written back before C goes on."""
import pytest

from c_engine.generated import opcodes
from sqpyte import interp, liveness  # noqa: F401  (interp fills the table)
from sqpyte.optable import Span
from sqpyte.program import Op
from tests.sqpyte.ops import made


def program(*ops):
    decoded = made(ops)
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


def test_a_subroutine_that_is_fallen_into_returns_where_an_integer_says():
    ops = program(
        ('Gosub', 1, 3, 0, 0),
        ('Halt', 0, 0, 0, 0),
        ('Integer', 4, 1, 0, 0),
        ('Noop', 0, 0, 0, 0),
        ('Return', 1, 0, 0, 0),
        ('SCopy', 5, 6, 0, 0),
        ('Halt', 0, 0, 0, 0))
    assert 5 in ops[2].live and 5 in ops[4].live


def test_a_trigger_program_may_read_all_registers_from_its_first_on():
    ops = program(
        ('Integer', 1, 1, 0, 0),
        ('Integer', 2, 2, 0, 0),
        ('Integer', 3, 70, 0, 0),
        ('Program', 2, 0, 5, 0),
        ('Halt', 0, 0, 0, 0))
    assert ops[3].live == list(range(2, 71))


def test_an_undeclared_opcode_reads_everything():
    ops = program(
        ('Integer', 1, 1, 0, 0),
        ('Integer', 2, 2, 0, 0),
        ('OpenWrite', 0, 2, 0, 0),
        ('Halt', 0, 0, 0, 0))
    ops[2].opcode = len(opcodes.NAMES)
    opcodes.PROPERTIES.append(0)
    try:
        liveness.annotate(ops)
    finally:
        opcodes.PROPERTIES.pop()
    assert ops[2].live == [0, 1, 2]


def test_a_register_written_only_on_one_way_stays_live():
    ops = program(
        ('RowSetRead', 1, 2, 3, 0),
        ('Halt', 0, 0, 0, 0),
        ('Halt', 0, 0, 3, 0))
    assert ops[0].live == [1, 3]


@pytest.mark.parametrize('text,registers', [
    ('P1', [10]), ('P1+1', [10, 11]), ('P2@P5', [20, 21, 22]), ('P1+P5', [10, 11, 12, 13]),
    ('P2..P3', [20, 21, 22, 23]), ('P3..', [23, 24, 25]), ('P3@P4', []), ('P3VALUE', []),
    ('ARGUMENTS', [20, 21]), ('P3+2', [23, 24, 25]), ('RECORD', [])])
def test_notation_of_registers(text, registers):
    op = Op(opcodes.OP_Noop, 10, 20, 23, 3)
    op.arguments = 2
    assert liveness.registers_of(op, [Span(text)], 25) == registers


def test_registers_beyond_a_word():
    last = 3 * liveness.BITS
    ops = program(
        ('Null', 0, 1, last, 0),
        ('ResultRow', 1, last, 0, 0),
        ('Copy', 1, 2, last - 2, 0),
        ('Halt', 0, 0, last, 0))
    assert ops[0].live == []
    assert ops[1].live == list(range(1, last + 1))
    assert ops[2].live == list(range(1, last))
    assert ops[2].live_after == [last]


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


def test_a_call_needs_what_its_own_return_leads_to():
    ops = program(
        ('Gosub', 1, 5, 0, 0),
        ('SCopy', 7, 8, 0, 0),          # behind the first call r7 is read,
        ('Gosub', 1, 5, 0, 0),
        ('SCopy', 9, 8, 0, 0),          # behind the second one r9
        ('Halt', 0, 0, 0, 0),
        ('SCopy', 6, 10, 0, 0),
        ('Return', 1, 0, 0, 0))
    assert ops[0].live == [6, 7, 9]     # the subroutine reads r6
    assert ops[2].live == [6, 9]
    assert ops[5].live == [1, 6, 7, 9]  # which knows only that one of both called it
    assert ops[2].dead == [7]
    assert ops[0].dead == []
    assert ops[0].live_after == ops[5].live


def test_a_call_within_a_subroutine():
    ops = program(
        ('Gosub', 1, 3, 0, 0),
        ('SCopy', 5, 6, 0, 0),
        ('Halt', 0, 0, 0, 0),
        ('Gosub', 2, 6, 0, 0),          # the subroutine calls another one,
        ('SCopy', 7, 8, 0, 0),
        ('Return', 1, 0, 0, 0),
        ('If', 9, 8, 0, 0),             # which may jump to the first one's end
        ('Return', 2, 0, 0, 0),
        ('SCopy', 10, 11, 0, 0),
        ('Return', 1, 0, 0, 0))
    assert ops[0].live == [5, 7, 9, 10]
    assert ops[3].live == [1, 5, 7, 9, 10]


def test_a_return_address_that_others_write_is_not_summarised():
    ops = program(
        ('Gosub', 1, 3, 0, 0),
        ('SCopy', 5, 6, 0, 0),
        ('Halt', 0, 0, 0, 0),
        ('If', 9, 5, 0, 0),
        ('Integer', 6, 1, 0, 0),
        ('Return', 1, 0, 0, 0),
        ('Noop', 0, 0, 0, 0),
        ('SCopy', 7, 8, 0, 0),
        ('Halt', 0, 0, 0, 0))
    assert ops[0].live == [5, 7, 9]
