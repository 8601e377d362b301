"""Opcodes of three-valued logic and the jumps on it, and the counters of LIMIT and OFFSET."""
from sqpyte.vm.opcodes.table import BAIL_OUT, declare, opcode
from sqpyte.vm.values.arith import MIN_INT
from sqpyte.vm.values.compare import UNDECIDED, truth
from sqpyte.vm.values.values import NULL, W_Int, W_Null

_UNKNOWN = 2


@opcode('IsNull', reads='P1', jumps='P2', moves='', kind='registers condition emitted sink')
def op_is_null(frame, op, pc):
    """Jump to P2 if r[P1] is NULL."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Null):
        return op.p2
    return pc + 1


@opcode('NotNull', reads='P1', jumps='P2', moves='', kind='registers condition emitted sink')
def op_not_null(frame, op, pc):
    """Jump to P2 if r[P1] is not NULL."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Null):
        return pc + 1
    return op.p2


@opcode('If', reads='P1', jumps='P2', moves='', kind='registers condition emitted sink')
def op_if(frame, op, pc):
    """Jump to P2 if r[P1] is true; if it is NULL, jump if P3 is not zero."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    value = truth(w, op.p3)
    if value == UNDECIDED:
        return BAIL_OUT
    if value:
        return op.p2
    return pc + 1


@opcode('IfNot', reads='P1', jumps='P2', moves='', kind='registers condition emitted sink')
def op_if_not(frame, op, pc):
    """Jump to P2 if r[P1] is false; if it is NULL, jump if P3 is not zero."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    value = truth(w, int(op.p3 == 0))
    if value == UNDECIDED:
        return BAIL_OUT
    if value:
        return pc + 1
    return op.p2


@opcode('IfPos', reads='P1', writes='P1', jumps='P2', moves='', kind='registers counter emitted sink')
def op_if_pos(frame, op, pc):
    """If the integer r[P1] is above zero, subtract P3 from it and jump to P2."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    if w.intval > 0:
        frame.write(op.p1, W_Int(w.intval - op.p3))
        return op.p2
    return pc + 1


@opcode('IfNotZero', reads='P1', writes='P1', jumps='P2', moves='', kind='registers counter emitted sink')
def op_if_not_zero(frame, op, pc):
    """If the integer r[P1] isn't zero, decrement it if it is above zero, and jump to P2."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    if w.intval == 0:
        return pc + 1
    if w.intval > 0:
        frame.write(op.p1, W_Int(w.intval - 1))
    return op.p2


@opcode('DecrJumpZero', reads='P1', writes='P1', jumps='P2', moves='', kind='registers counter emitted sink')
def op_decr_jump_zero(frame, op, pc):
    """Decrement the integer r[P1] and jump to P2 if it is zero then."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    value = w.intval
    if value > MIN_INT:
        value -= 1
        frame.write(op.p1, W_Int(value))
    if value == 0:
        return op.p2
    return pc + 1


def _logic(name, table, contract):
    def handler(frame, op, pc):
        w1 = frame.read(op.p1)
        w2 = frame.read(op.p2)
        if w1 is None or w2 is None:
            return BAIL_OUT
        left = truth(w1, _UNKNOWN)
        right = truth(w2, _UNKNOWN)
        if left == UNDECIDED or right == UNDECIDED:
            return BAIL_OUT
        result = table(left, right)
        frame.write(op.p3, NULL if result == _UNKNOWN else W_Int(result))
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, reads='P1 P2', writes='P3', moves='', kind='registers logic emitted again sink')


def _and(left, right):
    if left == 0 or right == 0:
        return 0
    return max(left, right)         # unknown is above true


def _or(left, right):
    if left == 1 or right == 1:
        return 1
    return max(left, right)         # unknown is above false


_logic('And', _and, "r[P3] = r[P1] AND r[P2], in three-valued logic.")
_logic('Or', _or, "r[P3] = r[P1] OR r[P2], in three-valued logic.")


@opcode('Not', reads='P1', writes='P2', moves='', kind='registers logic emitted again sink')
def op_not(frame, op, pc):
    """r[P2] = NOT r[P1]; NULL for NULL."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    value = truth(w, _UNKNOWN)
    if value == UNDECIDED:
        return BAIL_OUT
    frame.write(op.p2, NULL if value == _UNKNOWN else W_Int(1 - value))
    return pc + 1


@opcode('ZeroOrNull', reads='P1 P2 P3', writes='P2', moves='', kind='registers computes again sink')
def op_zero_or_null(frame, op, pc):
    """r[P2] = NULL if r[P1] or r[P3] is NULL, else 0."""
    w1 = frame.read(op.p1)
    w3 = frame.read(op.p3)
    if w1 is None or w3 is None:
        return BAIL_OUT
    if isinstance(w1, W_Null) or isinstance(w3, W_Null):
        frame.write(op.p2, NULL)
    else:
        frame.write(op.p2, W_Int(0))
    return pc + 1
