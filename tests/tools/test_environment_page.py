"""docs/environment.md has every environment variable that is read, and no other; and what can be switched off."""
import glob
import inspect
import os
import re

import sqpyte
from c_engine.build.build import ROOT, read
from c_engine.generated.mechanisms import MECHANISMS
from tools import mechanism_table

# os.environ.get('X'), os.environ['X'], os.getenv('X'), getenv("X"), sqpyteVariable("X"); not what a test or tool sets.
READ = re.compile(r'''environ(?:\.get\(|\[|\.pop\()\s*["'](\w+)["'](?!\]\s*=[^=])|'''
                  r'''(?:getenv|sqpyteVariable)\(["'](\w+)["']''')
# What is set for another process: X=..., setenv('X', ...), environment['X'] = ...
SET = re.compile(r'''\b(SQPYTE_[A-Z_0-9]+)=(?!=)|setenv\(["'](\w+)["']|\w\[["'](SQPYTE_\w+)["']\]\s*=[^=]''')
# What one of our programs says to another.
INTERNAL = {'SQPYTE_SAMPLES', 'SQPYTE_PHASE', 'SQPYTE_TEST_SOURCE_ID', 'SQPYTE_BENCHMARK_PADDING', 'SQPYTE_WITNESS'}
ROOMS = ['sqpyte', 'pypy_module', 'c_engine', 'tools', 'benchmarks', 'tests', 'examples']


def sources():
    """The texts of all sources (list of str)."""
    paths = [os.path.join(ROOT, 'Makefile')]
    for room in ROOMS:
        for ending in ('py', 'c', 'h', 'sh', 'mk'):
            paths += glob.glob(os.path.join(ROOT, room, '**', '*.' + ending), recursive=True)
    return [read(path) for path in paths if 'generated' not in path and path != __file__]


def found(pattern):
    """Names of variables in the sources (set)."""
    names = set()
    for text in sources():
        for groups in pattern.findall(text):
            names |= set(filter(None, groups))
    return names - INTERNAL


def rows():
    """The cells of the table of variables (list of lists of str)."""
    page = read(os.path.join(ROOT, 'docs', 'environment.md'))
    table = page[page.index('| variable |'):].split('\n\n')[0]
    return [[cell.strip() for cell in line.split(' | ')] for line in table.splitlines()[2:]]


def described():
    """Names in the table's first column (set)."""
    return {name for row in rows() for name in re.findall(r'`([A-Z_0-9]+)`', row[0])}


def test_the_page_has_what_is_read():
    assert described() == found(READ) | {'CC'}      # the Makefile's


def test_what_is_set_is_read():
    assert {name for name in found(SET) if name.startswith('SQPYTE_')} <= described()


def test_the_page_names_the_settings_of_programs():
    named = [row[-1].strip('|` ') for row in rows() if row[-1].strip('| ')]
    assert sorted(named) == sorted(inspect.signature(sqpyte.configure).parameters)


def test_the_page_has_what_can_be_switched_off():
    text = read(mechanism_table.PAGE)
    assert mechanism_table.page(text) == text, 'run `make docs`'
    assert all('| `%s` |' % name in text for name, _, _, _ in MECHANISMS)


def test_a_table_that_is_old_is_found(tmp_path, monkeypatch, capsys):
    path = tmp_path / 'page.md'
    path.write_text('# Settings\n\n%s| `nothing` | VM | |\n' % mechanism_table.HEAD)
    monkeypatch.setattr(mechanism_table, 'PAGE', str(path))
    assert mechanism_table.main(['--check']) == 1 and 'make docs' in capsys.readouterr().err
    assert mechanism_table.main([]) == 0 and mechanism_table.main(['--check']) == 0
    assert path.read_text().startswith('# Settings\n\n|') and 'nothing' not in path.read_text()
