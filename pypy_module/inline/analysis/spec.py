"""The spec of a call log, as C reads it (c_engine/rows/call_log.h): which opcodes are watched, and how."""

from c_engine.generated import opcodes
from pypy_module.ffi.library import NUMBERS, address_of, ffi

KINDS = {name: NUMBERS['SQPYTE_KIND_' + name]
         for name in ('STOP', 'ONCE', 'KEY', 'DELETE', 'RESET', 'ROW', 'CALL', 'NULL', 'SKIP')}
BEGIN, END = NUMBERS['SQPYTE_FLAG_BEGIN'], NUMBERS['SQPYTE_FLAG_END']
LISTS = NUMBERS['SQPYTE_AHEAD_LISTS']

# What else than a stop is looked at, though it isn't deferred.
_NOTICED = {opcodes.OP_Once: KINDS['ONCE'], opcodes.OP_IdxInsert: KINDS['KEY']}


def entry(kind, registers=(), number=0, flags=0):
    """An entry: what is done at an opcode (list of int).

    Args:
        kind: a key of KINDS.
        registers: those whose values are noted.
        number: in a numbered log, the event's.
        flags: BEGIN, END, added up.
    """
    return [KINDS[kind] | flags, number, len(registers), *registers]


class Spec:
    """A spec in memory.

    Attributes:
        address: for C (int); the memory lives as long as this object.
    """

    def __init__(self, ops, reversible, checkpoint, stopped, noticed, entries, pc=0, inserts=(), stride=0, sink=()):
        """Make it.

        Args:
            ops: the program's opcodes (list of Op).
            reversible: whether what is run ahead is to be rolled back (bool).
            checkpoint: registers and cursors that are noted for that (two lists of int).
            stopped: pcs before which C stops; noticed: pcs of Once and IdxInsert (collections of int).
            entries: by the pc of an opcode that is deferred, or deletes, its entry (dict).
            pc: of a row batch, where it begins.
            inserts: cursors that rows are inserted through.
            stride: words of a record, 0 in a numbered log.
            sink: words of a sink's part.
        """
        watched = {other: entry('STOP') for other in stopped}
        watched.update((other, [_NOTICED[ops[other].opcode], 0, 0]) for other in noticed)
        watched.update(entries)
        first, last = min(watched), max(watched)
        registers, cursors = checkpoint
        lists = [*registers, *cursors, *inserts]
        table = [0] * (last - first + 1)
        begin = LISTS + len(lists) + len(table)
        found: list = []
        for other, one in sorted(watched.items()):
            table[other - first] = begin + len(found)
            found += one
        head = [pc, reversible, len(registers), len(cursors), len(inserts), first, last, stride,
                begin + len(found) if sink else 0]
        self.words = ffi.new('int64_t[]', [*head, *lists, *table, *found, *sink])
        self.address = address_of(self.words)
