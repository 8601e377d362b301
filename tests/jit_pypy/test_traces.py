"""The shape of PyPy's traces of inlined loops: an optimisation lost is a test failed.

What is looked at is a loop's last part, from its last label on: what runs per row.  There the
query, the user's function and the user's loop are one piece of code without calls and without
objects made.
"""
import os
import re
import subprocess
import sys

import pytest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'program.py')
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(PROGRAM)))
pytestmark = pytest.mark.skipif(
    sys.implementation.name != 'pypy', reason='PyPy\'s traces; `make test` runs it on PyPy')

SECTION = re.compile(r'\{jit-log-opt-loop\n# Loop \d+ \((.*?)\) : (?:loop|entry bridge) .*?\n(.*?)'
                     r'\[[0-9a-f]+\] jit-log-opt-loop\}', re.DOTALL)
OPERATION = re.compile(r'^\+\d+: (?:[a-z]+\d+ = )?(\w+)\(?(.*)', re.MULTILINE)


def operations(name, tmp_path):
    """The operations per row (list of (name, arguments)) by the loop's place (dict)."""
    log = tmp_path / 'log'
    environment = dict(os.environ, PYPYLOG='jit-log-opt-loop:%s' % log, PYTHONPATH=ROOT)
    environment.pop('SQPYTE_INLINE', None)
    subprocess.run([sys.executable, PROGRAM, name], check=True, env=environment)
    found = {}
    for place, text in SECTION.findall(log.read_text()):
        last = text.rpartition('label(')[2]
        found[place] = OPERATION.findall(last)
    return found


def loop(name, tmp_path, function=None):
    """The operations per row of the loop in the user's `function`, or of the generated one."""
    wanted = '%s;' % (function or name)
    matching = [operations for place, operations in operations(name, tmp_path).items()
                if place.startswith(wanted)]
    assert matching, 'no such loop'
    return matching[0]


def makes_objects(operation):
    """Whether an operation allocates."""
    return operation.startswith('new')


def calls(operation):
    """Whether an operation leaves the machine code."""
    return operation.startswith(('call', 'cond_call'))


# `expression` has a LIMIT: its counter makes no objects either.
@pytest.mark.parametrize('name', ['select', 'where', 'function', 'expression', 'joined'])
def test_rows_and_functions_are_one_loop(name, tmp_path):
    operations = [operation for operation, _ in loop(name, tmp_path)]
    assert not [o for o in operations if makes_objects(o) or calls(o)]
    guards = [o for o in operations if o.startswith('guard')]
    assert len(guards) <= 30


def test_the_loop_over_a_page_that_selects(tmp_path):
    operations = [operation for operation, _ in loop('where', tmp_path, 'select')]
    assert not [o for o in operations if makes_objects(o) or calls(o)]
    assert len(operations) <= 60


@pytest.mark.parametrize('name, function', [('aggregate', 'run'), ('function_filters', 'advance')])
def test_user_code_in_the_generated_loop(name, function, tmp_path):
    operations = [operation for operation, _ in loop(name, tmp_path, function)]
    assert not [o for o in operations if makes_objects(o) or calls(o)]


def test_texts_are_copied_and_no_more(tmp_path):
    """One copy of the bytes for the comparison; for the user another, and a check of the UTF-8."""
    selecting = [arguments for operation, arguments in loop('texts', tmp_path, 'select')
                 if calls(operation)]
    assert all('copy_raw_to_string' in call or 'streq' in call for call in selecting)
    assert len(selecting) <= 2
    user = [arguments for operation, arguments in loop('texts', tmp_path) if calls(operation)]
    assert len(user) <= 3


def test_fetchall_calls_nothing_but_the_list(tmp_path):
    found = [arguments for operation, arguments in loop('fetchall', tmp_path) if calls(operation)]
    assert all('list' in call or 'resize' in call for call in found), found


@pytest.mark.parametrize('name', ['point', 'insert'])
def test_one_call_into_c_for_a_query_or_an_insert(name, tmp_path):
    operations = [operation for operation, _ in loop(name, tmp_path)]
    assert len([o for o in operations if o.startswith('call_release_gil')]) == 1
