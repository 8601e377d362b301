"""The frame of a running statement: registers, and what is known of the rows under its cursors.

Between two calls of the VM the state is wholly in C: a frame starts with every register IN_MEM
(C's `Mem` has the value, loaded when first read) and, before it leaves or runs an opcode in C,
writes back the registers that are live.  So a statement can go on in either tier at any opcode.

The frame is virtualizable: in a trace its registers are the trace's own variables. What changes in a trace and decides
anything there is virtualizable, or C's: another field was read stale in a bridge.
"""
from c_engine.generated.layout import (
    CURTYPE_BTREE, BtCursor_eState, BtCursor_ix, BtCursor_pPage, CURSOR_VALID, MEM_Agg, MEM_Blob,
    MEM_Cleared, MEM_Dyn, MEM_FromBind, MEM_Int, MEM_IntReal, MEM_Null, MEM_Real, MEM_Str, MEM_Subtype, MEM_Zero,
    Mem_enc, Mem_flags, Mem_n, Mem_u, Mem_z, MemPage_aCellIdx, MemPage_aData, MemPage_aDataEnd,
    MemPage_intKeyLeaf, MemPage_isInit, MemPage_leaf, MemPage_maskPage, MemPage_maxLocal,
    MemPage_nCell, SQLITE_UTF8, SQPYTE_KNOWN_ROW, Vdbe_aMem, Vdbe_apCsr, Vdbe_aOp, Vdbe_db, Vdbe_pc,
    Vdbe_sqpyteCompare, VdbeCursor_deferredMoveto, VdbeCursor_eCurType, VdbeCursor_nullRow,
    VdbeCursor_uc, sizeof_Mem, sqlite3_enc)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.ablation import switches
from sqpyte.vm.base.jit import hint, promote, unroll_safe
from sqpyte.vm.copies import Kept, private_copy
from sqpyte.vm.values import cell
from sqpyte.vm.values.values import (
    IN_MEM, NULL, W_Bytes, W_Int, W_Null, W_Real, W_Text, blob_at, row_origin, text_at)

_KIND = (MEM_Null | MEM_Str | MEM_Int | MEM_Real | MEM_IntReal | MEM_Blob | MEM_Cleared | MEM_Zero
         | MEM_Subtype | MEM_Agg)
_OWNING = MEM_Dyn | MEM_Agg

# What until_progress gives where there is no handler.
NO_HANDLER = 0x7FFFFFFFFFFFFFFF


class Frame(object):
    """See the module's docstring.  `compare` is upstream's iCompare."""
    _virtualizable_ = ['registers[*]', 'btcursor[*]', 'leaf[*]', 'row[*]', 'rowsize[*]',
                       'header[*]', 'parsed[*]', 'offset[*]', 'columns[*]', 'compare', 'left']
    _immutable_fields_ = ['vdbe', 'db', 'memory', 'cursors', 'ops', 'always', 'seeking', 'encoding', 'watched']

    def __init__(self, vdbe, program, always, seeking):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.vdbe = vdbe
        self.db = mem.i64(vdbe, Vdbe_db)
        self.memory = mem.i64(vdbe, Vdbe_aMem)
        self.cursors = mem.i64(vdbe, Vdbe_apCsr)
        self.ops = mem.i64(vdbe, Vdbe_aOp)
        ncursors = program.ncursors
        self.registers = [IN_MEM] * program.nregisters
        self.btcursor = [0] * ncursors      # BtCursor's address once it is known to be valid
        self.leaf = [0] * ncursors          # its page, if a leaf and the cursor on one of its cells
        self.row = [0] * ncursors           # address of the row's record, 0 if not known
        self.rowsize = [0] * ncursors       # its size, all of it at that address
        self.header = [0] * ncursors        # its first byte, its header's size: below 128
        self.parsed = [0] * ncursors        # column whose offset is known ...
        self.offset = [0] * ncursors        # ... and that offset
        self.columns = [0] * program.nslots # offsets of columns before that one (column_slots.py)
        self.compare = mem.i32(vdbe, Vdbe_sqpyteCompare)
        self.left = capi.until_progress(vdbe)       # opcodes until the progress handler is called
        self.watched = self.left != NO_HANDLER      # there is one
        self.kept = Kept()                  # buffers of private_copy
        self.crowded = False                # those are many: leave, which frees them
        self.result = 0                     # what the VM returns
        self.c_steps = 0                    # opcodes run in C
        self.refused = False                # leave for good: too much is left to C
        self.full = False                   # leave: no memory for more machine code
        self.always = always                # not only hot loops: every opcode
        self.seeking = seeking              # may go down B-trees
        self.encoding = mem.u8(self.db, sqlite3_enc)    # of the database's texts

    def passed(self):
        """How many opcodes have been passed since the VM was entered; 0 where a progress handler counts them."""
        return 0 if self.watched else NO_HANDLER - self.left

    # ---- registers ----

    def mem_address(self, r):
        """Address of the Mem of register r."""
        return self.memory + r * sizeof_Mem

    def load(self, address, origin):
        """The value of the Mem at address, or None if it is of a kind that only C handles."""
        return self.load_as(mem.u16(address, Mem_flags) & _KIND, address, origin)

    def load_as(self, kind, address, origin):
        """The value of the Mem at address, given the bits _KIND of its flags."""
        if kind == MEM_Int:
            return W_Int(mem.i64(address, Mem_u))
        if kind == MEM_Real:
            return W_Real(mem.f64(address, Mem_u))
        if kind == MEM_Null:
            return NULL
        if kind == MEM_Str:
            encoding = promote(self.encoding)
            if mem.u8(address, Mem_enc) != encoding:
                return None
            return text_at(mem.i64(address, Mem_z), mem.i32(address, Mem_n), origin, encoding)
        if kind == MEM_Blob:
            encoding = promote(self.encoding)
            if encoding != SQLITE_UTF8 and mem.u8(address, Mem_enc) != encoding:
                return None
            return blob_at(mem.i64(address, Mem_z), mem.i32(address, Mem_n), origin, encoding)
        return None

    def read(self, r):
        """The value of register r, or None if it is of a kind that only C handles."""
        assert r >= 0
        w = self.registers[r]
        if w is IN_MEM:
            address = self.mem_address(r)
            flags = mem.u16(address, Mem_flags)
            w = self.load_as(flags & _KIND, address, r)
            if flags & MEM_FromBind:
                return w                    # the Mem has more than the value: bound.py
            if w is not None and not (switches.types and not isinstance(w, W_Bytes)):
                self.registers[r] = w
        return w

    def write(self, r, w):
        """Set register r."""
        assert r >= 0
        self.registers[r] = w
        if switches.types and not isinstance(w, W_Bytes):
            self.write_through(r)

    @unroll_safe
    def write_through(self, r):
        """The number or NULL in register r is to be in its Mem alone (ablation.py)."""
        q = 0
        while q < len(self.registers):
            w = self.registers[q]
            if isinstance(w, W_Bytes) and w.origin == r:
                self.registers[q] = self.private(w)
            q += 1
        self.write_back_one(r)
        self.registers[r] = IN_MEM

    def is_in_mem(self, r):
        """Whether only the Mem of register r has its value."""
        assert r >= 0
        return self.registers[r] is IN_MEM

    def write_in_mem(self, r):
        """Register r has just been set in its Mem."""
        assert r >= 0
        self.registers[r] = IN_MEM

    def private(self, w):
        """The text or blob w in memory of the frame."""
        copy = private_copy(w, self.kept)
        if self.kept.crowded:
            self.crowded = True
        return copy

    def free_kept(self):
        """Free the private copies; the frame isn't used any more."""
        for address in self.kept.addresses:
            mem.free(address)
        self.kept = Kept()

    @unroll_safe
    def release_views_of(self, r, live):
        """Before the Mem of register r is overwritten: other live registers that view it get
        private copies."""
        for q in live:
            assert q >= 0
            if q != r:
                w = self.registers[q]
                if isinstance(w, W_Bytes) and w.origin == r:
                    self.registers[q] = self.private(w)
        if switches.types:
            self.drop_views_of(r)

    @unroll_safe
    def drop_views_of(self, r):
        """The registers that view the Mem of register r, dead ones, aren't to be read: `write_through` copies all."""
        q = 0
        while q < len(self.registers):
            w = self.registers[q]
            if q != r and isinstance(w, W_Bytes) and w.origin == r:
                self.registers[q] = IN_MEM
            q += 1

    @unroll_safe
    def write_back(self, live):
        """Write the live registers to their Mems. Returns 0, or a result code if C has no
        memory; in that case the statement has to fail with it."""
        for r in live:
            assert r >= 0
            w = self.registers[r]
            if isinstance(w, W_Bytes) and w.origin >= 0 and w.origin != r:
                self.registers[r] = self.private(w)
        for r in live:
            rc = self.write_back_one(r)
            if rc != 0:
                return rc
        return 0

    def write_back_one(self, r):
        """Write register r to its Mem. Returns 0 or a result code."""
        assert r >= 0
        w = self.registers[r]
        if w is IN_MEM:
            return 0
        address = self.mem_address(r)
        if isinstance(w, W_Bytes):
            if w.origin == r:
                if self.holds(r, w):
                    return 0
                w = self.private(w)
            rc = capi.set_bytes(address, w.address, w.size, w.form())
            self.registers[r] = IN_MEM
            return rc
        if mem.u16(address, Mem_flags) & _OWNING:
            capi.set_null(address)
        if isinstance(w, W_Int):
            mem.set_i64(address, Mem_u, w.intval)
            mem.set_u16(address, Mem_flags, MEM_Int)
        elif isinstance(w, W_Real):
            mem.set_f64(address, Mem_u, w.floatval)
            mem.set_u16(address, Mem_flags, MEM_Real)
        else:
            assert isinstance(w, W_Null)
            mem.set_i32(address, Mem_n, 0)      # an accumulator's count of steps begins with it
            mem.set_u16(address, Mem_flags, MEM_Null)
        return 0

    def holds(self, r, w):
        """Whether the text or blob w is what the Mem of register r has; not a part of that, or
        the same bytes as another type."""
        address = self.mem_address(r)
        return (mem.i64(address, Mem_z) == w.address and mem.i32(address, Mem_n) == w.size
                and mem.u16(address, Mem_flags) & (MEM_Str | MEM_Blob)
                == (MEM_Str if isinstance(w, W_Text) else MEM_Blob))

    @unroll_safe
    def forget(self):
        """C has run: it has the registers and may have moved the cursors."""
        i = 0
        while i < len(self.registers):
            self.registers[i] = IN_MEM
            i += 1
        i = 0
        while i < len(self.btcursor):
            self.btcursor[i] = 0
            self.leaf[i] = 0
            self.row[i] = 0
            i += 1

    @unroll_safe
    def spill_for(self, op):
        """Before C runs an opcode whose effects are known: write back the registers that it
        reads, and what other live registers view of what it changes. Returns 0 or a result
        code."""
        # What the opcode overwrites without reading it is dead, though the register is live afterwards: leave_row would
        # copy it from memory that may be gone.
        for r in op.writes:
            assert r >= 0
            if not is_among(op.reads, r):
                self.registers[r] = IN_MEM
        for r in op.live_after:
            assert r >= 0
            w = self.registers[r]
            if isinstance(w, W_Bytes) and w.origin != r and is_among(op.touched, w.origin):
                self.registers[r] = self.private(w)
        # A register that is read may view one that is live, which leave_row writes.
        for r in op.reads:
            assert r >= 0
            w = self.registers[r]
            if isinstance(w, W_Bytes) and w.origin >= 0 and w.origin != r:
                self.registers[r] = self.private(w)
        for c in op.moves:
            rc = self.leave_row(c, op.live_after)
            if rc != 0:
                return rc
        return self.write_back(op.reads)

    @unroll_safe
    def reload_after(self, op):
        """C has run an opcode whose effects are known; it may have moved the memory of a text
        that it read."""
        for r in op.reads:
            assert r >= 0
            w = self.registers[r]
            if isinstance(w, W_Bytes) and w.origin == r:
                self.registers[r] = IN_MEM
        for r in op.writes:
            assert r >= 0
            self.registers[r] = IN_MEM
        for c in op.moves:
            self.forget_cursor(c)

    def forget_cursor(self, c):
        """Cursor c has been moved by C."""
        assert c >= 0
        self.btcursor[c] = 0
        self.leaf[c] = 0
        self.row[c] = 0

    @unroll_safe
    def drop(self, dead):
        """Forget registers that aren't live at the loop head that comes next, so that a loop
        doesn't carry them."""
        for r in dead:
            assert r >= 0
            self.registers[r] = IN_MEM

    # ---- leaving ----

    def save(self, pc, live):
        """Bring all state to C, to go on there at pc. Returns 0 or a result code."""
        self.save_place(pc)
        return self.write_back(live)

    def save_place(self, pc):
        """Bring to C what isn't in registers."""
        mem.set_i32(self.vdbe, Vdbe_pc, pc)
        mem.set_i32(self.vdbe, Vdbe_sqpyteCompare, self.compare)

    # ---- cursors ----

    def cursor_address(self, c):
        """Address of the VdbeCursor number c."""
        return mem.i64(self.cursors + 8 * c)

    def valid_btcursor(self, c):
        """Address of cursor c's BtCursor if it stands on a row of a B-tree, else 0."""
        assert c >= 0
        cursor = self.btcursor[c]
        if cursor != 0:
            return cursor
        vc = self.cursor_address(c)
        if vc == 0:
            return 0
        if (mem.u8(vc, VdbeCursor_eCurType) != CURTYPE_BTREE or mem.u8(vc, VdbeCursor_nullRow)
                or mem.u8(vc, VdbeCursor_deferredMoveto)):
            return 0
        cursor = mem.i64(vc, VdbeCursor_uc)
        if mem.u8(cursor, BtCursor_eState) != CURSOR_VALID:
            return 0
        self.btcursor[c] = cursor
        return cursor

    def leaf_page(self, c):
        """Address of the leaf page on one of whose cells cursor c stands, or 0 if it stands
        elsewhere. Looked up once per page: Next keeps the cursor within it."""
        assert c >= 0
        page = self.leaf[c]
        if page != 0:
            return page
        cursor = self.valid_btcursor(c)
        if cursor == 0:
            return 0
        page = mem.i64(cursor, BtCursor_pPage)
        if (mem.u8(page, MemPage_isInit) == 0 or mem.u8(page, MemPage_leaf) == 0
                or mem.u16(cursor, BtCursor_ix) >= mem.u16(page, MemPage_nCell)):
            return 0
        self.leaf[c] = page
        return page

    def cell_offset(self, c, page):
        """Where in that leaf page the cell is on which cursor c stands."""
        assert c >= 0
        pointer = mem.i64(page, MemPage_aCellIdx) + 2 * mem.u16(self.btcursor[c], BtCursor_ix)
        return mem.u16(page, MemPage_maskPage) & ((mem.u8(pointer) << 8) | mem.u8(pointer, 1))

    def find_row(self, c):
        """Note where the record under cursor c lies. Returns whether it could: the cursor is
        valid, on a leaf page, and the whole record is within the page."""
        assert c >= 0
        page = self.leaf_page(c)
        if page == 0:
            return self.find_known_row(c)
        start = self.cell_offset(c, page)
        # A page's header takes eight bytes: what record.int_before reads before a value is in the
        # page, too.
        if start < 8:
            return False
        at = mem.i64(page, MemPage_aData) + start
        end = mem.i64(page, MemPage_aDataEnd)
        table = mem.u8(page, MemPage_intKeyLeaf)
        before = 0
        size = 0
        if at + cell.WORD <= end:
            word = mem.i64(at)
            before = cell.size_of_head(word, table)
            size = cell.size_of_record(word)
        if before == 0 or size < 0:
            found = cell.head_by_bytes(at, end, table)
            if found < 0:
                return False
            before = found >> 16
            size = found & 0xFFFF
        at += before
        if size > mem.u16(page, MemPage_maxLocal) or at + size > end:
            return False
        return self.set_row(c, at, size)

    def find_known_row(self, c):
        """Note where the row is that cursor c has sought, if C keeps or has located it (row_cache.c). Returns
        whether it does."""
        vc = self.cursor_address(c)
        if (vc == 0 or mem.u8(vc, VdbeCursor_deferredMoveto) != SQPYTE_KNOWN_ROW
                or capi.known_row(vc, mem.scratch.address) == 0):
            return False
        self.note_row(c, mem.scratch.address)
        return self.row[c] != 0

    def note_row(self, c, at):
        """Note where C says that the record under cursor c lies (sqpyteRow in seek.c): at the
        address `at` are its address, or 0 if it isn't a local record, and its size."""
        assert c >= 0
        row = mem.i64(at)
        if row != 0:
            self.begin_row(c, row, mem.i64(at, 8), mem.u8(row))

    def set_row(self, c, address, size):
        """The record under cursor c is at address, where at least a byte can be read. Returns whether
        it is a local record."""
        assert c >= 0
        header = mem.u8(address)
        # Upstream reads the first type of an empty header, too, wherever that is.
        if header >= 128 or header > size or header < 2:
            return False
        self.begin_row(c, address, size, header)
        return True

    def begin_row(self, c, address, size, header):
        """The record under cursor c is at address, of that size and with that header's size; no
        column of it has been looked for."""
        assert c >= 0
        self.row[c] = address
        self.rowsize[c] = size
        self.header[c] = header
        self.parsed[c] = 0
        self.offset[c] = header

    def forget_row(self, c):
        """Cursor c is on another row."""
        self.begin_row(c, 0, 0, 0)

    @unroll_safe
    def leave_row(self, c, live):
        """Before cursor c leaves its page (or sorter record): write back the registers that
        view it. Returns 0 or a result code."""
        views = False
        for r in live:
            assert r >= 0
            w = self.registers[r]
            if isinstance(w, W_Bytes) and w.origin == row_origin(c):
                views = True
        self.forget_row(c)
        if views:
            return self.write_back(live)
        return 0


@unroll_safe
def is_among(numbers, n):
    """Whether n is one of a few numbers."""
    for number in numbers:
        if n == number:
            return True
    return False
