"""Programs: the immutable decoded form of a VDBE program, interned by content.

`decode` reads upstream's `aOp` array from memory.  Operands that are pointers to constants
(numbers, texts, collations) become values; pointers that differ from statement to statement
(FuncDef, KeyInfo) are read through the frame when needed.  Two statements with the same content
share one Program, and with it the machine code that the JIT made for it.
"""
from c_engine.generated import opcodes
from c_engine.generated.layout import (
    OPFLAG_PERMUTE,
    P4_COLLSEQ,
    P4_FUNCCTX,
    P4_FUNCDEF,
    P4_INT32,
    P4_INTARRAY,
    P4_KEYINFO,
    P4_MEM,
    KeyInfo_aColl,
    KeyInfo_aSortFlags,
    KeyInfo_nAllField,
    Mem_enc,
    Mem_flags,
    MEM_Int,
    Mem_n,
    MEM_Null,
    MEM_Real,
    MEM_Str,
    Mem_u,
    Mem_z,
    SQLITE_UTF8,
    Vdbe_aOp,
    Vdbe_db,
    Vdbe_nOp,
    Vdbe_pFrame,
    VdbeOp_opcode,
    VdbeOp_p1,
    VdbeOp_p2,
    VdbeOp_p3,
    VdbeOp_p4,
    VdbeOp_p4type,
    VdbeOp_p5,
    sizeof_VdbeOp,
    sqlite3_context_argc,
    sqlite3_context_pFunc,
    sqlite3_enc,
)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.ablation import switches
from sqpyte.vm.opcodes.operands import NOWHERE, UNKNOWN, registers_of
from sqpyte.vm.opcodes.table import TABLE, kind
from sqpyte.vm.program import column_slots, liveness, loop_heads
from sqpyte.vm.program.bound import annotate_bound
from sqpyte.vm.program.flow import declaration_of
from sqpyte.vm.program.interner import Program, constants, interner
from sqpyte.vm.values import functions
from sqpyte.vm.values.compare import BINARY, OTHER
from sqpyte.vm.values.values import CONSTANT, NULL, W_Int, W_Real, W_Text, text_at

_OP_STRING = opcodes.OP_String
_OP_STRING8 = opcodes.OP_String8
_OP_AGGSTEP = opcodes.OP_AggStep
_OP_AGGSTEP1 = opcodes.OP_AggStep1
_WITH_AFFINITIES = kind('affinities')


class Op(object):
    """One decoded opcode."""
    _immutable_fields_ = ['opcode', 'p1', 'p2', 'p3', 'p4', 'p5', 'w_p4', 'text_p4', 'collation',
                          'collations[*]', 'sort_flags[*]', 'aggregate', 'function',
                          'arguments', 'pattern', 'date_part', 'skip_register', 'record', 'ordered',
                          'readers[*]', 'live[*]', 'live_after[*]', 'dead[*]', 'fields',
                          'covered', 'loop', 'seeks', 'for_writing', 'alternate',
                          'alternate_column', 'exact', 'reads[*]', 'writes[*]', 'touched[*]',
                          'moves[*]', 'loads[*]', 'stepped[*]', 'kept[*]', 'dropped[*]',
                          'cleared[*]', 'slots[*]', 'alternate_slots[*]', 'in_c', 'next_key',
                          'next_key_size', 'corrupt', 'interruptible', 'counted', 'ends_accumulators']

    def __init__(self, opcode, p1, p2, p3, p5):
        self.opcode = opcode
        self.p1 = p1
        self.p2 = p2
        self.p3 = p3
        self.p4 = 0                 # P4 as an integer
        self.p5 = p5
        self.w_p4 = None            # P4 as a value
        self.text_p4 = None         # P4 as a string: affinities
        self.collation = 0          # of a comparison
        self.collations = None      # of a KeyInfo, with sort_flags
        self.sort_flags = None
        self.aggregate = 0          # kind of a built-in aggregate
        self.function = 0           # kind of a function (functions.py)
        self.pattern = 0            # address of LIKE's constant pattern, prepared
        self.date_part = 0          # what strftime's constant format names
        self.arguments = 0          # how many the function P4 is called with
        self.skip_register = 0      # register that min() and max() set when they skip a row
        self.record = -1            # register with the record of the pseudo-cursor P1
        self.ordered = False        # an ElseEq may ask how a comparison came out
        self.readers = []           # pseudo-cursors that read the sorter P1
        self.live = []              # registers live before this opcode
        self.live_after = []        # registers live after it
        self.dead = []              # of a loop's last opcode: registers dead at the loop's head;
        #                             of a Gosub: live in its subroutine for other callers' sake
        self.interruptible = False  # upstream looks for an interrupt here
        self.counted = 1            # 0 of opcodes that upstream hasn't, which it wouldn't count
        self.corrupt = 0            # of a Column: where the program goes on if a record is corrupt, or 0
        self.next_key = 0           # of a SeekScan: first register and number of those that the
        self.next_key_size = 0      # SeekGE behind it seeks by
        self.fields = 0             # room for MakeRecord's fields
        self.foreign = False        # it calls a virtual table's module
        self.for_writing = False    # a Rowid or Column of a cursor that may write
        self.covered = False        # has a handler
        self.seeks = False          # goes down a B-tree
        self.loop = False           # a backward jump of it closes a loop
        self.map_p4 = None          # P4 of a DeferredSeek: the columns that the index has
        self.alternate = NOWHERE    # of a Column whose cursor's seek is deferred: the index cursor
        self.alternate_column = 0   # that has the column, and which of its columns it is
        self.exact = False          # C can run it without getting the whole frame; then:
        self.reads = []             # the registers that it reads
        self.writes = []            # and writes
        self.touched = []           # both
        self.moves = []             # the cursors that it moves
        self.loads = []             # of a loop's head (loop_heads.py): registers that are loaded there,
        self.stepped = []           # cursors of which is known where the leaf page is,
        self.kept = []              # where the row is,
        self.dropped = []           # and nothing at all; and these cursors' slots
        self.cleared = []
        self.slots = []             # by column of cursor P1: its slot in Frame.columns, or -1
        self.alternate_slots = []   # the same of the cursor `alternate`
        self.in_c = False           # C executes it: it is switched off (ablation.py), or ends accumulators
        self.ends_accumulators = False  # may write over a user's unfinished one: calls its xFinalize

    def estimated_size(self):
        """How many bytes it takes, about: with its lists, but not those that it shares."""
        numbers = len(self.reads) + len(self.writes) + len(self.touched) + len(self.moves)
        return 500 + 8 * (numbers + len(self.dead) + len(self.live_after))


def program_of(vdbe):
    """The Program of a Vdbe (address). The caller remembers it."""
    size = capi.program_key(vdbe, 0, 0)
    buffer = mem.alloc(size)
    capi.program_key(vdbe, buffer, size)
    content = text_of(buffer, size)
    mem.free(buffer)
    try:
        return interner.by_content[content]
    except KeyError:
        pass
    outer = constants.addresses     # of what is being decoded, where a signal's handler does this
    constants.addresses = []
    base = mem.i64(vdbe, Vdbe_aOp)
    encoding = mem.u8(mem.i64(vdbe, Vdbe_db), sqlite3_enc)
    ops = []
    for pc in range(mem.i32(vdbe, Vdbe_nOp)):
        ops.append(_decode(base + pc * sizeof_VdbeOp, encoding))
        if ops[pc].opcode == opcodes.OP_MemMax and mem.i64(vdbe, Vdbe_pFrame):
            ops[pc].p1 = 0              # a register of the main program, not of this one
    _link(ops)
    _link_indexes(ops)
    nregisters, ncursors = liveness.annotate(ops)
    slots, nslots = column_slots.annotate_columns(ops, ncursors)
    loop_heads.annotate_loops(ops, slots)
    unseen = annotate_bound(ops, nregisters)
    program = Program(ops[:], nregisters, ncursors, nslots, unseen[:], interner.new_number(), content,
                      constants.addresses)
    constants.addresses = outer
    interner.add(program)
    return program


def c_string(address):
    """The zero-terminated string at address."""
    size = 0
    while mem.u8(address + size):
        size += 1
    return text_of(address, size)


def text_of(address, size):
    """The bytes at address as a str, for keys and comparisons (Latin-1 under Python 3)."""
    data = mem.copy_bytes(address, size)
    if not isinstance(data, str):
        data = data.decode('latin-1')
    return data


def _decode(at, encoding):
    """Decode the VdbeOp at address `at` of a database with that encoding. Whatever is looked at here is in
    sqpyte_program_key."""
    opcode = mem.u8(at, VdbeOp_opcode)
    p4type = mem.u8(at, VdbeOp_p4type)
    if p4type >= 128:
        p4type -= 256
    p1 = mem.i32(at, VdbeOp_p1)
    p4 = mem.i64(at, VdbeOp_p4)
    if opcode == _OP_AGGSTEP1:          # its first run in C has changed it
        opcode = opcodes.OP_AggInverse if p1 else _OP_AGGSTEP
    if opcode == opcodes.OP_Init or opcode == opcodes.OP_Once:
        p1 = 0                          # a counter
    if opcode == _OP_STRING8 and encoding == SQLITE_UTF8:   # as its first run in C makes it
        p1 = len(c_string(p4))
        opcode = _OP_STRING
    op = Op(opcode, p1, mem.i32(at, VdbeOp_p2), mem.i32(at, VdbeOp_p3), mem.u16(at, VdbeOp_p5))
    if opcode == _OP_STRING:
        text = text_of(p4, p1)
        op.w_p4 = text_at(constants.text(text), p1, CONSTANT, encoding)
    elif opcode == opcodes.OP_Integer:
        op.w_p4 = W_Int(p1)
    elif opcode == opcodes.OP_Int64:
        op.w_p4 = W_Int(_two_halves(op))
    elif opcode == opcodes.OP_Real:
        op.w_p4 = W_Real(mem.bits_real(_two_halves(op)))
    elif p4type == P4_COLLSEQ:
        op.collation = _collation(p4, encoding)
    elif p4type == P4_KEYINFO:
        _decode_key_info(op, p4, encoding)
    elif p4type == P4_INT32:
        op.p4 = mem.i32(at, VdbeOp_p4)
    elif p4type == P4_INTARRAY and opcode == opcodes.OP_Permutation:
        for i in range(mem.i32(p4)):
            op.p3 = max(op.p3, mem.i32(p4 + 4 * i, 4) + 1)     # how far it reaches
    elif p4type == P4_INTARRAY and opcode == opcodes.OP_DeferredSeek:
        op.map_p4 = [mem.i32(p4 + 4 * i) for i in range(mem.i32(p4) + 1)]
    elif p4type == P4_FUNCDEF:
        op.aggregate = capi.aggregate_kind(p4)
        op.function = capi.function_kind(p4, encoding)
        op.arguments = op.p5            # if it is a step
    elif p4type == P4_FUNCCTX:
        op.arguments = mem.u16(p4 + sqlite3_context_argc)
        function = mem.i64(p4 + sqlite3_context_pFunc)
        op.aggregate = capi.aggregate_kind(function)
        op.function = capi.function_kind(function, encoding)
    elif opcode == opcodes.OP_Column:
        _decode_default(op, p4type, p4, encoding)
    elif _WITH_AFFINITIES[opcode] and p4 != 0 and p4type != 0:
        op.text_p4 = c_string(p4)
    return op


def _two_halves(op):
    """The signed 64 bits of which P1 is the lower half and P3 the upper."""
    return (op.p3 << 32) | (op.p1 & 0xFFFFFFFF)


def _decode_default(op, p4type, p4, encoding):
    """The value of a column that a record is too short to have."""
    op.w_p4 = NULL
    if p4type != P4_MEM:
        return
    flags = mem.u16(p4, Mem_flags) & 0x1f
    if flags == MEM_Int:
        op.w_p4 = W_Int(mem.i64(p4, Mem_u))
    elif flags == MEM_Real:
        op.w_p4 = W_Real(mem.f64(p4, Mem_u))
    elif flags == MEM_Str and mem.u8(p4, Mem_enc) == encoding:
        text = text_of(mem.i64(p4, Mem_z), mem.i32(p4, Mem_n))
        op.w_p4 = text_at(constants.text(text), len(text), CONSTANT, encoding)
    elif flags != MEM_Null:
        op.w_p4 = None


def _collation(address, encoding):
    """BINARY, NOCASE, RTRIM or OTHER: in a UTF-16 database C compares by all but BINARY, which takes bytes."""
    found = capi.collation_kind(address)
    return found if found == BINARY or encoding == SQLITE_UTF8 else OTHER


def _decode_key_info(op, key_info, encoding):
    """Collations and sort flags of a KeyInfo: of all of its columns, which comparisons may use."""
    flags_at = mem.i64(key_info, KeyInfo_aSortFlags)
    if flags_at == 0 or op.p5 & OPFLAG_PERMUTE:
        return
    # The flags lie behind the collations. UPDATE FROM and sorters raise nAllField above what there is.
    n = min(mem.u16(key_info, KeyInfo_nAllField), (flags_at - key_info - KeyInfo_aColl) // 8)
    collations = []
    sort_flags = []
    for i in range(n):
        collations.append(_collation(mem.i64(key_info + KeyInfo_aColl + 8 * i), encoding))
        sort_flags.append(mem.u8(flags_at + i))
    op.collations = collations[:]
    op.sort_flags = sort_flags[:]


# Where upstream looks for an interrupt, of the opcodes that have handlers.
_LOOKS_FOR_INTERRUPT = kind('looks-for-interrupt')
_OPENS_VIRTUAL = kind('opens-virtual')
_CALLS_MODULE = kind('calls-module')


def _link(ops):
    """Fill in what an opcode knows from others: its handler's presence, whether comparisons are
    asked how they came out, the record register of a pseudo-cursor, the readers of a sorter, the
    CollSeq before min() and max(), a function's constant pattern, whether a Rowid's or a
    Column's cursor can write or is a virtual table's, and whether it looks for an interrupt."""
    records = {}
    writers = {}
    readers = {}
    foreign = {}                        # cursors of virtual tables
    ordered = False
    for op in ops:
        if op.opcode == opcodes.OP_ElseEq:
            ordered = True
        elif op.opcode == opcodes.OP_OpenWrite:
            writers[op.p1] = True
        elif op.opcode == opcodes.OP_OpenPseudo:
            records[op.p1] = op.p2
        elif _OPENS_VIRTUAL[op.opcode]:
            foreign[op.p1] = True
        elif op.opcode == opcodes.OP_SorterData:
            readers[op.p1] = readers.get(op.p1, []) + [op.p3]
    previous = None
    texts = ConstantTexts(ops)
    for pc in range(len(ops)):
        op = ops[pc]
        declaration = TABLE.get(op.opcode, None)
        op.foreign = _CALLS_MODULE[op.opcode] and op.p1 in foreign
        op.covered = declaration is not None and not op.foreign
        op.loop = declaration is not None and declaration.loop
        op.seeks = declaration is not None and declaration.seeks
        op.ordered = ordered
        op.interruptible = _LOOKS_FOR_INTERRUPT[op.opcode]
        op.in_c = switches.in_c[op.opcode] != 0
        if op.opcode == opcodes.OP_Memoize:
            store = ops[op.p2 - 1]
            store.counted = 0
            for before in range(store.p2):
                ops[pc - before].counted = 0
        elif op.opcode == opcodes.OP_Column:
            op.record = records.get(op.p1, -1)
            op.for_writing = op.p1 in writers
        elif op.opcode == opcodes.OP_Rowid:
            op.for_writing = op.p1 in writers
        elif op.opcode == opcodes.OP_SorterNext:
            op.readers = readers.get(op.p1, [])[:]
        elif op.opcode == opcodes.OP_MakeRecord:
            op.fields = constants.alloc(24 * max(op.p2, 1))
        elif op.opcode == opcodes.OP_Compare and op.p5 & OPFLAG_PERMUTE and previous is not None:
            op.p3 = previous.p3         # C's affair: all registers that the Permutation names
        elif op.opcode == _OP_AGGSTEP and previous is not None:
            if previous.opcode == opcodes.OP_CollSeq:
                op.skip_register = previous.p1
        elif op.opcode == opcodes.OP_Function or op.opcode == opcodes.OP_PureFunc:
            if previous is not None and previous.opcode == opcodes.OP_CollSeq:
                op.collation = previous.collation
            else:
                op.collation = OTHER
            _prepare_call(op, texts)
        previous = op


_OPENS_BTREE = kind('opens-btree')
_OPENS_EPHEMERAL = kind('opens-ephemeral')
_COMPARES_INDEX = kind('index-comparison')


def _link_indexes(ops):
    """Fill in what the opcodes of an index know from its Open: collations and sort flags; and
    where a Column finds its value as long as the seek of its cursor is deferred."""
    opened = {}
    several = {}
    seeks = {}
    for op in ops:
        if _OPENS_BTREE[op.opcode] or _OPENS_EPHEMERAL[op.opcode]:
            if op.p1 in opened:
                several[op.p1] = True
            opened[op.p1] = op
        elif op.opcode == opcodes.OP_DeferredSeek:
            seeks[op.p3] = seeks.get(op.p3, []) + [op]
    for op in ops:
        if _COMPARES_INDEX[op.opcode] and op.p1 in opened and op.p1 not in several:
            op.collations = opened[op.p1].collations
            op.sort_flags = opened[op.p1].sort_flags
        elif op.opcode == opcodes.OP_Column and op.p1 in seeks:
            _link_alternate(op, seeks[op.p1])


def _link_alternate(op, seeks):
    """Set where a Column finds its value while the seek of its cursor is deferred."""
    if len(seeks) > 1:
        op.alternate = UNKNOWN
        return
    columns = seeks[0].map_p4
    if columns is None or op.p2 + 1 >= len(columns) or columns[op.p2 + 1] <= 0:
        return
    op.alternate = seeks[0].p1
    op.alternate_column = columns[op.p2 + 1] - 1


def _prepare_call(op, texts):
    """Prepare what a function's first argument says, if that is a constant text."""
    kind = op.function
    like = kind == functions.LIKE or kind == functions.LIKE_CASE or kind == functions.GLOB
    if not (like or kind == functions.STRFTIME) or op.p1 & 1 == 0:
        return
    w = texts.get(op.p2)
    if not isinstance(w, W_Text):
        return
    if like:
        prepared = constants.alloc(2 * w.size + 8)
        if capi.prepare_pattern(w.address, w.size, kind, prepared):
            op.pattern = prepared
    else:
        op.date_part = functions.date_part(text_of(w.address, w.size))


class ConstantTexts(object):
    """The W_Text that a register always has when it is read: nothing but one String writes it."""

    def __init__(self, ops):
        self.ops = ops
        self.writers = {}           # register -> the one opcode that writes it, or None
        self.known = False

    def get(self, r):
        """The W_Text of register r, or None if it isn't such a register."""
        if not self.known:
            self.known = True
            self._find_writers()
        op = self.writers.get(r, None)
        if op is None or op.opcode != _OP_STRING or op.p3 != 0:
            return None
        return op.w_p4

    def _find_writers(self):
        for op in self.ops:
            declaration = declaration_of(op)
            if declaration is None:
                self.writers = {}
                return
            for r in registers_of(op, declaration.write_spans, 0):
                self.writers[r] = None if r in self.writers else op
