"""What of the VM is switched off: C reads the names, the VM asks C when it starts."""
import json
import os
import subprocess
import sys

import pytest

from c_engine.build.build import ROOT
from c_engine.generated import opcodes
from c_engine.generated.mechanisms import MECHANISMS

GROUPS = {name: found for name, reader, found, _ in MECHANISMS if reader == 'vm'}
CODE = '''
import json, sys
from sqpyte.vm import host
from sqpyte.vm.base import capi
from sqpyte.vm.base.ablation import switches
from tests.differential.sessions.capi import Connection, Library
host.install(sys.argv[1])
from c_engine.generated import opcodes
session = Connection(Library(sys.argv[1]))
session.execute('CREATE TABLE t(a, b)')
session.execute("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60) "
                "INSERT INTO t SELECT n, date('2020-01-01', n || ' days') FROM r")
host.runs[0] = 0
rows = session.execute("SELECT sum(a * 2 + 1), count(*), max(substr(b, 3)) FROM t WHERE a > 5 AND b > '2020-01-20' "
                       "AND b LIKE '%0%' GROUP BY a % 3 ORDER BY 1")
try:
    session.execute("SELECT sqpyte_configure('without', 'Rewind')")
    late = ''
except Exception as error:
    late = str(error)
print(json.dumps([rows, [opcodes.NAMES[n] for n in range(256) if switches.in_c[n]], bool(switches.types),
                  host.runs[0] > 0, late]))
'''


def run(without, library):
    """[rows, opcodes that C executes, whether numbers stay in their Mem, whether the VM has run, an error]."""
    done = subprocess.run([sys.executable, '-c', CODE, library], cwd=ROOT, stdout=subprocess.PIPE, check=True,
                          env=dict(os.environ, SQPYTE_WITHOUT=without, PYTHONPATH=ROOT))
    return json.loads(done.stdout.decode())


@pytest.fixture(scope='module')
def rows(engine_library):
    """The rows with nothing switched off."""
    found, in_c, types, entered, late = run('', engine_library)
    assert (in_c, types, entered) == ([], False, True)
    assert 'too late for "Rewind"' in late
    return found


@pytest.mark.parametrize('name', sorted(GROUPS) + ['Rewind,Rowid', 'prepared-patterns,iso-dates'])
def test_switches(engine_library, rows, name):
    found, in_c, types, entered, _ = run(name, engine_library)
    assert found == rows and entered
    wanted = GROUPS.get(name, [word for word in name.split(',') if 'OP_' + word in vars(opcodes)])
    assert sorted(in_c) == sorted(wanted)
    assert types == (name == 'type-specialisation')
