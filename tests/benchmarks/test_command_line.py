"""`python -m benchmarks` by a Python that lacks what it needs: it says which one to take."""

import subprocess
import sys

from tools.environments import ROOT


def test_another_python():
    code = 'import runpy, sys; sys.modules["rich"] = None; runpy.run_module("benchmarks", run_name="__main__")'
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    assert done.returncode == 2
    assert done.stdout == 'error: run it with build/pypy-env/bin/python (`make` makes it)\n'
