"""Opcodes that convert values, and those that work on their integers or bits."""
from c_engine.generated.layout import (
    MEM_Blob, MEM_Str, MEM_Subtype, Mem_eSubtype, Mem_flags, SQLITE_AFF_BLOB, SQLITE_AFF_REAL,
    SQLITE_LIMIT_LENGTH, SQLITE_MISMATCH, VdbeOp_p4, sizeof_VdbeOp, sqlite3_aLimit)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.jit import promote, unroll_safe
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, LEAVE, declare, opcode
from sqpyte.vm.values import convert
from sqpyte.vm.values.arith import INT_LIMIT, intmask, is_number, ovfcheck, shift_left
from sqpyte.vm.values.compare import UNDECIDED, truth
from sqpyte.vm.values.values import (
    CONSTANT, NULL, W_Blob, W_Int, W_Null, W_Real, W_Text, blob_at)


def number_to_text(frame, r, live):
    """The number in register r becomes a text in its Mem. Returns 0 or a result code."""
    frame.release_views_of(r, live)
    rc = frame.write_back_one(r)
    if rc == 0:
        rc = capi.number_to_text(frame.mem_address(r))
        frame.write_in_mem(r)
    return rc


@opcode('Affinity', reads='P1@P2', writes='P1@P2', moves='', kind='registers emitted again sink affinities')
@unroll_safe
def op_affinity(frame, op, pc):
    """The affinities of the string P4 are applied to r[P1@P2]."""
    i = 0
    while i < op.p2:
        if frame.read(op.p1 + i) is None:
            return BAIL_OUT
        i += 1
    i = 0
    while i < op.p2:
        rc = convert_register(frame, op.p1 + i, ord(op.text_p4[i]), op.live)
        if rc == LEFT_TO_C:
            return BAIL_OUT
        if rc != 0:
            capi.fail(frame.vdbe, pc, rc)
            return FAILED
        i += 1
    return pc + 1


LEFT_TO_C = -1      # C does the whole opcode: an affinity can be applied twice


def convert_register(frame, r, affinity, live):
    """Apply an affinity (a character, as int) to register r, whose value can be read. Returns 0,
    a result code, or LEFT_TO_C."""
    value = frame.read(r)
    w = convert.with_affinity(value, affinity)
    if w is None:
        if isinstance(value, W_Text):
            return LEFT_TO_C
        return number_to_text(frame, r, live)
    if affinity == SQLITE_AFF_REAL and isinstance(w, W_Int):
        w = W_Real(float(w.intval))
    frame.write(r, w)
    return 0


@opcode('Cast', reads='P1', writes='P1', moves='', kind='registers computes again sink')
def op_cast(frame, op, pc):
    """r[P1] as CAST to the type with the affinity P2 makes it; NULL remains."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    result = convert.cast(w, op.p2)
    if result is not None:
        frame.write(op.p1, result)
        return pc + 1
    if not is_number(w):
        return BAIL_OUT
    rc = number_to_text(frame, op.p1, op.live)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    if op.p2 == SQLITE_AFF_BLOB:
        address = frame.mem_address(op.p1) + Mem_flags
        mem.set_u16(address, 0, mem.u16(address) & ~MEM_Str | MEM_Blob)
    return pc + 1


@opcode('MustBeInt', reads='P1', writes='P1', jumps='P2', moves='', kind='registers')
def op_must_be_int(frame, op, pc):
    """r[P1] becomes an integer; if it can't without loss jump to P2, or with P2 zero fail with
    SQLITE_MISMATCH."""
    w = frame.read(op.p1)
    if isinstance(w, W_Int):
        return pc + 1
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Text):
        number = convert.number_of(w, convert.AS_NUMERIC)
        if isinstance(number, W_Int):
            frame.write(op.p1, number)
            return pc + 1
        return BAIL_OUT                    # a register may keep a real
    if isinstance(w, W_Real):
        r = w.floatval
        if -INT_LIMIT <= r <= INT_LIMIT and float(int(r)) == r:
            frame.write(op.p1, W_Int(int(r)))
            return pc + 1
        return BAIL_OUT
    if op.p2 == 0:
        capi.fail(frame.vdbe, pc, SQLITE_MISMATCH)
        return FAILED
    return op.p2


def _bitwise(name, function, contract, kind='registers computes again'):
    def handler(frame, op, pc):
        w1 = frame.read(op.p1)
        w2 = frame.read(op.p2)
        if w1 is None or w2 is None:
            return BAIL_OUT
        if isinstance(w1, W_Null) or isinstance(w2, W_Null):
            frame.write(op.p3, NULL)
            return pc + 1
        right = convert.int_value(w1)
        left = convert.int_value(w2)
        if not (isinstance(left, W_Int) and isinstance(right, W_Int)):
            return BAIL_OUT
        frame.write(op.p3, W_Int(function(left.intval, right.intval)))
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, reads='P1 P2', writes='P3', moves='', kind=kind)


def _shifted(value, left):
    """value shifted by `left` bits to the left, or to the right if that is negative."""
    if left >= 64:
        return 0
    if left <= -64:
        return -1 if value < 0 else 0
    if left < 0:
        return value >> -left
    return shift_left(value, left)


def _shift_right(value, count):
    if count < -64:
        count = -64
    return _shifted(value, -count)


_bitwise('BitAnd', lambda a, b: a & b, "r[P3] = r[P2] & r[P1], of their integers.",
         kind='registers computes again sink')
_bitwise('BitOr', lambda a, b: a | b, "r[P3] = r[P2] | r[P1], of their integers.",
         kind='registers computes again sink')
_bitwise('ShiftLeft', _shifted,
         "r[P3] = r[P2] << r[P1], of their integers; a negative r[P1] shifts to the right.")
_bitwise('ShiftRight', _shift_right,
         "r[P3] = r[P2] >> r[P1], of their integers, with sign; a negative r[P1] shifts to the"
         " left.")


@opcode('BitNot', reads='P1', writes='P2', moves='', kind='registers computes again sink')
def op_bit_not(frame, op, pc):
    """r[P2] = ~r[P1], of its integer; NULL for NULL."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Null):
        frame.write(op.p2, NULL)
        return pc + 1
    value = convert.int_value(w)
    if not isinstance(value, W_Int):
        return BAIL_OUT
    frame.write(op.p2, W_Int(~value.intval))
    return pc + 1


@opcode('AddImm', reads='P1', writes='P1', moves='', kind='registers')
def op_add_imm(frame, op, pc):
    """r[P1] = the integer of r[P1] plus P2, in 64 bits."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    value = convert.int_value(w)
    if not isinstance(value, W_Int):
        return BAIL_OUT
    frame.write(op.p1, W_Int(intmask(value.intval + op.p2)))
    return pc + 1


@opcode('MemMax', reads='P1 P2', writes='P1', moves='', kind='registers')
def op_mem_max(frame, op, pc):
    """r[P1] = the greater of the integers r[P1] and r[P2]. In a trigger's program r[P1] is the main
    program's."""
    if op.p1 == 0:
        return BAIL_OUT                 # as decode.py has it then
    w1 = frame.read(op.p1)
    w2 = frame.read(op.p2)
    if not (isinstance(w1, W_Int) and isinstance(w2, W_Int)):
        return BAIL_OUT
    if w1.intval < w2.intval:
        frame.write(op.p1, w2)
    return pc + 1


@opcode('OffsetLimit', reads='P1 P3', writes='P2', moves='', kind='registers')
def op_offset_limit(frame, op, pc):
    """r[P2] = LIMIT r[P1] plus OFFSET r[P3] if that is above zero; -1 for no limit."""
    w1 = frame.read(op.p1)
    w3 = frame.read(op.p3)
    if not (isinstance(w1, W_Int) and isinstance(w3, W_Int)):
        return BAIL_OUT
    total = w1.intval
    if total <= 0:
        total = -1
    elif w3.intval > 0:
        try:
            total = ovfcheck(total + w3.intval)
        except OverflowError:
            total = -1
    frame.write(op.p2, W_Int(total))
    return pc + 1


@opcode('IntCopy', reads='P1', writes='P2', moves='', kind='registers again')
def op_int_copy(frame, op, pc):
    """r[P2] = the integer r[P1]."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    frame.write(op.p2, w)
    return pc + 1


@opcode('SoftNull', reads='P1', writes='P1', moves='', kind='registers')
def op_soft_null(frame, op, pc):
    """r[P1] = NULL, with its memory kept: a copy of its text, made by SCopy, stays good."""
    frame.write(op.p1, NULL)
    return pc + 1


@opcode('Blob', writes='P2', moves='', kind='registers again')
def op_blob(frame, op, pc):
    """r[P2] = the blob P4 of P1 bytes, or P1 zero bytes if P4 is NULL."""
    address = mem.i64(frame.ops + pc * sizeof_VdbeOp, VdbeOp_p4)
    if address == 0 or op.p1 > mem.i32(frame.db + sqlite3_aLimit + 4 * SQLITE_LIMIT_LENGTH):
        return BAIL_OUT
    frame.write(op.p2, blob_at(address, op.p1, CONSTANT, promote(frame.encoding)))
    return pc + 1


@opcode('IsTrue', reads='P1', writes='P2', moves='', kind='registers computes again sink')
def op_is_true(frame, op, pc):
    """r[P2] = whether r[P1] is true (P3 for NULL), the other way round if P4 is 1."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    value = truth(w, op.p3)
    if value == UNDECIDED:
        return BAIL_OUT
    frame.write(op.p2, W_Int(value ^ op.p4))
    return pc + 1


@opcode('IsType', reads='P3VALUE', jumps='P2', moves='', kind='read')
def op_is_type(frame, op, pc):
    """Jump to P2 if the type of r[P3] (P1 is -1) or of column P3 of the row under cursor P1 is in
    the set P5: 1 integer, 2 real, 4 text, 8 blob, 16 NULL. A column that the record is too short
    to have is of the type P4. A program that asks for a column's type stays in C (sqpyteIndivisible)."""
    if op.p1 >= 0:
        return LEAVE
    w = frame.read(op.p3)
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Int):
        kind = 1
    elif isinstance(w, W_Real):
        kind = 2
    elif isinstance(w, W_Text):
        kind = 4
    elif isinstance(w, W_Blob):
        kind = 8
    else:
        kind = 16
    if op.p5 & kind:
        return op.p2
    return pc + 1


@opcode('HaltIfNull', reads='P3', moves='', kind='ends-step')
def op_halt_if_null(frame, op, pc):
    """If r[P3] is NULL, halt with the error P1 as Halt does (message P4)."""
    w = frame.read(op.p3)
    if w is None or isinstance(w, W_Null):
        return BAIL_OUT
    return pc + 1


@opcode('ClrSubtype', reads='P1', writes='P1', moves='', kind='registers nothing emitted again sink')
def op_clr_subtype(frame, op, pc):
    """r[P1] has no subtype any more."""
    if frame.is_in_mem(op.p1):
        address = frame.mem_address(op.p1) + Mem_flags
        mem.set_u16(address, 0, mem.u16(address) & ~MEM_Subtype)
    return pc + 1


@opcode('GetSubtype', reads='P1', writes='P2', moves='', kind='registers')
def op_get_subtype(frame, op, pc):
    """r[P2] = the subtype of r[P1], NULL if it has none."""
    if frame.is_in_mem(op.p1):
        address = frame.mem_address(op.p1)
        if mem.u16(address, Mem_flags) & MEM_Subtype:
            frame.write(op.p2, W_Int(mem.u8(address, Mem_eSubtype)))
            return pc + 1
    frame.write(op.p2, NULL)
    return pc + 1


@opcode('SetSubtype', reads='P1 P2', writes='P2', moves='', kind='registers')
def op_set_subtype(frame, op, pc):
    """The subtype of r[P2] = the integer r[P1]; none if that is NULL."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Null):
        return BAIL_OUT                    # only a Mem has a subtype
    if frame.is_in_mem(op.p2):
        address = frame.mem_address(op.p2) + Mem_flags
        mem.set_u16(address, 0, mem.u16(address) & ~MEM_Subtype)
    return pc + 1
