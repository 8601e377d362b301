"""`python -m tests.effects.child OPCODE CHANGE`: statements in the checking build, one declaration wrong.

The declarations come from the VM's analysis (provider.py); CHANGE says what is wrong in those of
OPCODE, and `none` that nothing is. Rows are printed.
"""
import sys

from c_engine.generated import opcodes

from sqpyte.vm.program import liveness
from tests.differential.sessions import capi
from tests.effects import provider
from tools.effects import LIBRARY

STATEMENTS = [
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b REAL, c TEXT)",
    "CREATE INDEX i ON t(c)",
    "INSERT INTO t VALUES (1, 2, 'x'), (2, 3, 'y'), (3, 4, 'x'), (4, 9, NULL)",
    "CREATE TRIGGER r AFTER UPDATE ON t BEGIN INSERT INTO t(b, c) SELECT new.a + old.b, new.c; END",
    "UPDATE t SET c = 'z' WHERE a = 2",
    "SELECT c, sum(a + b), max(c || a) FROM t GROUP BY c ORDER BY 2",
    "SELECT t.a, u.b FROM t JOIN t AS u ON u.c = t.c WHERE t.a IN (1, 2, 7) ORDER BY u.b DESC",
    "SELECT a, (SELECT count(*) FROM t AS u WHERE u.a < t.a) FROM t WHERE a IS NOT 3 LIMIT 3",
    # A trigger's NewRowid and MemMax have a register of the main program.
    "CREATE TABLE n(a INTEGER PRIMARY KEY AUTOINCREMENT, b)",
    "CREATE TRIGGER q BEFORE INSERT ON n BEGIN INSERT INTO n(b) VALUES (new.b + 1); END",
    "INSERT INTO n(b) VALUES (1), (5)",
    "SELECT a, b FROM n",
]


def changed(opcode, change):
    """A `record` that says something wrong of an opcode (str)."""
    record = provider.record
    number = getattr(opcodes, 'OP_' + opcode)

    def wrong(ops, pc, highest, others):
        op = ops[pc]
        if op.opcode != number and change != 'live':
            return record(ops, pc, highest, others)
        declaration = liveness.declaration_of(op)
        kept = declaration.read_spans, declaration.write_spans, op.reads, op.writes, op.moves, op.live, op.p2
        if change == 'reads nothing':
            declaration.read_spans, op.reads = [], []
        elif change == 'writes nothing':
            declaration.write_spans, op.writes = [], []
        elif change == 'writes the last register':
            op.writes = op.writes + [highest]
        elif change == 'moves nothing':
            op.moves = []
        elif change == 'live':
            op.live = []
        elif change == 'jumps nowhere':
            op.p2 = pc + 1
        result = record(ops, pc, highest, others)
        declaration.read_spans, declaration.write_spans, op.reads, op.writes, op.moves, op.live, op.p2 = kept
        return result
    return wrong


def main(opcode, change):
    """Run STATEMENTS; print rows."""
    if change != 'none':
        provider.record = changed(opcode, change)
    provider.install(LIBRARY)
    connection = capi.Connection(capi.Library(LIBRARY))
    for text in STATEMENTS:
        print(connection.execute(text))
    print('programs', provider.programs[0])


if __name__ == '__main__':
    main(*sys.argv[1:])
