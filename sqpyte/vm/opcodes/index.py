"""Opcodes that seek: in tables and indexes, with the comparison of index records, deferred seeks,
cursors on no row, and Bloom filters.

The way down a B-tree is upstream's code (c_engine/vm/seek.c).  What is asked of every row, whether
an index record is still within the range, which rowid it has, which columns, is done here, in the
page.
"""
from c_engine.generated import opcodes
from c_engine.generated.layout import (
    CACHE_STALE, CURTYPE_BTREE, MEM_Blob, MEM_Null, Mem_flags,
    SQLITE_STMTSTATUS_FILTER_HIT, SQLITE_STMTSTATUS_FILTER_MISS,
    VdbeCursor_cacheStatus, VdbeCursor_deferredMoveto, VdbeCursor_eCurType, VdbeCursor_isTable,
    VdbeCursor_movetoTarget, VdbeCursor_nullRow, VdbeCursor_pAltCursor, VdbeCursor_seqCount,
    VdbeCursor_ub, VdbeOp_p4, sizeof_VdbeOp)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.opcodes.cursor import about_to_move, count, failed, field, ready_row
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, declare, opcode
from sqpyte.vm.values import record
from sqpyte.vm.values.compare import OTHER, UNDECIDED, compare, in_sort_order
from sqpyte.vm.values.values import NULL, W_Int, W_Null, W_Text


def _seek_rowid(name, contract, null_jumps):
    def handler(frame, op, pc):
        w = frame.read(op.p3)
        if op.p2 == 0 or w is None:
            return BAIL_OUT
        if not isinstance(w, W_Int):
            if null_jumps and isinstance(w, W_Null):
                return op.p2
            return BAIL_OUT
        if about_to_move(frame, op.p1, op, pc) != 0:
            return FAILED
        result = capi.seek_rowid(frame.cursor_address(op.p1), w.intval, mem.scratch.address)
        if result < 0:
            return failed(frame, pc, result)
        if result:
            return op.p2
        frame.note_row(op.p1, mem.scratch.address)
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, reads='P3', jumps='P2', moves='P1', seeks=True, kind='read cursor row-cache')


_seek_rowid('SeekRowid', "Cursor P1 to the row of rowid r[P3]; jump to P2 if there is none or "
            "r[P3] isn't an integer.", True)
_seek_rowid('NotExists', "Cursor P1 to the row of rowid r[P3]; jump to P2 if there is none.",
            False)


def _seek(name, contract, jumps='P2'):
    number = getattr(opcodes, 'OP_' + name)

    def handler(frame, op, pc):
        vc = frame.cursor_address(op.p1)
        if mem.u8(vc, VdbeCursor_isTable):
            w = frame.read(op.p3)
            if not isinstance(w, W_Int):
                return BAIL_OUT
            if about_to_move(frame, op.p1, op, pc) != 0:
                return FAILED
            result = capi.seek_table(vc, w.intval, number, mem.scratch.address)
        else:
            if not key_to_mem(frame, op, pc) or about_to_move(frame, op.p1, op, pc) != 0:
                return FAILED
            result = capi.seek_index(vc, frame.mem_address(op.p3), op.p4, number,
                                     mem.scratch.address)
        if result < 0:
            return failed(frame, pc, result)
        if result == 1:
            return op.p2
        frame.note_row(op.p1, mem.scratch.address)
        return pc + 2 if result == 2 else pc + 1
    handler.__doc__ = contract + (
        " The key is r[P3@P4], or the rowid r[P3]; jump to P2 if there is no such row.")
    declare(name, handler, reads='P3 P3@P4', jumps=jumps, moves='P1', seeks=True,
            kind='read cursor row-cache')


# Of a seek that can only give an equal key, the comparison that follows is passed over.
_seek('SeekGE', "Cursor P1 to the first row whose key is at least the one given.", 'P2 SECOND')
_seek('SeekGT', "Cursor P1 to the first row whose key is above the one given.")
_seek('SeekLE', "Cursor P1 to the last row whose key is at most the one given.", 'P2 SECOND')
_seek('SeekLT', "Cursor P1 to the last row whose key is below the one given.")


@unroll_safe
def key_to_mem(frame, op, pc):
    """Bring r[P3@P4], or r[P3] if P4 is 0, to their Mems. Returns whether C had the memory; if
    not, the failure is on record."""
    i = 0
    while i < op.p4 or i == 0:
        r = op.p3 + i
        if not frame.is_in_mem(r):
            frame.release_views_of(r, op.live)
            rc = frame.write_back_one(r)
            if rc != 0:
                capi.fail(frame.vdbe, pc, rc)
                return False
        i += 1
    return True


def _exact(name, jump_if_absent, contract, kind='read cursor store sink distinct'):
    null_is_absent = name == 'NoConflict'

    @unroll_safe
    def handler(frame, op, pc):
        if op.p4 == 0:
            flags = MEM_Blob
            if frame.is_in_mem(op.p3):
                flags = mem.u16(frame.mem_address(op.p3), Mem_flags)
            if (flags & MEM_Blob) == 0:
                return BAIL_OUT
        if not key_to_mem(frame, op, pc) or about_to_move(frame, op.p1, op, pc) != 0:
            return FAILED
        result = capi.seek_exact(frame.vdbe, frame.cursor_address(op.p1),
                                 frame.mem_address(op.p3), op.p4)
        if result < 0:
            return failed(frame, pc, result)
        if null_is_absent:
            i = 0
            while i < op.p4:
                w = frame.read(op.p3 + i)
                if isinstance(w, W_Null) or (
                        w is None and mem.u16(frame.mem_address(op.p3 + i), Mem_flags) & MEM_Null):
                    return op.p2
                i += 1
        if bool(result) == jump_if_absent:
            return op.p2
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, reads='P3 P3@P4', jumps='P2', moves='P1', seeks=True,
            kind=kind)


_exact('Found', False, "Jump to P2 if the index P1 has an entry with the key r[P3@P4], or with P4 0 "
       "the record r[P3]; the cursor is on it then.")
_exact('NotFound', True, "Jump to P2 unless the index P1 has an entry with the key r[P3@P4], or "
       "with P4 0 the record r[P3]; the cursor is on it then.")
_exact('NoConflict', True, "Jump to P2 if one of r[P3@P4] is NULL or the index P1 has no entry with "
       "that key; else the cursor is on it.", kind='read cursor store sink')


@unroll_safe
def compare_key(frame, op):
    """The order of the record under index cursor P1 and the key r[P3@P4]: negative, zero or
    positive; or UNDECIDED if C has to say."""
    if op.sort_flags is None or op.p4 > len(op.collations) or not ready_row(frame, op.p1):
        return UNDECIDED
    i = 0
    while i < op.p4:
        if op.collations[i] == OTHER:
            return UNDECIDED
        a = field(frame, op.p1, op.slots, i, False, None)
        b = frame.read(op.p3 + i)
        if a is None or b is None:
            return UNDECIDED
        order = compare(a, b, op.collations[i])
        if order != 0:
            return in_sort_order(order, a, b, op.sort_flags[i])
        i += 1
    return 0


def _idx(name, holds, contract):
    def handler(frame, op, pc):
        order = compare_key(frame, op)
        if order == UNDECIDED:
            return BAIL_OUT
        if holds(order):
            return op.p2
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, reads='P3@P4', jumps='P2', moves='', kind='read cursor store sink index-comparison')


_idx('IdxGT', lambda order: order > 0,
     "Jump to P2 if the entry under index cursor P1 is above the key r[P3@P4].")
_idx('IdxGE', lambda order: order >= 0,
     "Jump to P2 if the entry under index cursor P1 is at or above the key r[P3@P4].")
_idx('IdxLT', lambda order: order < 0,
     "Jump to P2 if the entry under index cursor P1 is below the key r[P3@P4].")
_idx('IdxLE', lambda order: order <= 0,
     "Jump to P2 if the entry under index cursor P1 is at or below the key r[P3@P4].")


def rowid_of_entry(frame, c):
    """The rowid at the end of the index record under cursor c, or None if C has to find it: the
    entry isn't on a leaf page, too long for it, or corrupt (sqlite3VdbeIdxRowid)."""
    assert c >= 0
    if not ready_row(frame, c):
        return None
    row = frame.row[c]
    header = mem.u8(row)            # below 128 and within the record: find_row has looked
    if header < 3:
        return None
    serial_type = mem.u8(row + header - 1)
    kind = record.kind_entry(serial_type)
    size = record.size_entry(serial_type)
    if header + size > frame.rowsize[c]:
        return None
    if kind == record.KIND_INT:
        return W_Int(record.int_before(row + frame.rowsize[c], serial_type))
    return None


@opcode('IdxRowid', writes='P2', moves='', touches='P1', kind='read cursor again')
def op_idx_rowid(frame, op, pc):
    """r[P2] = the rowid at the end of the entry under index cursor P1."""
    w = rowid_of_entry(frame, op.p1)
    if w is None:
        return BAIL_OUT
    frame.write(op.p2, w)
    return pc + 1


@opcode('DeferredSeek', moves='P3', seeks=True, kind='read cursor')
def op_deferred_seek(frame, op, pc):
    """Cursor P3 of a table is to go to the row of the entry under index cursor P1, when a
    column is read that the index hasn't (P4 says which it has)."""
    w = rowid_of_entry(frame, op.p1)
    if w is None:
        return BAIL_OUT
    if about_to_move(frame, op.p3, op, pc) != 0:
        return FAILED
    table = frame.cursor_address(op.p3)
    mem.set_u8(table, VdbeCursor_nullRow, 0)
    mem.set_i64(table, VdbeCursor_movetoTarget, w.intval)
    mem.set_u8(table, VdbeCursor_deferredMoveto, 1)
    mem.set_i32(table, VdbeCursor_cacheStatus, CACHE_STALE)
    mem.set_i64(table, VdbeCursor_ub,
                mem.i64(frame.ops + pc * sizeof_VdbeOp, VdbeOp_p4))
    mem.set_i64(table, VdbeCursor_pAltCursor, frame.cursor_address(op.p1))
    return pc + 1


@opcode('FinishSeek', moves='P1', seeks=True, kind='read again')
def op_finish_seek(frame, op, pc):
    """Do the seek of cursor P1 that a DeferredSeek has left to be done."""
    vc = frame.cursor_address(op.p1)
    if mem.u8(vc, VdbeCursor_deferredMoveto):
        result = capi.finish_seek(vc, mem.scratch.address)
        if result < 0:
            return failed(frame, pc, result)
    return pc + 1


@opcode('NullRow', moves='P1', kind='read cursor row-cache')
def op_null_row(frame, op, pc):
    """All columns of cursor P1 are NULL from now on, with P2 only until it is moved."""
    vc = frame.cursor_address(op.p1)
    if vc == 0:
        return BAIL_OUT
    if about_to_move(frame, op.p1, op, pc) != 0:
        return FAILED
    capi.null_row(vc, int(op.p2 == 0))
    return pc + 1


@opcode('IfNullRow', reads='P3', writes='P3', jumps='P2', moves='', kind='read cursor row-cache')
def op_if_null_row(frame, op, pc):
    """If cursor P1 is on the row of NULLs, r[P3] = NULL and jump to P2; else r[P3] is kept."""
    vc = frame.cursor_address(op.p1)
    if vc == 0:
        return BAIL_OUT
    if mem.u8(vc, VdbeCursor_nullRow):
        frame.write(op.p3, NULL)
        return op.p2
    return pc + 1


@opcode('IfEmpty', jumps='P2', moves='', touches='P1', kind='read cursor row-cache')
def op_if_empty(frame, op, pc):
    """Jump to P2 if the B-tree of cursor P1 has no row."""
    vc = frame.cursor_address(op.p1)
    if mem.u8(vc, VdbeCursor_eCurType) != CURTYPE_BTREE:
        return BAIL_OUT
    result = capi.is_empty(vc)
    if result < 0:
        return failed(frame, pc, result)
    if result:
        return op.p2
    return pc + 1


@opcode('Sequence', writes='P2', moves='', touches='P1', kind='read cursor store sink')
def op_sequence(frame, op, pc):
    """r[P2] = how often this opcode has run for cursor P1 before."""
    at = frame.cursor_address(op.p1) + VdbeCursor_seqCount
    number = mem.i64(at)
    mem.set_i64(at, 0, number + 1)
    frame.write(op.p2, W_Int(number))
    return pc + 1


@unroll_safe
def filter_bit(frame, op, add):
    """The bit of the Bloom filter r[P1] for the key r[P3@P4], as it was before it is set with
    `add`; or -1 if C has to do it."""
    address = frame.mem_address(op.p1)
    if not frame.is_in_mem(op.p1) or (mem.u16(address, Mem_flags) & MEM_Blob) == 0:
        return -1
    h = 0
    i = 0
    while i < op.p4:
        w = frame.read(op.p3 + i)
        if isinstance(w, W_Int):
            h = mem.wrap(h + w.intval)
        elif isinstance(w, W_Text):
            h = mem.wrap(h + capi.filter_text(w.address, w.size))
        elif not isinstance(w, W_Null):
            return -1
        i += 1
    return capi.filter_bit(address, h, add)


@opcode('FilterAdd', reads='P1 P3@P4', writes='P1', moves='', kind='own-set opaque-p1')
def op_filter_add(frame, op, pc):
    """Enter the key r[P3@P4] into the Bloom filter r[P1]."""
    if filter_bit(frame, op, 1) < 0:
        return BAIL_OUT
    return pc + 1


@opcode('Filter', reads='P1 P3@P4', jumps='P2', moves='', kind='registers opaque-p1')
def op_filter(frame, op, pc):
    """Jump to P2 if the key r[P3@P4] isn't in the Bloom filter r[P1]."""
    bit = filter_bit(frame, op, 0)
    if bit < 0:
        return BAIL_OUT
    if bit == 0:
        count(frame, SQLITE_STMTSTATUS_FILTER_HIT)
        return op.p2
    count(frame, SQLITE_STMTSTATUS_FILTER_MISS)
    return pc + 1
