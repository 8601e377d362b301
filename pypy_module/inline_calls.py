"""What the analysis of a loop needs of a statement beyond its decoded program.

That is: which function calls are of functions written in Python, with how many arguments, and
which cursors read tables.  Read from the VdbeOp array once, when a statement becomes hot.
"""

from c_engine.generated import layout, opcodes
from pypy_module.inline_memory import data_at
from pypy_module.library import lib
from sqpyte import mem

CALLS = (opcodes.OP_Function, opcodes.OP_PureFunc, opcodes.OP_AggStep, opcodes.OP_AggStep1)


class Calls:
    """The facts about one statement.

    Attributes:
        arguments: number of arguments (int) by the pc of a call.
        python: pcs of the calls of functions and aggregates written in Python (set).
        definitions: by such a pc, the address of its SqpyteFunction (see c_engine/fused.h).
        functions: by the pc of an aggregate's step, the address of its FuncDef.
        names: names of the other functions (str) by pc.
        built_in: pcs of calls of SQLite's own functions (set).
        tables: numbers of the cursors that are opened to read a rowid table (set).
        key: what of this decides how a loop is inlined (hashable).
    """

    def __init__(self, vdbe, ops):
        """Take the address of the Vdbe and its decoded opcodes (list of Op)."""
        self.arguments = {}
        self.python = set()
        self.definitions = {}
        self.functions = {}
        self.names = {}
        self.built_in = set()
        self.tables = set()
        base = mem.i64(vdbe + layout.Vdbe_aOp)
        for pc, op in enumerate(ops):
            at = base + pc * layout.sizeof_VdbeOp
            p4type = mem.u8(at + layout.VdbeOp_p4type) - 256
            if op.opcode == opcodes.OP_OpenRead and p4type == layout.P4_INT32:
                self.tables.add(op.p1)
            elif op.opcode in CALLS:
                self._call(pc, op, p4type, mem.i64(at + layout.VdbeOp_p4))
        self.key = (tuple(sorted(self.arguments.items())), tuple(sorted(self.python)),
                    tuple(sorted(self.tables)), tuple(sorted(self.built_in)))

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
        definition = lib.sqpyte_python_function(function)
        if definition:
            self.python.add(pc)
            self.definitions[pc] = definition
            self.functions[pc] = function
        else:
            self.names[pc] = name_at(mem.i64(function + layout.FuncDef_zName))
            if mem.i32(function + layout.FuncDef_funcFlags) & layout.SQLITE_FUNC_BUILTIN:
                self.built_in.add(pc)


def name_at(address):
    """The zero-terminated text at an address (str)."""
    size = 0
    while mem.u8(address + size):
        size += 1
    return data_at(address, size).decode()
