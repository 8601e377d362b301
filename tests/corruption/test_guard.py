"""The guarded memory notices what it should: else the tests that use it say nothing."""
import subprocess
import sys

import pytest

from tests.differential.tiers import ROOT

# Does something in a process of its own and prints what was noticed.
DO = """
import sys
from tests.corruption import guard, run
library, guarded = run.start(sys.argv[1], sys.argv[2])
c = library.c
from tests.differential.sessions.capi import Connection, ffi
connection = Connection(library)
p = c.sqlite3_malloc64(24)
memory = ffi.cast("char *", p)
memory[0], memory[23]
assert guarded.wrong() == ([], 0)
%s
print(*guarded.wrong()[0], sep="\\n")
"""
PAST_A_PAGE = """
from sqpyte.vm import interp
from sqpyte.vm.base import mem
connection.execute("CREATE TABLE t(a, b)")
connection.execute("INSERT INTO t VALUES (1, 'text')")
from sqpyte.vm.frame import Frame
usual = Frame.find_row

def careless(frame, c):
    found = usual(frame, c)
    if found:
        mem.u8(frame.row[c] + frame.rowsize[c])     # the first record ends where its page does
    return found
Frame.find_row = careless
assert connection.execute("SELECT b FROM t") == [("text",)]
"""


def noticed(side, code, tier="stock"):
    done = subprocess.run([sys.executable, "-c", DO % code, tier, side], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("side, code, words", [
    ("after", "memory[24]", "read after, 1 bytes, of 24, by code of the JIT"),
    ("after", "memory[24] = b'x'", "written after, 1 bytes, of 24, by code of the JIT"),
    ("before", "memory[-1]", "read before, 1 bytes, of 24, by code of the JIT"),
    ("after", "c.sqlite3_free(p); memory[0]", "read freed, 0 bytes, of 24, by code of the JIT"),
    ("after", PAST_A_PAGE, "read after, 1 bytes, of 4096, by code of the JIT"),
], ids=["after", "written", "before", "freed", "page"])
def test_noticed(side, code, words):
    assert noticed(side, code, "untranslated-always" if code is PAST_A_PAGE else "stock") == [words]
