"""What a loop's head has: registers loaded, leaf pages and rows known, offsets of columns kept."""
from c_engine.generated import opcodes
from sqpyte.vm import interp  # noqa: F401  (interp fills the table)
from sqpyte.vm.program import column_slots, liveness, loop_heads  # noqa: F401  (interp fills the table)
from tests.sqpyte.ops import made


def program(*ops):
    decoded = made(ops)
    for op in decoded:
        op.loop = op.opcode in (opcodes.OP_Next, opcodes.OP_Goto)
    ncursors = liveness.annotate(decoded)[1]
    slots, count = column_slots.annotate_columns(decoded, ncursors)
    loop_heads.annotate_loops(decoded, slots)
    return decoded, count


JOIN = (
    ('Rewind', 0, 9, 0, 0),
    ('Column', 0, 3, 1, 0),         # 1: head of the outer loop
    ('SeekRowid', 1, 8, 1, 0),
    ('Rewind', 2, 8, 0, 0),
    ('Column', 0, 1, 2, 0),         # 4: head of the inner loop
    ('Add', 2, 5, 3, 0),            # r3 = r2 + r5
    ('Column', 1, 0, 4, 0),
    ('Next', 2, 4, 0, 0),
    ('Next', 0, 1, 0, 0),
    ('Halt', 0, 0, 0, 0))


def test_registers_that_the_loop_only_reads_are_loaded():
    ops, _ = program(*JOIN)
    assert ops[1].loads == [5]
    assert ops[4].loads == [5]
    assert ops[2].loads == []       # no head


def test_what_is_known_of_cursors():
    ops, _ = program(*JOIN)
    assert (ops[1].stepped, ops[1].kept, ops[1].dropped) == ([0], [], [1, 2])
    assert (ops[4].stepped, ops[4].kept, ops[4].dropped) == ([2], [0, 1], [])


def test_columns_that_are_read_have_slots():
    ops, slots = program(*JOIN)
    assert slots == 3               # columns 1 and 3 of cursor 0, column 0 of cursor 1
    assert ops[1].slots == ops[4].slots
    assert [slot >= 0 for slot in ops[1].slots] == [False, True, False, True]
    assert len(set(ops[1].slots + ops[6].slots) - {column_slots.NO_SLOT}) == 3
    assert set(ops[1].cleared) >= set(ops[1].slots) - {column_slots.NO_SLOT}


def test_accumulators_and_filters_stay_in_their_mems():
    ops, _ = program(
        ('Rewind', 0, 5, 0, 0),
        ('Column', 0, 0, 1, 0),
        ('Filter', 7, 4, 1, 0),
        ('AggStep', 0, 1, 8, 1),
        ('Next', 0, 1, 0, 0),
        ('AggFinal', 8, 1, 0, 0),
        ('Halt', 0, 0, 0, 0))
    assert ops[1].loads == []
    assert 7 in ops[1].live and 8 in ops[1].live
