"""Opcodes that compute: constants, copies, arithmetic, affinity, comparisons."""
from c_engine.generated.layout import (
    MEM_Agg, MEM_FromBind, Mem_flags, SQLITE_AFF_NUMERIC, SQLITE_AFF_REAL, SQLITE_AFF_TEXT, SQLITE_JUMPIFNULL,
    SQLITE_LIMIT_LENGTH, VdbeFrame_aMem, VdbeFrame_aOp, VdbeFrame_pc, VdbeOp_opcode, VdbeOp_p1, Vdbe_aVar,
    Vdbe_pFrame, sizeof_Mem, sizeof_VdbeOp, sqlite3_aLimit)
from c_engine.generated.opcodes import OP_String
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, declare, opcode
from sqpyte.vm.values import arith, values
from sqpyte.vm.values.compare import UNDECIDED, NULL_RESULT, OTHER, compare, compare_operands, in_sort_order
from sqpyte.vm.values.convert import AS_OPERAND, AS_REAL, number_of
from sqpyte.vm.values.values import NULL, W_Bytes, W_Int, W_Null, W_Real, W_Text


@opcode('Integer', writes='P2', moves='', kind='registers emitted again sink')
def op_integer(frame, op, pc):
    """r[P2] = P1."""
    frame.write(op.p2, op.w_p4)
    return pc + 1


@opcode('Int64', writes='P2', moves='', kind='registers emitted again sink')
def op_int64(frame, op, pc):
    """r[P2] = the 64-bit integer of which P1 is the lower half and P3 the upper."""
    frame.write(op.p2, op.w_p4)
    return pc + 1


@opcode('Real', writes='P2', moves='', kind='registers emitted again sink')
def op_real(frame, op, pc):
    """r[P2] = the double whose bits are P1 (lower half) and P3 (upper half)."""
    frame.write(op.p2, op.w_p4)
    return pc + 1


@opcode('String', writes='P2', moves='', kind='registers emitted again sink')
def op_string(frame, op, pc):
    """r[P2] = the text P4 of P1 bytes; a blob if P3 is given and r[P3] is the integer P5. Coded
    as String8, which its first run in C measures and changes to String."""
    if op.p3 != 0 or mem.u8(frame.ops + pc * sizeof_VdbeOp, VdbeOp_opcode) != OP_String:
        return BAIL_OUT
    frame.write(op.p2, op.w_p4)
    return pc + 1


@opcode('Null', writes='P2 P2..P3', moves='', kind='registers emitted again sink')
@unroll_safe
def op_null(frame, op, pc):
    """r[P2..P3] = NULL; with P1 a NULL that doesn't equal NULL even with SQLITE_NULLEQ. C ends the accumulators of
    which nobody has asked the result."""
    if op.p1 or (op.ends_accumulators and _any_unfinished(frame, op)):
        return BAIL_OUT
    frame.write(op.p2, NULL)
    r = op.p2 + 1
    while r <= op.p3:
        frame.write(r, NULL)
        r += 1
    return pc + 1


@unroll_safe
def _any_unfinished(frame, op):
    """Whether one of r[P2..P3] has an aggregate's context."""
    r = op.p2
    while r == op.p2 or r <= op.p3:
        if frame.is_in_mem(r) and mem.u16(frame.mem_address(r), Mem_flags) & MEM_Agg:
            return True
        r += 1
    return False


@opcode('BeginSubrtn', writes='P2 P2..P3', moves='', kind='registers')
def op_begin_subrtn(frame, op, pc):
    """r[P2] = NULL: the subroutine that begins here may also be entered by falling into it."""
    return op_null(frame, op, pc)


@opcode('Variable', writes='P2', moves='', kind='registers emitted again')
def op_variable(frame, op, pc):
    """r[P2] = the bound parameter P1."""
    w = frame.load(mem.i64(frame.vdbe, Vdbe_aVar) + (op.p1 - 1) * sizeof_Mem, values.CONSTANT)
    if w is None or (isinstance(w, W_Bytes) and w.size > mem.i32(
            frame.db + sqlite3_aLimit + 4 * SQLITE_LIMIT_LENGTH)):
        return BAIL_OUT
    frame.write(op.p2, w)
    return pc + 1


@opcode('Param', writes='P2', moves='')
def op_param(frame, op, pc):
    """In a trigger's program: r[P2] = register P1 of its row in the calling program, which waits."""
    caller = mem.i64(frame.vdbe, Vdbe_pFrame)
    calling = mem.i64(caller, VdbeFrame_aOp) + mem.i32(caller, VdbeFrame_pc) * sizeof_VdbeOp
    address = mem.i64(caller, VdbeFrame_aMem) + (op.p1 + mem.i32(calling, VdbeOp_p1)) * sizeof_Mem
    if mem.u16(address, Mem_flags) & MEM_FromBind:
        return BAIL_OUT                 # the mark goes with it: bound.py
    w = frame.load(address, values.CONSTANT)
    if w is None:
        return BAIL_OUT
    frame.write(op.p2, w)
    return pc + 1


@opcode('Copy', reads='P1+P3', writes='P2+P3', moves='', kind='registers copy emitted again sink')
@unroll_safe
def op_copy(frame, op, pc):
    """r[P2..P2+P3] = r[P1..P1+P3], deep."""
    i = 0
    while i <= op.p3:
        if frame.read(op.p1 + i) is None:
            return BAIL_OUT
        i += 1
    i = 0
    while i <= op.p3:
        frame.write(op.p2 + i, frame.read(op.p1 + i))
        i += 1
    return pc + 1


@opcode('SCopy', reads='P1', writes='P2', moves='', kind='registers copy emitted again sink')
def op_scopy(frame, op, pc):
    """r[P2] = r[P1]."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    frame.write(op.p2, w)
    return pc + 1


@opcode('Move', reads='P1@P3', writes='P2@P3 P1@P3', moves='', kind='registers copy emitted sink')
@unroll_safe
def op_move(frame, op, pc):
    """r[P2@P3] = r[P1@P3]; r[P1@P3] = NULL."""
    i = 0
    while i < op.p3:
        if frame.read(op.p1 + i) is None:
            return BAIL_OUT
        i += 1
    i = 0
    while i < op.p3:
        frame.write(op.p2 + i, frame.read(op.p1 + i))
        frame.write(op.p1 + i, NULL)
        i += 1
    return pc + 1


def operand(w):
    """w as an operand of arithmetic: a text or blob is the number that it begins with."""
    if isinstance(w, W_Bytes):
        return number_of(w, AS_OPERAND)
    return w


def beside_real(w, number, other):
    """The number of w, as an operand beside `other`: a text that is an integer is read as a real beside one, and
    '-0' is then -0.0."""
    if isinstance(other, W_Real) and isinstance(number, W_Int) and number.intval == 0 and isinstance(w, W_Bytes):
        return number_of(w, AS_REAL)
    return number


def _binary(name, function, contract, texts=True):
    def handler(frame, op, pc):
        w1 = frame.read(op.p1)
        w2 = frame.read(op.p2)
        if w1 is None or w2 is None:
            return BAIL_OUT
        if isinstance(w1, W_Bytes) or isinstance(w2, W_Bytes):
            if not texts:
                return BAIL_OUT
            n1 = operand(w1)
            n2 = operand(w2)
            w1, w2 = beside_real(w1, n1, n2), beside_real(w2, n2, n1)
        w = function(w1, w2)
        if w is None:
            return BAIL_OUT
        frame.write(op.p3, w)
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, reads='P1 P2', writes='P3', moves='', kind='registers arithmetic emitted again sink')


_binary('Add', arith.add, "r[P3] = r[P1] + r[P2].")
_binary('Subtract', arith.subtract, "r[P3] = r[P2] - r[P1].")
_binary('Multiply', arith.multiply, "r[P3] = r[P1] * r[P2].")
_binary('Divide', arith.divide, "r[P3] = r[P2] / r[P1]; NULL if r[P1] is zero.")
# Upstream takes the integer of a text here, not that of its number: 1 of '1e3'.
_binary('Remainder', arith.remainder, "r[P3] = r[P2] % r[P1]; NULL if r[P1] is zero.", False)


@opcode('Concat', reads='P1 P2', writes='P3', moves='', kind='registers computes again sink')
def op_concat(frame, op, pc):
    """r[P3] = r[P2] || r[P1]: texts or blobs give a text, NULL gives NULL; numbers are
    turned into texts by C."""
    w1 = frame.read(op.p1)
    w2 = frame.read(op.p2)
    if w1 is None or w2 is None:
        return BAIL_OUT
    if isinstance(w1, W_Null) or isinstance(w2, W_Null):
        frame.write(op.p3, NULL)
        return pc + 1
    if not (isinstance(w1, W_Bytes) and isinstance(w2, W_Bytes)):
        return BAIL_OUT
    frame.release_views_of(op.p3, op.live_after)
    rc = capi.concat(frame.mem_address(op.p3), w2.address, w2.size, w1.address, w1.size)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    frame.write_in_mem(op.p3)
    return pc + 1


@opcode('RealAffinity', reads='P1', writes='P1', moves='', kind='registers emitted again sink')
def op_real_affinity(frame, op, pc):
    """An integer in r[P1] becomes a real."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Int):
        frame.write(op.p1, W_Real(float(w.intval)))
    return pc + 1


def affinity_is_trivial(w, affinity):
    """Whether applying the affinity (a character) leaves w as it is, or makes an integer real."""
    if isinstance(w, W_Null):
        return True
    if affinity >= SQLITE_AFF_NUMERIC:      # or INTEGER, REAL, FLEXNUM
        if isinstance(w, W_Int):
            return True
        if isinstance(w, W_Real):
            return affinity == SQLITE_AFF_REAL
        return not isinstance(w, W_Text)
    if affinity == SQLITE_AFF_TEXT:
        return isinstance(w, W_Bytes)
    return True                             # BLOB, NONE


def _comparison(name, holds, holds_for_ints, holds_for_reals, contract):
    def handler(frame, op, pc):
        w1 = frame.read(op.p1)
        w3 = frame.read(op.p3)
        if w1 is None or w3 is None:
            return BAIL_OUT
        if not op.ordered:          # one operation in a trace, where a three-way result takes four
            if isinstance(w3, W_Int) and isinstance(w1, W_Int):
                return op.p2 if holds_for_ints(w3.intval, w1.intval) else pc + 1
            if isinstance(w3, W_Real) and isinstance(w1, W_Real):
                return op.p2 if holds_for_reals(w3.floatval, w1.floatval) else pc + 1
        order = compare_operands(w3, w1, op.p5, op.collation)
        if order == UNDECIDED:
            return BAIL_OUT
        if order == NULL_RESULT:
            if op.p5 & SQLITE_JUMPIFNULL:
                return op.p2
            order = 1
        elif holds(order):
            frame.compare = order
            return op.p2
        frame.compare = order
        return pc + 1
    handler.__doc__ = contract + (
        " P5 holds the affinity for the comparison, SQLITE_NULLEQ (NULL equals NULL) and"
        " SQLITE_JUMPIFNULL (jump if an operand is NULL); P4 is the collation of texts.")
    declare(name, handler, reads='P1 P3', jumps='P2', moves='', kind='registers comparison emitted sink')


# Functions of their own for integers and reals: RPython would give one function of both only reals.
_comparison('Eq', lambda order: order == 0, lambda i, j: i == j, lambda r, s: r == s,
            "Jump to P2 if r[P3] == r[P1].")
_comparison('Ne', lambda order: order != 0, lambda i, j: i != j, lambda r, s: r != s,
            "Jump to P2 if r[P3] != r[P1].")
_comparison('Lt', lambda order: order < 0, lambda i, j: i < j, lambda r, s: r < s,
            "Jump to P2 if r[P3] < r[P1].")
_comparison('Le', lambda order: order <= 0, lambda i, j: i <= j, lambda r, s: r <= s,
            "Jump to P2 if r[P3] <= r[P1].")
_comparison('Gt', lambda order: order > 0, lambda i, j: i > j, lambda r, s: r > s,
            "Jump to P2 if r[P3] > r[P1].")
_comparison('Ge', lambda order: order >= 0, lambda i, j: i >= j, lambda r, s: r >= s,
            "Jump to P2 if r[P3] >= r[P1].")


@opcode('ElseEq', jumps='P2', moves='', kind='registers')
def op_else_eq(frame, op, pc):
    """Jump to P2 if the operands of the Lt or Gt before were equal."""
    if frame.compare == 0:
        return op.p2
    return pc + 1


@opcode('Compare', reads='P1@P3 P2@P3', moves='', kind='registers')
@unroll_safe
def op_compare(frame, op, pc):
    """Compare r[P1@P3] with r[P2@P3] by the KeyInfo P4, for the Jump that follows."""
    n = op.p3
    if op.sort_flags is None or n > len(op.collations):
        return BAIL_OUT
    i = 0
    while i < n:
        if op.collations[i] == OTHER:
            return BAIL_OUT
        if frame.read(op.p1 + i) is None or frame.read(op.p2 + i) is None:
            return BAIL_OUT
        i += 1
    i = 0
    order = 0
    while i < n:
        a = frame.read(op.p1 + i)
        b = frame.read(op.p2 + i)
        order = compare(a, b, op.collations[i])
        if order != 0:
            order = in_sort_order(order, a, b, op.sort_flags[i])
            break
        i += 1
    frame.compare = order
    return pc + 1


@opcode('Jump', jumps='P1 P2 P3', moves='', kind='registers')
def op_jump(frame, op, pc):
    """Jump to P1, P2 or P3 as the Compare before found less, equal or greater."""
    if frame.compare < 0:
        return op.p1
    if frame.compare == 0:
        return op.p2
    return op.p3
