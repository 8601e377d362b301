"""Opcodes that move a cursor over a B-tree or a sorter, and read columns of its row."""
from c_engine.generated.layout import (
    BTCF_AtLast, BTCF_ValidNKey, BTCF_ValidOvfl, CACHE_STALE, CURTYPE_BTREE, SQLITE_DONE,
    SQLITE_STMTSTATUS_SORT, SQPYTE_KNOWN_ROW,
    BtCursor_curFlags, BtCursor_info, BtCursor_ix,
    CellInfo_nSize, MemPage_aData, MemPage_aDataEnd, MemPage_intKeyLeaf, MemPage_nCell, Mem_flags,
    MEM_Blob, Vdbe_aCounter, VdbeCursor_cacheStatus, VdbeCursor_deferredMoveto,
    VdbeCursor_eCurType, VdbeCursor_movetoTarget, VdbeCursor_nullRow, VdbeCursor_uc)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.jit import promote, unroll_safe
from sqpyte.vm.opcodes.operands import NOWHERE, UNKNOWN
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, declare, opcode
from sqpyte.vm.values import cell, record
from sqpyte.vm.values.values import NULL, W_Blob, W_Int, row_origin

_NSIZE = BtCursor_info + CellInfo_nSize
_ON_ANOTHER_ROW = 0xFF & ~(BTCF_ValidNKey | BTCF_ValidOvfl | BTCF_AtLast)


def failed(frame, pc, result):
    """A C function has given minus a result code: raise it at pc."""
    capi.fail(frame.vdbe, pc, -result)
    return FAILED


def about_to_move(frame, c, op, pc):
    """Before the opcode at pc moves cursor c: 0, or FAILED, which is on record then."""
    rc = frame.leave_row(c, op.live)
    if rc != 0:
        return failed(frame, pc, -rc)
    frame.forget_cursor(c)
    return 0


def ready_row(frame, c):
    """Whether the record under cursor c is known, or could be found within its page."""
    assert c >= 0
    return frame.row[c] != 0 or frame.find_row(c)


def _first(name, counter, contract, kind='read cursor row-cache'):
    def handler(frame, op, pc):
        c = op.p1
        assert c >= 0
        vc = frame.cursor_address(c)
        if vc == 0 or mem.u8(vc, VdbeCursor_eCurType) != CURTYPE_BTREE:
            return BAIL_OUT
        if about_to_move(frame, c, op, pc) != 0:
            return FAILED
        if name == 'Last':
            empty = capi.last(vc)
            if empty < 0:
                return failed(frame, pc, empty)
        else:
            rc = capi.btree_first(mem.i64(vc, VdbeCursor_uc), mem.scratch.address)
            if rc != 0:
                capi.fail(frame.vdbe, pc, rc)
                return FAILED
            empty = mem.i32(mem.scratch.address)
            mem.set_u8(vc, VdbeCursor_deferredMoveto, 0)
            mem.set_i32(vc, VdbeCursor_cacheStatus, CACHE_STALE)
            mem.set_u8(vc, VdbeCursor_nullRow, empty)
        if counter:
            count(frame, counter)
        if empty and op.p2 > 0:
            return op.p2
        return pc + 1
    handler.__doc__ = contract
    declare(name, handler, jumps='P2', moves='P1', kind=kind)


_first('Rewind', 0, "Cursor P1 to the first row of its B-tree; jump to P2 if there is none.")
_first('Sort', SQLITE_STMTSTATUS_SORT, "As Rewind, where it stands for sorting: counted.")
_first('Last', 0, "Cursor P1 to the last row of its B-tree; jump to P2 if there is none.",
       kind='read cursor store sink row-cache')


def _step(name, forward, contract):
    def handler(frame, op, pc):
        c = op.p1
        assert c >= 0
        cursor = frame.valid_btcursor(c)
        if cursor == 0:
            return BAIL_OUT
        page = frame.leaf_page(c)
        ix = mem.u16(cursor, BtCursor_ix)
        if forward:
            ix += 1
            within = ix < mem.u16(page, MemPage_nCell) if page != 0 else False
        else:
            ix -= 1
            within = ix >= 0 and page != 0
        if within:
            mem.set_u16(cursor, BtCursor_ix, ix)
            mem.set_u16(cursor, _NSIZE, 0)
            mem.set_u8(cursor, BtCursor_curFlags,
                       mem.u8(cursor, BtCursor_curFlags) & _ON_ANOTHER_ROW)
            frame.forget_row(c)
        else:
            frame.leaf[c] = 0
            rc = frame.leave_row(c, op.live)
            if rc == 0:
                if forward:
                    rc = capi.btree_next(cursor, op.p3)
                else:
                    rc = capi.btree_previous(cursor, op.p3)
            if rc != 0:
                if rc != SQLITE_DONE:
                    capi.fail(frame.vdbe, pc, rc)
                    return FAILED
                frame.btcursor[c] = 0
                vc = frame.cursor_address(c)
                mem.set_i32(vc, VdbeCursor_cacheStatus, CACHE_STALE)
                mem.set_u8(vc, VdbeCursor_nullRow, 1)
                return pc + 1
        count(frame, op.p5)
        return op.p2
    handler.__doc__ = contract
    declare(name, handler, jumps='P2', loop=True, moves='P1',
            kind='read cursor step-btree looks-for-interrupt row-cache')


_step('Next', True, "Cursor P1 to the next row and jump to P2; fall through after the last row. P5 "
      "is the statement counter to increment.")
_step('Prev', False, "Cursor P1 to the previous row and jump to P2; fall through before the first "
      "row. P5 is the statement counter to increment.")


def count(frame, counter):
    """Increment a counter of sqlite3_stmt_status."""
    offset = Vdbe_aCounter + 4 * counter
    mem.set_i32(frame.vdbe, offset, mem.i32(frame.vdbe, offset) + 1)


@opcode('Column', reads='RECORD UNDECODED', writes='P3', jumps='CORRUPT', moves='P1', touches='ALL',
        kind='read cursor emitted again row-cache')
def op_column(frame, op, pc):
    """r[P3] = column P2 of the row under cursor P1, or the default P4 (else NULL) where the
    record has fewer columns."""
    c = op.p1
    assert c >= 0
    if frame.row[c] == 0:
        if op.record >= 0:
            w = frame.read(op.record)
            # A sorter's record may be larger than any of a page: sizes below POISON alone keep it out of the body.
            if not (isinstance(w, W_Blob) and 0 < w.size < record.POISON
                    and frame.set_row(c, w.address, w.size)):
                return BAIL_OUT
        elif not frame.find_row(c):
            return column_elsewhere(frame, op, pc)
    if op.for_writing and frame.parsed[c] == 0:
        note_cell(frame, c)
    w = field(frame, c, op.slots, op.p2, op.record >= 0, op.w_p4)
    if w is None:
        return BAIL_OUT
    frame.write(op.p3, w)
    return pc + 1


def note_cell(frame, c):
    """Have cursor c, which may write, know its cell's size, as when upstream reads a column. An insertion at that key
    then overwrites the cell, else it drops it and takes new space: the same rows, but other bytes of the file."""
    cursor = frame.valid_btcursor(c)
    if cursor != 0:
        capi.btree_integer_key(cursor)


def column_elsewhere(frame, op, pc):
    """Column of a cursor that is on the row of NULLs, or whose seek is deferred: if the index has
    the column, the seek needs not be done. Of a row that is kept or located (SQPYTE_KNOWN_ROW) the index may
    be elsewhere: that one was sought by its rowid."""
    c = op.p1
    assert c >= 0
    vc = frame.cursor_address(c)
    if vc == 0 or mem.u8(vc, VdbeCursor_eCurType) != CURTYPE_BTREE:
        return BAIL_OUT
    if mem.u8(vc, VdbeCursor_nullRow):
        frame.write(op.p3, NULL)
        return pc + 1
    deferred = mem.u8(vc, VdbeCursor_deferredMoveto)
    if deferred == 0 or op.alternate == UNKNOWN:
        return BAIL_OUT
    if op.alternate != NOWHERE and deferred != SQPYTE_KNOWN_ROW:
        c = op.alternate
        column = op.alternate_column
        slots = op.alternate_slots
        if not ready_row(frame, c):
            return BAIL_OUT
    else:
        column = op.p2
        slots = op.slots
        result = capi.finish_seek(vc, mem.scratch.address)
        if result < 0:
            return failed(frame, pc, result)
        frame.note_row(c, mem.scratch.address)
        if frame.row[c] == 0:
            return BAIL_OUT
        if op.for_writing:
            note_cell(frame, c)
    w = field(frame, c, slots, column, False, op.w_p4)
    if w is None:
        return BAIL_OUT
    frame.write(op.p3, w)
    return pc + 1


@unroll_safe
def field(frame, c, slots, column, careful, w_default):
    """A column of the record that is known to be under cursor c.

    Args: slots, the cursor's slots (column_slots.py); careful, whether the 8 bytes before the record may
        be outside of its buffer; w_default, the value where the record has fewer columns.
    Returns: a W_Value, or None if C has to read it.
    """
    assert c >= 0
    row = frame.row[c]
    size = frame.rowsize[c]
    header = frame.header[c]
    if column + 2 <= header:
        parsed = promote(frame.parsed[c])
        offset = frame.offset[c]
        if parsed > column:
            s = slots[column]
            assert s >= 0
            offset = frame.columns[s]
        else:
            while parsed < column:
                s = slots[parsed]
                if s >= 0:
                    frame.columns[s] = offset
                if parsed + 1 < column and slots[parsed + 1] < 0:
                    offset += record.pair_entry(mem.u16(row, 1 + parsed))
                    parsed += 2
                else:
                    offset += record.size_entry(mem.u8(row, 1 + parsed))
                    parsed += 1
            frame.parsed[c] = column
            frame.offset[c] = offset
        serial_type = mem.u8(row, 1 + column)
        end = offset + record.size_entry(serial_type)
        # Upstream: the record is corrupt unless its last column ends with it.
        if end == size if column + 2 == header else end <= size:
            return record.value_of(record.kind_entry(serial_type), serial_type, row, offset, end,
                                   c, careful, size, promote(frame.encoding))
    found = record.find_column(row, size, column)
    if found == record.MISSING:
        return w_default
    if found < 0:
        return None
    serial_type = found >> 32
    offset = found & 0xFFFFFFFF
    return record.value_of(record.kind_of(serial_type), serial_type, row, offset,
                           offset + record.size_of(serial_type), c, True, size, promote(frame.encoding))


@opcode('Rowid', writes='P2', moves='P1', kind='read cursor emitted again row-cache calls-module')
def op_rowid(frame, op, pc):
    """r[P2] = the rowid of the row under cursor P1."""
    c = op.p1
    assert c >= 0
    page = frame.leaf_page(c)
    if page == 0:
        vc = frame.cursor_address(c)
        if vc == 0 or mem.u8(vc, VdbeCursor_deferredMoveto) == 0 or mem.u8(vc, VdbeCursor_nullRow):
            return BAIL_OUT
        if (mem.u8(vc, VdbeCursor_deferredMoveto) == SQPYTE_KNOWN_ROW
                and capi.known_row(vc, mem.scratch.address) == 0):
            return BAIL_OUT                # something has been written: the row may be gone
        frame.write(op.p2, W_Int(mem.i64(vc, VdbeCursor_movetoTarget)))
        return pc + 1
    if mem.u8(page, MemPage_intKeyLeaf) == 0:
        return BAIL_OUT
    if op.for_writing:
        # Upstream notes key and size in the cursor: an insertion at that key then needs no
        # search and may overwrite the cell; in a damaged tree, that decides what is damaged next.
        frame.write(op.p2, W_Int(capi.btree_integer_key(frame.btcursor[c])))
        return pc + 1
    at = mem.i64(page, MemPage_aData) + frame.cell_offset(c, page)
    end = mem.i64(page, MemPage_aDataEnd)
    rowid = cell.UNUSUAL
    if at + cell.WORD <= end:
        rowid = cell.rowid_of_head(mem.i64(at))
    if rowid < 0:
        rowid = cell.rowid_by_bytes(at, end)
        if rowid < 0:
            return BAIL_OUT
    frame.write(op.p2, W_Int(rowid))
    return pc + 1


@opcode('SorterSort', jumps='P2', kind='own cursor')
def op_sorter_sort(frame, op, pc):
    """Sort the sorter P1 and go to its first record; jump to P2 if there is none."""
    return BAIL_OUT


@opcode('SorterInsert', reads='P2', kind='own cursor store sink')
def op_sorter_insert(frame, op, pc):
    """Insert the record r[P2] into the sorter P1."""
    address = frame.mem_address(op.p2)
    frame.release_views_of(op.p2, op.live)
    rc = frame.write_back_one(op.p2)
    if rc == 0:
        if (mem.u16(address, Mem_flags) & MEM_Blob) == 0:
            return BAIL_OUT
        rc = capi.sorter_insert(frame.cursor_address(op.p1), address)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


@opcode('SorterData', writes='P2', kind='own cursor')
def op_sorter_data(frame, op, pc):
    """r[P2] = the sorter P1's current record, which pseudo-cursor P3 then reads. A view: the
    sorter's own memory, where upstream copies the record."""
    address = capi.sorter_row(frame.cursor_address(op.p1), mem.scratch.address)
    size = mem.i32(mem.scratch.address)
    frame.write(op.p2, W_Blob(address, size, row_origin(op.p3)))
    mem.set_i32(frame.cursor_address(op.p3), VdbeCursor_cacheStatus, CACHE_STALE)
    frame.forget_row(op.p3)
    return pc + 1


@opcode('SorterNext', jumps='P2', loop=True, kind='own cursor step-sorter looks-for-interrupt')
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
    mem.set_i32(vc, VdbeCursor_cacheStatus, CACHE_STALE)
    if rc == 0:
        mem.set_u8(vc, VdbeCursor_nullRow, 0)
        count(frame, op.p5)
        return op.p2
    if rc != SQLITE_DONE:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    mem.set_u8(vc, VdbeCursor_nullRow, 1)
    return pc + 1
