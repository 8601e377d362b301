"""The first program of docs/start.md prints what is written there."""

import os
import platform
import re
import subprocess
import sys

import pytest

from pypy_module.ffi.place import ROOT


@pytest.mark.skipif(platform.python_implementation() != 'PyPy', reason="the inliner's report")
def test_the_first_program(tmp_path):
    with open(os.path.join(ROOT, 'docs', 'start.md'), encoding='utf-8') as file:
        page = file.read()
    program, shown = re.search(r'```python\n(.*?)```.*the output is\n\n(.*?)\n\nand then', page, re.S).groups()
    printed = subprocess.run([sys.executable, '-c', program], cwd=tmp_path, check=True, stdout=subprocess.PIPE,
                             env=dict(os.environ, PYTHONPATH=ROOT)).stdout.decode().splitlines()
    expected = [line[4:] for line in shown.splitlines()]
    assert printed[:len(expected)] == expected
