"""The untranslated VM: installs the RPython code, run as plain Python 3, into the engine.

For tests only: it is a thousand times slower than the translated VM, and needs no translation.
"""
import os

from c_engine.generated.layout import (
    MEM_Ephem, MEM_Static, Mem_flags, Mem_z, Vdbe_nCursor, Vdbe_nMem)
from c_engine.generated.opcodes import OP_IsType
from sqpyte.vm import frame, interp
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.mem import ffi
from sqpyte.vm.opcodes.table import BAIL_OUT
from sqpyte.vm.values.values import IN_MEM, W_Bytes

MODE_OFF, MODE_HOT, MODE_ALWAYS = 0, 1, 2

DECLARATIONS = '''
    void sqpyte_set_vm(int (*)(void *));
    int sqpyte_set_mode(int mode, int threshold);
'''
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       'build', 'libsqpyte-engine.so')
_installed = []
runs = [0]


def install(path=LIBRARY, mode=MODE_ALWAYS, threshold=0):
    """Run the statements of the engine at path through the VM, in this thread.

    Args: path of the engine's library; mode, MODE_*; threshold, back-edges before a loop is
        hot (0 keeps it).
    """
    if not _installed:
        capi.load(path, DECLARATIONS)
        interp.start()

        @ffi.callback('int(void *)', error=1)
        def enter(vdbe):
            runs[0] += 1
            return interp.run(int(ffi.cast('intptr_t', vdbe)))
        _installed.append(enter)
    capi.library.sqpyte_set_vm(_installed[0])
    set_mode(mode, threshold)


def set_mode(mode, threshold=0):
    """Set when the VM takes statements over: MODE_OFF, MODE_HOT or MODE_ALWAYS."""
    if capi.library.sqpyte_set_mode(mode, threshold) != 0:
        raise ValueError('mode is MODE_OFF, MODE_HOT or MODE_ALWAYS, not %r' % (mode,))


def poison(all_in_c):
    """From now on overwrite every register that isn't live before C goes on (one opcode, or the
    rest of the statement): a register effect that is declared wrongly shows as a wrong answer.

    Args: all_in_c, whether every opcode is to run in C, so that all declarations are tried.
    """
    save = frame.Frame.save
    spill_for = frame.Frame.spill_for

    def save_and_poison(self, pc, live):
        rc = save(self, pc, live)
        if rc == 0:
            overwrite(self, set(live))
        return rc

    def spill_and_poison(self, op):
        rc = spill_for(self, op)
        if rc == 0:
            kept = set(op.reads)
            for r in op.live + op.live_after:
                w = self.registers[r]
                if w is IN_MEM:
                    kept.add(r)
                elif isinstance(w, W_Bytes) and w.origin >= 0:
                    kept.add(w.origin)
            overwrite(self, kept)
        return rc

    def overwrite(self, kept):
        last = mem.i32(self.vdbe, Vdbe_nMem) - max(mem.i32(self.vdbe, Vdbe_nCursor), 1)
        # What C has copied without its bytes (SCopy) has them in the register that it came from.
        shared = set()
        for r in kept:
            if mem.u16(self.mem_address(r), Mem_flags) & (MEM_Ephem | MEM_Static):
                shared.add(mem.i64(self.mem_address(r), Mem_z))
        for r in range(1, last + 1):
            if r not in kept and mem.i64(self.mem_address(r), Mem_z) not in shared:
                capi.set_null(self.mem_address(r))
                capi.set_int(self.mem_address(r), POISON)

    dispatch = interp.dispatch

    def bail_out(frame, op, pc):
        return dispatch(frame, op, pc) if op.opcode == OP_IsType else BAIL_OUT
    frame.Frame.save = save_and_poison
    frame.Frame.spill_for = spill_and_poison
    if all_in_c:
        interp.dispatch = bail_out


POISON = -0x1122334455667788
