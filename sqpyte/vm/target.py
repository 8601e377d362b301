"""Translation target: `rpython -Ojit --shared sqpyte/vm/target.py` makes libsqpyte.so.

The library is the engine (linked from build/engine/engine.o, whose sqlite3 API stays exported)
and the VM, which the engine enters through `sqpyte_vm_run` when a statement is hot.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from rpython.memory.gc import env
from rpython.rlib.debug import debug_print_traceback
from rpython.rlib.entrypoint import entrypoint_lowlevel
from rpython.rlib.rstack import _stack_set_length_fraction
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.lloperation import llop

from c_engine.generated.layout import SQLITE_INTERNAL
from sqpyte.vm import interp
from sqpyte.vm.base import jit_fixes

assert jit_fixes, 'the optimizer is mended before it is translated'

# Where the RPython heap's objects are made.  RPython would take half of the processor's largest
# cache, up to tens of MB, which an interpreter needs for its program's objects. Here traces make
# none, but tracing does.  The library knows no PYPY_GC_NURSERY.
NURSERY = 1 << 20
# Of RPython's 768 KiB: 2 ** 49 bytes, where a process has 2 ** 47.
STACK_FRACTION = float((1 << 49) // (768 << 10))
env.estimate_best_nursery_size = lambda: NURSERY


class _State(object):
    started = False


_state = _State()


# Not entrypoint_highlevel: that acquires a lock which a nested call would wait for (a trigger's program). Of the
# engine's threads one at a time calls.
@entrypoint_lowlevel('main', [rffi.VOIDP], c_name='sqpyte_vm_run')
def sqpyte_vm_run(vdbe):
    """See engine.h."""
    rffi.stackcounter.stacks_counter += 1
    llop.gc_stack_bottom(lltype.Void)
    if not _state.started:
        _state.started = True
        # The VM doesn't recurse; how deep its caller's stack is, and whether it is a thread's or a fiber's, is the
        # caller's affair. RPython would raise StackOverflow on a stack further away than this from the one that the
        # thread was seen on first: no two addresses are.
        _stack_set_length_fraction(STACK_FRACTION)
        interp.start()
        rffi.stackcounter.stacks_counter -= 1
        return rffi.cast(rffi.INT, 0)
    address = rffi.cast(lltype.Signed, vdbe)
    try:
        result = interp.run(address)
    except Exception:           # left behind, it would end the runs to come, which would look like success
        debug_print_traceback()
        result = interp.end(address, SQLITE_INTERNAL)
    rffi.stackcounter.stacks_counter -= 1
    return rffi.cast(rffi.INT, result)


def main(argv):
    """The program that a translation must have; the library's user never calls it."""
    return 0


def target(driver, args):
    """What the translation tool chain asks for."""
    driver.exe_name = 'libsqpyte'
    return main, None
