"""A view that outlives its memory ends the process: in the VM as plain Python, texts are compared with what they were.

In the VM a text or blob is a view: of a page, of a sorter's record, of another register's memory. Whoever changes that
memory has to give the views of live registers memory of their own before. `install` notes the bytes of each view where
it is made, and compares them where the view is read, copied or written back. Dead registers aren't looked at, and not
those that an opcode reads which is declared to read all from one register on (Delete): most of them are dead.
"""
import os
import sys

from sqpyte.vm import frame, interp
from sqpyte.vm.base import mem
from sqpyte.vm.opcodes.table import TO_THE_END
from sqpyte.vm.program.flow import declaration_of
from sqpyte.vm.values.values import W_Bytes

# Exit code of a process in which a view was stale.
STALE = 97


def install():
    """Check views from now on, in this process."""
    noted = {}      # by id: the view, so that its id stays its own, and its bytes
    made = W_Bytes.__init__
    read, private, write_back_one = frame.Frame.read, frame.Frame.private, frame.Frame.write_back_one
    spill_for = frame.Frame.spill_for
    run = interp.run

    def note(self, address, size, origin):
        made(self, address, size, origin)
        noted[id(self)] = self, mem.copy_bytes(address, size)

    def check(w, where):
        if not isinstance(w, W_Bytes) or id(w) not in noted or passed_over[0]:
            return w
        was, now = noted[id(w)][1], mem.copy_bytes(w.address, w.size)
        if now != was:
            print('a view of %d bytes, origin %d, is stale in %s: %r was %r' % (
                w.size, w.origin, where, now[:40], was[:40]), file=sys.stderr)
            sys.stderr.flush()
            os._exit(STALE)
        return w

    def checked_read(self, r):
        return check(read(self, r), 'r[%d], which is read' % r)

    def checked_private(self, w):
        return private(self, check(w, 'a register that gets a copy'))

    def checked_write_back_one(self, r):
        w = self.registers[r]
        if isinstance(w, W_Bytes) and w.origin != r:
            check(w, 'r[%d], which is written back' % r)
        return write_back_one(self, r)

    def checked_spill_for(self, op):
        passed_over[0] = any(span.count == TO_THE_END for span in declaration_of(op).read_spans)
        try:
            return spill_for(self, op)
        finally:
            passed_over[0] = False

    def run_anew(vdbe):
        depth[0] += 1
        try:
            return run(vdbe)
        finally:
            depth[0] -= 1
            if not depth[0]:
                noted.clear()

    depth, passed_over = [0], [False]
    frame.Frame.spill_for = checked_spill_for
    W_Bytes.__init__ = note
    frame.Frame.read, frame.Frame.private = checked_read, checked_private
    frame.Frame.write_back_one = checked_write_back_one
    interp.run = run_anew
