"""A declaration that is wrong stops the checking build, with opcode, operand and program."""
import os
import re
import subprocess
import sys

import pytest

from c_engine.build import build
from tools import effects

# opcode, what is changed in what is believed of it, and what the checking build says
WRONG = [
    ('Add', 'reads nothing', 'Add at address .* read register'),
    ('SCopy', 'reads nothing', 'SCopy at address .* copied register'),
    ('Column', 'writes nothing', 'Column at address .* wrote register'),
    ('DecrJumpZero', 'writes nothing', 'DecrJumpZero at address .* changed register .* to read only'),
    ('Param', 'writes nothing', 'Param at address .* wrote register'),       # in a trigger's program
    ('If', 'writes the last register', 'If at address .* left register .* as it was'),
    ('Next', 'moves nothing', 'Next at address .* changed .* of cursor'),
    ('SorterNext', 'moves nothing', "SorterNext at address .* changed the sorter's record of cursor"),
    ('SeekRowid', 'moves nothing', 'SeekRowid at address .* changed .* of cursor'),
    ('Next', 'jumps nowhere', 'Next at address .* went on at address'),
    ('Add', 'live', 'reads register .* which liveness holds dead'),
]


def run(*arguments, **environment):
    """A finished child."""
    return subprocess.run([sys.executable, '-m', 'tests.effects.child'] + list(arguments), cwd=build.ROOT,
                          env=dict(os.environ, **environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_statements_answer_as_ever_and_are_counted(library, tmp_path):
    counts = tmp_path / 'counts'
    done = run('Noop', 'none', SQPYTE_EFFECTS_COUNTS=str(counts))
    assert done.returncode == 0, done.stderr.decode()
    assert b"('x', 10.0, 'x3'), (None, 13.0, None), ('z', 15.0, 'z5')" in done.stdout
    assert b"(1, 2), (2, 1), (3, 6), (4, 5)" in done.stdout
    opcodes, programs, unchecked, violations, *names = counts.read_text().split()
    assert int(opcodes) > 300 and int(programs) >= 9 and (unchecked, violations) == ('0', '0')
    assert {'Program', 'Param', 'SeekRowid', 'AggStep1', 'SorterNext', 'OpenWrite'} <= set(names)


@pytest.mark.parametrize('opcode,change,expected', WRONG)
def test_what_is_declared_wrongly_is_found(library, opcode, change, expected):
    done = run(opcode, change)
    assert done.returncode < 0, done.stdout.decode()
    words = done.stderr.decode()
    assert [line for line in words.splitlines() if re.search(expected, line)], words
    assert 'SQL: ' in words and '--> ' in words      # the program's listing


def test_a_report_has_each_kind_of_violation_once_and_goes_on(library, tmp_path):
    report = tmp_path / 'report'
    done = run('SeekRowid', 'moves nothing', SQPYTE_EFFECTS_REPORT=str(report))
    assert done.returncode == 0 and b'programs' in done.stdout
    found = [line for line in report.read_text().splitlines() if line.startswith('sqpyte effects: SeekRowid')]
    assert 0 < len(found) < 6


def test_all_that_is_declared_reaches_c():
    text = effects.header()
    assert '/* SeekGE */' in text and 'SQPYTE_NDECLARED' in text
    jumps = {name: effects.jumps_of(effects.everything()[name])
             for name in ('Goto', 'Next', 'SeekGE', 'Halt', 'Jump')}
    bits = effects.JUMPS
    assert jumps == {'Goto': bits['P2'], 'Next': bits['NEXT'] | bits['P2'], 'Halt': 0,
                     'SeekGE': bits['NEXT'] | bits['P2'] | bits['SECOND'],
                     'Jump': bits['P1'] | bits['P2'] | bits['P3']}
