"""The inliner's sets of opcodes, all from the declarations: sqpyte/vm/opcodes/table.py says what the words mean."""

from c_engine.generated import opcodes
from sqpyte.vm.opcodes.every import TABLE
from sqpyte.vm.opcodes.table import numbers
from sqpyte.vm.values.compare import OTHER

FUNCTIONS = numbers('function')
AGGREGATE_STEPS = numbers('aggregate-step')
RESULTS = numbers('aggregate-result')
CALLS = FUNCTIONS | AGGREGATE_STEPS | numbers('aggregate-inverse')

COMPARISONS = numbers('comparison')
ARITHMETIC = numbers('arithmetic')
LOGIC = numbers('logic')
COPIES = numbers('copy')
CONDITIONS = numbers('condition')
COUNTERS = numbers('counter')
NOTHING = numbers('nothing')

# Python is made of these; of these, what may jump to P2.
EMITTED = numbers('emitted')
JUMPS = frozenset(number for number in EMITTED if number in TABLE and TABLE[number].to_p2)
# Done in C, one at a time, where a loop calls user code: else the whole loop is better off there.
IN_C_ONE = FUNCTIONS | AGGREGATE_STEPS | numbers('computes')

# What running an opcode ahead may change; what has none of these words is never run ahead.
REGISTERS, CALL = numbers('registers'), numbers('call')
READS = numbers('read')
CHANGES, CHANGES_REGISTERS = numbers('own'), numbers('own-set')
MEMO = numbers('memo')
CURSORS = READS | CHANGES
# All that is done with DISTINCT's index.
DISTINCT = numbers('distinct')
# Eager opcodes that a slice may hold; the last opcodes of its loops; and of all loops over rows.
AGAIN = numbers('again')
ENDS = numbers('step-btree', 'step-sorter')
LOOP_ENDS = ENDS | numbers('step-virtual')
# What C may do behind a slice.
STORES, SINK = numbers('store'), numbers('sink')
# Opcodes of a coroutine that go on where the other side has stopped.
COROUTINE = numbers('coroutine')


def is_emitted(op):
    """Whether Python is made of an opcode (Op): not of a CollSeq that is for an aggregate or has a collation of the
    program's, a Null that marks a group, a String that may be a blob."""
    return op.opcode in EMITTED and not (
        op.opcode == opcodes.OP_CollSeq and (op.p1 or op.collation == OTHER)
        or op.opcode == opcodes.OP_Null and op.p1 or op.opcode == opcodes.OP_String and op.p3)
