"""Which C functions may run SQL, and so enter the VM again: RPython's declarations and C agree."""
import glob
import os
import re

from c_engine.build.build import ROOT

from sqpyte.vm.base import capi


def functions():
    """The bodies (str) of C's functions by name, as they are laid out: from the first column to a brace in it."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, 'c_engine', '*', '*.c')):
        with open(path) as file:
            text = file.read()
        for name, body in re.findall(r'^\w[^\n;=]*?\b(\w+)\([^;{}]*\)\{\n(.*?)^\}', text, re.DOTALL | re.MULTILINE):
            found[name] = body
    return found


def test_they_open_the_vm():
    """Around these alone RPython has nothing half changed, and in these alone the VM can be entered."""
    declared = {name for name, (_, _, again) in capi.FUNCTIONS.items() if again}
    assert declared == {name for name, body in functions().items() if 'sqpyteOpenVm()' in body}


def test_they_close_it():
    """Each puts back what was before, and has one way out."""
    for name, body in functions().items():
        if 'sqpyteOpenVm()' in body:
            assert body.count('sqpyteClosed = closed;') == 1 == body.count('return'), name
