"""Liveness of registers: what is written back before C goes on."""
import pytest

from c_engine.generated import opcodes
from sqpyte.vm import interp  # noqa: F401  (interp fills the table)
from sqpyte.vm.opcodes.table import Span
from sqpyte.vm.program import liveness  # noqa: F401  (interp fills the table)
from sqpyte.vm.program.decode import Op
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


@pytest.mark.parametrize('first', [0, -1, -70])
def test_a_trigger_programs_row_may_begin_before_the_first_register(first):
    ops = program(
        ('Integer', 1, 1, 0, 0),
        ('Integer', 2, 2, 0, 0),
        ('Integer', 3, 70, 0, 0),
        ('Program', first, 0, 5, 0),
        ('Halt', 0, 0, 0, 0))
    assert ops[3].live == list(range(1, 71))
    assert ops[1].live == [r for r in range(1, 71) if r not in (2, 70)]


def test_a_step_by_step_seek_reads_the_key_of_the_seek_behind_it_and_jumps_where_that_does():
    ops = made([
        ('SeekScan', 10, 3, 0, 0),
        ('SeekGE', 0, 5, 7, 0),
        ('IdxGT', 0, 5, 7, 0),
        ('SCopy', 1, 2, 0, 0),
        ('Halt', 0, 0, 0, 0),
        ('SCopy', 4, 2, 0, 0),
        ('Halt', 0, 0, 0, 0)])
    ops[1].p4 = ops[2].p4 = 2
    liveness.annotate(ops)
    assert ops[0].reads == [7, 8]
    assert ops[0].live == [1, 4, 7, 8]
    assert sorted(liveness.successors(ops, 0)) == [1, 3, 5]


def coroutine_of(rows):
    """The Ops of VALUES with so many rows, and of a loop over them."""
    ops = [('InitCoroutine', 1, 2 * rows + 2, 1, 0)]
    for i in range(rows):
        ops += [('Integer', i, 2, 0, 0), ('Yield', 1, 0, 0, 0)]
    ops += [('EndCoroutine', 1, 0, 0, 0),
            ('Yield', 1, len(ops) + 4, 0, 0), ('AggStep', 0, 2, 3, 1), ('Goto', 0, len(ops) + 1, 0, 0),
            ('ResultRow', 3, 1, 0, 0), ('Halt', 0, 0, 0, 0)]
    return made(ops)


def subroutines(count):
    """The Ops of so many subroutines with return addresses of their own, each called twice."""
    ops = []
    for i in range(count):
        ops += [('Gosub', 4 * i + 1, 6 * count + 4 * i + 1, 0, 0), ('SCopy', 4 * i + 2, 4 * i + 3, 0, 0)] * 3
    ops += [('Halt', 0, 0, 0, 0)]
    for i in range(count):
        ops += [('If', 4 * i + 4, len(ops) + 2, 0, 0), ('Integer', 1, 4 * i + 2, 0, 0),
                ('Noop', 0, 0, 0, 0), ('Return', 4 * i + 1, 0, 0, 0)]
    return made(ops)


def effort(ops):
    """Words of sets that the analysis has looked at, for each opcode and word of a set."""
    before = liveness.effort.words
    registers, _ = liveness.annotate(ops)
    return (liveness.effort.words - before) / len(ops) / ((registers - 1) // liveness.BITS + 1)


def test_the_work_for_a_coroutine_grows_as_its_rows_do():
    assert effort(coroutine_of(4000)) < 1.5 * effort(coroutine_of(250)) < 50


def test_the_work_for_subroutines_is_limited_and_every_call_keeps_what_it_needs():
    few, many = subroutines(20), subroutines(500)
    for ops, count in (few, 20), (many, 500):
        before = liveness.effort.words
        liveness.annotate(ops)
        assert liveness.effort.words - before < 2 * liveness.MOST_FOR_CALLS
        for i in range(count):
            for call in range(6 * i, 6 * i + 6, 2):
                assert ops[call].live[:2] == [4 * i + 2, 4 * i + 4]     # read behind it and by what it calls


def test_a_coroutines_switches_lead_wherever_it_may_stand():
    ops = coroutine_of(3)
    end = len(ops) - 2
    assert sorted(liveness.successors(ops, 2)) == [1, 3, 5, 7, 7, 9]
    assert liveness.successors(ops, 7) == [end]
    flow = liveness.Flow(ops)
    for pc in range(len(ops)):
        nodes = []
        for node in flow.after[pc]:
            nodes += [node] if node < flow.size else flow.after[node]
        assert sorted(nodes) == sorted(liveness.successors(ops, pc))
