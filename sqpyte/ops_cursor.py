"""Opcodes that move a cursor over a B-tree or a sorter, and read columns of its row."""
from c_engine.generated.layout import (
    BTCF_ValidNKey, BTCF_ValidOvfl, CACHE_STALE, CURTYPE_BTREE, SQLITE_DONE,
    BtCursor_curFlags, BtCursor_info, BtCursor_ix,
    CellInfo_nSize, MemPage_aDataEnd, MemPage_intKeyLeaf, MemPage_nCell, Mem_flags,
    MEM_Blob, Vdbe_aCounter, VdbeCursor_cacheStatus, VdbeCursor_deferredMoveto,
    VdbeCursor_eCurType, VdbeCursor_nullRow, VdbeCursor_uc)
from sqpyte import capi, mem, record
from sqpyte.frame import skip_varint
from sqpyte.jit import promote, unroll_safe
from sqpyte.optable import ASK_C, FAILED, opcode
from sqpyte.values import W_Blob, W_Int, row_origin

_NSIZE = BtCursor_info + CellInfo_nSize


@opcode('Rewind', jumps='P2')
def op_rewind(frame, op, pc):
    """Cursor P1 to the first row of its B-tree; jump to P2 if there is none."""
    c = op.p1
    assert c >= 0
    vc = frame.cursor_address(c)
    if vc == 0 or mem.u8(vc + VdbeCursor_eCurType) != CURTYPE_BTREE:
        return ASK_C
    rc = frame.leave_row(c, op.live)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    frame.btcursor[c] = 0
    frame.leaf[c] = 0
    rc = capi.btree_first(mem.i64(vc + VdbeCursor_uc), mem.scratch.address)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    empty = mem.i32(mem.scratch.address)
    mem.set_u8(vc + VdbeCursor_deferredMoveto, 0)
    mem.set_i32(vc + VdbeCursor_cacheStatus, CACHE_STALE)
    mem.set_u8(vc + VdbeCursor_nullRow, empty)
    if empty and op.p2 > 0:
        return op.p2
    return pc + 1


@opcode('Next', jumps='P2', loop=True)
def op_next(frame, op, pc):
    """Cursor P1 to the next row and jump to P2; fall through after the last row. P5 is the
    statement counter to increment."""
    c = op.p1
    assert c >= 0
    cursor = frame.valid_btcursor(c)
    if cursor == 0:
        return ASK_C
    page = frame.leaf_page(c)
    ix = mem.u16(cursor + BtCursor_ix) + 1
    if page != 0 and ix < mem.u16(page + MemPage_nCell):
        mem.set_u16(cursor + BtCursor_ix, ix)
        mem.set_u16(cursor + _NSIZE, 0)
        mem.set_u8(cursor + BtCursor_curFlags,
                   mem.u8(cursor + BtCursor_curFlags) & ~(BTCF_ValidNKey | BTCF_ValidOvfl))
        frame.forget_row(c)
    else:
        frame.leaf[c] = 0
        rc = frame.leave_row(c, op.live)
        if rc == 0:
            rc = capi.btree_next(cursor, op.p3)
        if rc != 0:
            if rc != SQLITE_DONE:
                capi.fail(frame.vdbe, pc, rc)
                return FAILED
            frame.btcursor[c] = 0
            vc = frame.cursor_address(c)
            mem.set_i32(vc + VdbeCursor_cacheStatus, CACHE_STALE)
            mem.set_u8(vc + VdbeCursor_nullRow, 1)
            return pc + 1
    count(frame, op.p5)
    return op.p2


def count(frame, counter):
    """Increment a counter of sqlite3_stmt_status."""
    address = frame.vdbe + Vdbe_aCounter + 4 * counter
    mem.set_i32(address, mem.i32(address) + 1)


@opcode('Column', reads='RECORD', writes='P3')
@unroll_safe
def op_column(frame, op, pc):
    """r[P3] = column P2 of the row under cursor P1, or the default P4 (else NULL) where the
    record has fewer columns."""
    if op.left_to_c:
        return ASK_C
    c = op.p1
    assert c >= 0
    row = frame.row[c]
    if row == 0:
        if op.record >= 0:
            w = frame.read(op.record)
            if not (isinstance(w, W_Blob) and frame.set_row(c, w.address, w.size)):
                return ASK_C
        elif not frame.find_row(c):
            return ASK_C
        row = frame.row[c]
    size = frame.rowsize[c]
    header = mem.u8(row)
    column = op.p2
    parsed = promote(frame.parsed[c])
    offset = frame.offset[c]
    if parsed > column:
        parsed = 0
        offset = header
    if column + 2 <= header:
        while parsed < column:
            offset += record.size_entry(mem.u8(row + 1 + parsed))
            parsed += 1
        serial_type = mem.u8(row + 1 + column)
        end = offset + record.size_entry(serial_type)
        if end < size or end == size:
            if column + 2 == header and end != size:
                return ASK_C            # corrupt: upstream says so
            frame.parsed[c] = column
            frame.offset[c] = offset
            w = record.value_of(record.kind_entry(serial_type), serial_type, row + offset,
                                c, op.record >= 0)
            if w is None:
                return ASK_C
            frame.write(op.p3, w)
            return pc + 1
    found = record.find_column(row, size, column)
    if found == record.MISSING:
        if op.w_p4 is None:
            return ASK_C
        frame.write(op.p3, op.w_p4)
        return pc + 1
    if found < 0:
        return ASK_C
    serial_type = found >> 32
    w = record.value_of(record.kind_of(serial_type), serial_type,
                        row + (found & 0xFFFFFFFF), c, True)
    if w is None:
        return ASK_C
    frame.write(op.p3, w)
    return pc + 1


@opcode('Rowid', writes='P2')
@unroll_safe
def op_rowid(frame, op, pc):
    """r[P2] = the rowid of the row under cursor P1."""
    c = op.p1
    assert c >= 0
    page = frame.leaf_page(c)
    if page == 0 or mem.u8(page + MemPage_intKeyLeaf) == 0:
        return ASK_C
    if op.writes:
        # Upstream notes key and size in the cursor: an insertion at that key then needs no
        # search and may overwrite the cell; in a damaged tree, that decides what is damaged next.
        frame.write(op.p2, W_Int(capi.btree_integer_key(frame.btcursor[c])))
        return pc + 1
    at = frame.cell(c, page)
    end = mem.i64(page + MemPage_aDataEnd)
    if at + 4 > end:
        return ASK_C
    at = skip_varint(at, end)
    if at == 0:
        return ASK_C
    rowid = 0
    i = 0
    while i < 8:
        if at >= end:
            return ASK_C
        byte = mem.u8(at)
        rowid = (rowid << 7) | (byte & 127)
        if byte < 128:
            frame.write(op.p2, W_Int(rowid))
            return pc + 1
        at += 1
        i += 1
    return ASK_C                        # nine bytes: a negative or huge rowid


@opcode('SorterSort', jumps='P2')
def op_sorter_sort(frame, op, pc):
    """Sort the sorter P1 and go to its first record; jump to P2 if there is none."""
    return ASK_C


@opcode('SorterInsert', reads='P2')
def op_sorter_insert(frame, op, pc):
    """Insert the record r[P2] into the sorter P1."""
    address = frame.mem_address(op.p2)
    rc = frame.write_back_one(op.p2)
    if rc == 0:
        if (mem.u16(address + Mem_flags) & MEM_Blob) == 0:
            return ASK_C
        rc = capi.sorter_insert(frame.cursor_address(op.p1), address)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


@opcode('SorterData', writes='P2')
def op_sorter_data(frame, op, pc):
    """r[P2] = the sorter P1's current record, which pseudo-cursor P3 then reads. A view: the
    sorter's own memory, where upstream copies the record."""
    address = capi.sorter_row(frame.cursor_address(op.p1), mem.scratch.address)
    size = mem.i32(mem.scratch.address)
    frame.write(op.p2, W_Blob(address, size, row_origin(op.p3)))
    mem.set_i32(frame.cursor_address(op.p3) + VdbeCursor_cacheStatus, CACHE_STALE)
    frame.forget_row(op.p3)
    return pc + 1


@opcode('SorterNext', jumps='P2', loop=True)
@unroll_safe
def op_sorter_next(frame, op, pc):
    """The sorter P1 to its next record and jump to P2; fall through after the last one."""
    for c in op.readers:
        rc = frame.leave_row(c, op.live)
        if rc != 0:
            capi.fail(frame.vdbe, pc, rc)
            return FAILED
    vc = frame.cursor_address(op.p1)
    rc = capi.sorter_next(frame.vdbe, vc)
    mem.set_i32(vc + VdbeCursor_cacheStatus, CACHE_STALE)
    if rc == 0:
        mem.set_u8(vc + VdbeCursor_nullRow, 0)
        count(frame, op.p5)
        return op.p2
    if rc != SQLITE_DONE:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    mem.set_u8(vc + VdbeCursor_nullRow, 1)
    return pc + 1
