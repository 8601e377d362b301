"""The commands, in processes of their own."""

import subprocess
import sys

import pytest

from tools.environments import ROOT, inherited

OURS = ('-m', 'sqpyte')


class Ended:
    """What became of a process: its exit `code` (int), what it printed (`out`), and printed of errors (`err`; str)."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode('utf-8', 'backslashreplace')
        self.err = process.stderr.decode('utf-8', 'backslashreplace')


@pytest.fixture
def environment(engine_library):
    """The environment (dict) of a process that imports this checkout's sqpyte, with the engine's library."""
    return dict(inherited('SQPYTE_', 'PYTHON', 'LD_'), PYTHONPATH=ROOT, SQPYTE_LIBRARY=engine_library)


@pytest.fixture
def start(tmp_path, environment):
    """A function that runs this Python with arguments (str or bytes), in tmp_path; returns an Ended."""
    def start(*arguments, stdin=b'', **settings):
        return Ended(subprocess.run([sys.executable, *arguments], cwd=str(tmp_path), env=dict(environment, **settings),
                                    input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120))
    return start


@pytest.fixture
def shell(start):
    """A function that runs the shell; see `start`."""
    return lambda *arguments, **settings: start(*OURS, *arguments, **settings)


@pytest.fixture
def run(start):
    """A function that runs `python -m sqpyte run`; see `start`."""
    return lambda *arguments, **settings: start(*OURS, 'run', *arguments, **settings)


@pytest.fixture
def write(tmp_path):
    """A function that writes a file (its path within tmp_path) with a text (str) or bytes; returns its path (str)."""
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)
    return write

