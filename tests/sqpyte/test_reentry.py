"""What enters the VM: nothing but a step, and a trigger's program within it. RPython's declarations and C agree."""
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


def callers(call):
    """The names (set of str) of C's functions that have a call in their body."""
    return {name for name, body in functions().items() if call in body}


def test_a_run_within_a_run():
    """RPython knows of the only one: around it alone its objects may change in the middle of a call."""
    assert callers('sqpyteVm.xRun(') == {'sqpyteRunVm'}
    assert callers('sqpyteRunVm(') == {'sqpyteChangeTiers', 'sqpyteExecOne'}
    assert callers('sqpyteExecOne(') == {capi.REENTERS, 'sqpyteStepOne'}
    assert callers('sqpyteStepOne(') == {capi.REENTERS, 'sqpyteRunTo'}


def test_a_step_takes_the_vm():
    """Who is called by a statement in the VM finds it taken, and who takes it gives it back."""
    assert callers('sqpyteEnterVm()') == callers('sqpyteLeaveVm()') == {'sqpyteChangeTiers', 'sqpyteStartVm'}
    assert functions()['sqpyteEnterVm'].count('return') == 1
