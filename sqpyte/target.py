"""Translation target: `rpython -Ojit --shared sqpyte/target.py` makes libsqpyte.so.

The library is the engine (linked from build/engine/engine.o, whose sqlite3 API stays exported)
and the VM, which the engine enters through `sqpyte_vm_run` when a statement is hot.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rlib.entrypoint import entrypoint_highlevel

from sqpyte import capi, interp


class _State(object):
    started = False


_state = _State()


@entrypoint_highlevel('main', [rffi.VOIDP], c_name='sqpyte_vm_run')
def sqpyte_vm_run(vdbe):
    """See engine.h."""
    if not _state.started:
        _state.started = True
        interp.start()
    return rffi.cast(rffi.INT, interp.run(rffi.cast(lltype.Signed, vdbe)))


def main(argv):
    """The program that a translation must have; the library's user never calls it."""
    return 0


def target(driver, args):
    """What the translation tool chain asks for."""
    driver.exe_name = 'libsqpyte'
    return main, None
