"""What the VM believes of a program, given to the checking build of the C tier (c_engine/effects/).

`install` has that library ask, for each program, for what `liveness.annotate` has found: the registers
that each opcode reads and writes, the cursors that it moves, the opcodes that may follow, and which
registers are live. It then runs the opcodes alone and stops at whatever differs. For tests only, and
plain Python only, as sqpyte/vm/host.py.
"""
from c_engine.generated.layout import Vdbe_nCursor, Vdbe_nOp
from sqpyte.vm import interp
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.mem import ffi
from sqpyte.vm.opcodes.table import ALL, WRITTEN
from sqpyte.vm.program import liveness
from sqpyte.vm.program.decode import program_of
from sqpyte.vm.program.interner import interner

ANY = -1
KEPT = 200      # programs that stay decoded
DECLARATIONS = '''
    void sqpyte_effects_set_provider(int (*)(void *));
    void sqpyte_effects_give(const int *, int, const int *, int);
'''
_installed = []
programs = [0]


def spans(registers):
    """Registers (iterable of int) as a list: how many spans, then first and end of each."""
    found = []
    for r in sorted(set(registers)):
        if found and found[-1] == r:
            found[-1] = r + 1
        else:
            found += [r, r + 1]
    return [len(found) // 2] + found


def record(ops, pc, highest, others):
    """What is believed of the opcode at pc, as effects.h's SqpyteProgram has it (list of int).

    `others`: numbers of cursors that the VM keeps nothing of (list of int): any opcode may move them.
    """
    op = ops[pc]
    declaration = liveness.declaration_of(op)
    if declaration is None:
        everything = spans(range(1, highest + 1))
        return everything + everything + [0, ANY, ANY, ANY, ANY]
    found = spans(liveness.registers_of(op, declaration.read_spans, highest) + op.reads)
    found += spans(liveness.registers_of(op, declaration.write_spans, highest) + op.writes)
    found += spans(liveness.registers_of(op, declaration.convert_spans, highest))
    moves = op.moves + others
    found += [len(moves)] + moves if op.exact else [ANY]
    touched = [ANY]
    if ALL not in declaration.touched and WRITTEN not in declaration.touched:
        touched = [len(declaration.touched)] + [liveness.operand(op, n) for n in declaration.touched]
    following = liveness.successors(ops, pc)
    return found + touched + [len(following)] + following + spans(op.live)


def give(vdbe):
    """Give the library what is believed of the program of vdbe (address)."""
    program = program_of(vdbe)
    records, places = [], []
    others = list(range(program.ncursors, mem.i32(vdbe, Vdbe_nCursor)))
    for pc in range(len(program.ops)):
        places.append(len(records))
        records += record(program.ops, pc, program.nregisters - 1, others)
    assert len(places) == mem.i32(vdbe, Vdbe_nOp)
    programs[0] += 1
    capi.library.sqpyte_effects_give(ffi.new('int[]', records), len(records), ffi.new('int[]', places),
                                     len(places))
    while len(interner.by_content) > KEPT:
        interner.forget(next(iter(interner.by_content.values())))


def install(path):
    """Have the checking build at path (str) ask for each program in this process."""
    if not _installed:
        capi.load(path, DECLARATIONS)
        interp.start()

        @ffi.callback('int(void *)', error=1)
        def provide(vdbe):
            give(int(ffi.cast('intptr_t', vdbe)))
            return 0
        _installed.append(provide)
    capi.library.sqpyte_effects_set_provider(_installed[0])
