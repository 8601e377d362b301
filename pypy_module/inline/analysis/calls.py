"""What the analysis of a loop needs of a statement beyond its decoded program.

That is: which function calls are of functions written in Python, with how many arguments, and
which cursors read tables.  Read from the VdbeOp array once, when a statement becomes hot.
"""

from c_engine.generated import layout, opcodes
from pypy_module.ffi.library import lib
from pypy_module.ffi.memory import data_at
from pypy_module.inline.analysis.kinds import CALLS, COMPARISONS, RESULTS
from sqpyte.vm.base import capi, mem
from sqpyte.vm.values.compare import OTHER


class Calls:
    """The facts about one statement.

    Attributes:
        arguments: number of arguments (int) by the pc of a call.
        python: pcs of the calls of functions and aggregates written in Python, and of comparisons by
            collations written in Python (set); `collations`: of the latter.
        results: pcs of AggValue and AggFinal of such aggregates (set).
        definitions: by such a pc, the address of its SqpyteFunction (see c_engine/rows/fused.h).
        functions: by the pc of an aggregate's step, the address of its FuncDef.
        names: names of the other functions (str) by pc.
        built_in: pcs of calls of SQLite's own functions (set).
        pure: pcs of calls of SQLite's own functions and aggregates whose results depend on nothing
            but their arguments (set).
        subtypes: one of them asks for its arguments' subtypes, as JSON's do, which no datum has (bool).
        foreign_collation: texts are compared by a collation that isn't SQLite's own, elsewhere (bool).
        tables: numbers of the cursors that are opened to read a rowid table (set).
        key: what of this decides how a loop is inlined (hashable).
    """

    def __init__(self, vdbe, ops):
        """Take the address of the Vdbe and its decoded opcodes (list of Op)."""
        self.arguments: dict = {}
        self.python: set = set()
        self.results: set = set()
        self.definitions = {}
        self.functions = {}
        self.names: dict = {}
        self.built_in: set = set()
        self.pure: set = set()
        self.collations = set()
        self.subtypes = False
        self.foreign_collation = False
        self.tables = set()
        base = mem.i64(vdbe + layout.Vdbe_aOp)
        for pc, op in enumerate(ops):
            at = base + pc * layout.sizeof_VdbeOp
            p4type = mem.u8(at + layout.VdbeOp_p4type) - 256
            if op.opcode == opcodes.OP_OpenRead and p4type == layout.P4_INT32:
                self.tables.add(op.p1)
            elif op.opcode in CALLS:
                self._call(pc, op, p4type, mem.i64(at + layout.VdbeOp_p4))
            elif op.opcode in RESULTS and p4type == layout.P4_FUNCDEF:
                self._result(pc, mem.i64(at + layout.VdbeOp_p4))
            elif p4type == layout.P4_COLLSEQ:
                self._comparison(pc, op, mem.i64(at + layout.VdbeOp_p4))
            elif p4type == layout.P4_KEYINFO:
                key_info = mem.i64(at + layout.VdbeOp_p4)
                for field in range(mem.u16(key_info + layout.KeyInfo_nAllField)):
                    self._collation(mem.i64(key_info + layout.KeyInfo_aColl + 8 * field))
        self.key = (tuple(sorted(self.arguments.items())), tuple(sorted(self.names.items())),
                    tuple(sorted(self.python)),
                    tuple(sorted(self.results)),
                    tuple(sorted(self.tables)), tuple(sorted(self.built_in)),
                    tuple(sorted(self.pure)), self.subtypes, self.foreign_collation)

    def _call(self, pc, op, p4type, p4):
        """Note the facts about the call at `pc`."""
        if p4type == layout.P4_FUNCCTX:
            function = mem.i64(p4 + layout.sqlite3_context_pFunc)
            count = mem.u16(p4 + layout.sqlite3_context_argc)
        elif p4type == layout.P4_FUNCDEF:
            function = p4
            count = op.p5
        else:
            return
        self.arguments[pc] = count
        self._judge(pc, function)
        flags = mem.i32(function + layout.FuncDef_funcFlags)
        if flags & layout.SQLITE_SUBTYPE:
            self.subtypes = True
        definition = lib.sqpyte_python_function(function)
        if definition:
            self.python.add(pc)
            self.definitions[pc] = definition
            self.functions[pc] = function
        else:
            self.names[pc] = name_at(mem.i64(function + layout.FuncDef_zName))
            if flags & (layout.SQLITE_FUNC_BUILTIN | layout.SQLITE_FUNC_EPHEM) == layout.SQLITE_FUNC_BUILTIN:
                self.built_in.add(pc)       # and isn't overloaded by a virtual table

    def _result(self, pc, function):
        """Note the facts about the AggValue or AggFinal at `pc` of the FuncDef at `function`."""
        self._judge(pc, function)
        if lib.sqpyte_python_function(function):
            self.results.add(pc)

    def _judge(self, pc, function):
        """Note whether the call at `pc` of the FuncDef at `function` is pure."""
        if lib.sqpyte_pure_function(function):
            self.pure.add(pc)

    def _comparison(self, pc, op, collation):
        """Note the facts about an opcode with the CollSeq at an address."""
        definition = 0
        if op.opcode in COMPARISONS and op.p5 & layout.SQLITE_AFF_MASK < layout.SQLITE_AFF_NUMERIC:
            definition = lib.sqpyte_python_collation(collation)
        if definition:
            self.python.add(pc)
            self.collations.add(pc)
            self.definitions[pc] = definition
        else:
            self._collation(collation)

    def _collation(self, collation):
        """Note the CollSeq at an address, 0 for the usual one."""
        if capi.collation_kind(collation) == OTHER:
            self.foreign_collation = True


def name_at(address):
    """The zero-terminated text at an address (str)."""
    size = 0
    while mem.u8(address + size):
        size += 1
    return data_at(address, size).decode()
