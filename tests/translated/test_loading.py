"""What a program pays for the VM that it doesn't use: the pages of its data are touched when it starts, not before."""
import os
import subprocess
import sys

import pytest

from tests.differential.tiers import ROOT
from tools import late_relocations as late

HEAD = """
import os, sys
from c_engine.generated.layout import SQPYTE_MODE_ALWAYS as ALWAYS
from c_engine.generated.layout import SQPYTE_MODE_HOT as HOT
from c_engine.generated.layout import SQPYTE_MODE_OFF as OFF
from c_engine.generated.layout import SQPYTE_WHY_SHORT as SHORT
from tests.differential.sessions.capi import Connection, Library
from tests.translated.sample import GROUPED, SCAN, filled
library = Library(sys.argv[1])
library.set_mode(OFF, 0)
connection = filled(library)

def written():
    "KB of the library's pages that this process has written to."
    total, inside = 0, False
    with open('/proc/self/smaps') as file:
        for line in file:
            words = line.split()
            if '-' in words[0] and not words[0].endswith(':'):
                inside = words[-1] == os.path.realpath(sys.argv[1])
            elif inside and words[0] in ('Private_Dirty:', 'Swap:'):
                total += int(words[1])
    return total

def rows(sql):
    statement = connection.prepare(sql)
    found = []
    while statement.step() is not None:
        found.append(statement.row)
    entries = statement.entries()
    statement.finalize()
    return entries, found

in_c = [rows(sql) for sql in (SCAN, GROUPED)]
assert not in_c[0][0] and not in_c[1][0]
before = written()
"""


@pytest.fixture
def process(vm_library):
    def run(program):
        done = subprocess.run([sys.executable, '-c', HEAD + program, vm_library], cwd=ROOT, env=dict(os.environ),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout
    return run


def test_the_data_of_the_vm_is_written_when_it_starts(process):
    process("""
library.set_mode(ALWAYS, 0)
in_vm = [rows(sql) for sql in (SCAN, GROUPED)]
assert in_vm[0][0] and in_vm[1][0]
assert [found for _, found in in_vm] == [found for _, found in in_c]
after = written()
assert before < 300 and after > before + 700, (before, after)
""")


def test_a_loop_that_does_not_pay_starts_no_vm(process):
    process("""
library.set_mode(HOT, -1)
statement = connection.prepare('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 4000) '
                               'SELECT sum(n) FROM r')
statement.step()
assert statement.row == (4000 * 4001 // 2,) and statement.why() == SHORT, statement.why()
assert written() < before + 100, (before, written())
""")


@pytest.mark.parametrize('first', [False, True], ids=['the child', 'the parent'])
def test_the_vm_starts_after_a_fork(process, first):
    process("""
library.set_mode(ALWAYS, 0)
if %r:
    assert rows(SCAN)[0]
child = os.fork()
found = [rows(sql) for sql in (SCAN, GROUPED)]
right = all(entries for entries, _ in found) and [of for _, of in found] == [of for _, of in in_c]
if not child:
    os._exit(0 if right else 3)
assert right and os.waitpid(child, 0)[1] == 0
""" % first)


def test_the_linker_has_no_address_of_the_vms_data(vm_library):
    with open(vm_library, 'rb') as file:
        content = file.read()
    sections = late.sections(content)
    table, data = sections['.rela.dyn'], sections[late.DATA]
    left = [place for place, what, _ in late.RELOCATION.iter_unpack(content[table.offset:table.offset + table.size])
            if what == late.RELATIVE and data.address <= place < data.address + data.size]
    assert not left
