"""The runner of `make test-all`: what has passed isn't run again, what fails is told, counts are added up."""
import argparse
import glob
import io
import os
import re
import sys

import pytest
from rich.console import Console

from c_engine.build.build import read
from tests import extent
from tests.everything import __main__ as everything
from tests.everything import parts
from tests.everything.parts import Part
from tests.structure import reached
from tests.upstream import cli
from tests.upstream.running import CONFIGURATIONS as UPSTREAM

COUNTS = "from tests import extent; extent.count('stones', 7); extent.count('small stones', 2)"


def part(name, code, alone=False):
    return Part(name, [sys.executable, '-c', code], ['tests/everything'], {'MARK': 'x'}, alone)


@pytest.fixture
def run(tmp_path):
    """Run parts; return (whether all have passed, what was printed)."""
    def run(*chosen, folder='here'):
        console = Console(file=io.StringIO(), width=200)
        one = everything.Everything(console, chosen, str(tmp_path / folder), str(tmp_path / 'record.json'))
        fine = one.run()
        one.show()
        return fine, console.file.getvalue()
    return run


def test_a_part_that_has_passed_is_not_run_again(run, tmp_path):
    chosen = part('a', COUNTS), part('b', COUNTS, alone=True)
    fine, text = run(*chosen)
    assert fine and 'a: begins' in text and 'b: passed' in text
    assert 'Tried in all: 4 small stones, 14 stones' in text
    fine, text = run(*chosen)
    assert fine and 'begins' not in text and '2 of 2 parts have passed already' in text
    assert 'Tried in all: 4 small stones, 14 stones' in text


def test_a_part_whose_command_has_changed_is_run_again(run):
    assert run(part('a', COUNTS))[0]
    fine, text = run(part('a', COUNTS + '; print(1)'))
    assert fine and 'a: passed' in text and 'already' not in text


def test_a_part_that_fails_is_told_and_run_again(run):
    bad = part('bad', "print('what is wrong'); raise SystemExit(3)")
    for _ in range(2):
        fine, text = run(part('good', COUNTS), bad)
        assert not fine and 'bad: FAILED (code 3)' in text and 'what is wrong' in text
    assert '1 of 2 parts have passed already' in text


def test_another_machine_goes_on_with_what_has_passed(run):
    bad = part('bad', 'raise SystemExit(3)')
    assert not run(part('a', COUNTS), bad)[0]
    fine, text = run(part('a', COUNTS), bad, folder='there')
    assert not fine and '1 of 2 parts have passed already' in text and 'bad: begins' in text
    assert 'Tried in all: 2 small stones, 7 stones' in text


def test_a_failure_comes_before_what_is_recorded(run, tmp_path):
    now_and_then = part('a', "import sys; sys.exit(open(%r).read() == 'bad')" % str(tmp_path / 'state'))
    (tmp_path / 'state').write_text('good')
    assert run(now_and_then)[0]
    (tmp_path / 'here' / 'a.json').unlink()
    (tmp_path / 'record.json').rename(tmp_path / 'before')
    (tmp_path / 'state').write_text('bad')
    assert not run(now_and_then)[0]
    (tmp_path / 'before').rename(tmp_path / 'record.json')
    fine, text = run(now_and_then)
    assert not fine and 'already' not in text


def test_a_record_of_another_state_or_a_broken_one_counts_nothing(run, tmp_path):
    for text in ('{"a": {"key": "0", "passed": true, "seconds": 1, "counts": {}, "date": ""}}', '{"a": ', ''):
        (tmp_path / 'record.json').write_text(text)
        assert 'a: begins' in run(part('a', COUNTS), folder='of%d' % len(text))[1]


def test_each_test_that_can_be_run_in_full_is():
    """Some part's, by SQPYTE_TESTS=all, or that of a command which sets it."""
    asking = re.compile(r'^[^#]*\b(?:extent\.|(?<!def )(?<![\w.]))everything\(\)', re.MULTILINE)
    chosen = [word for one in parts.parts(1) if one.settings.get('SQPYTE_TESTS') == 'all' for word in one.command]
    with open(os.path.join(parts.ROOT, 'Makefile')) as file:
        chosen += re.findall(r'SQPYTE_TESTS=all[^&]*?(tests/\S+)', file.read())
    paths = [os.path.relpath(path, parts.ROOT)
             for path in glob.glob(os.path.join(parts.ROOT, 'tests', '**', '*.py'), recursive=True)]
    found = [path for path in paths if asking.search(read(os.path.join(parts.ROOT, path)))]
    assert {'tests/translated/test_threads.py', 'tests/faults/test_faults.py'} <= set(found)
    chosen = tuple(word for word in chosen if word.startswith('tests'))
    assert [path for path in found if not path.startswith(chosen)] == []


def test_a_key_is_that_of_what_a_part_runs():
    found = {one.name: parts.key(one) for one in parts.parts(1)}
    assert len(set(found.values())) == len(found)
    assert found == {one.name: parts.key(one) for one in parts.parts(1)}


def test_the_slices_of_the_suite_are_together_all_of_it():
    files = ['%d.test' % number for number in range(100)]
    for name in UPSTREAM:
        commands = [one.command for one in parts.parts(1) if ['--config', name, '--slice'] == one.command[-4:-1]]
        found = [file for command in commands for file in files[cli.slice_of(command[-1])]]
        assert sorted(found) == sorted(files), name


@pytest.mark.parametrize('text', ['', '3', '0/2', '3/2', '1/0', '-1/2', '1/2/3', 'a/b'])
def test_what_is_no_slice_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match='is no slice'):
        cli.slice_of(text)


def test_parts_that_do_not_depend_on_the_module_do_not_import_it():
    rooms = {room for one in parts.parts(1) if one.product is parts.LIBRARY for room in one.rooms
             if room not in parts.CHECKING}
    assert 'tests/upstream' in rooms
    for room in sorted(rooms):
        found = reached(room, ['c_engine', 'sqpyte', 'pypy_module', 'tools', 'tests'])
        assert 'tests.differential.sessions.capi' in found
        assert not [name for name in found if name.startswith('pypy_module')], room


def test_sums_of_counts(tmp_path, monkeypatch):
    path = tmp_path / 'counts'
    monkeypatch.setenv('SQPYTE_COUNTS', str(path))
    assert extent.counted(str(path)) == {}
    extent.count('apples', 1)
    extent.count('pears', 2)
    extent.count('apples', 4)
    assert extent.counted(str(path)) == {'apples': 5, 'pears': 2}
    monkeypatch.delenv('SQPYTE_COUNTS')
    extent.count('apples', 1)
    assert extent.counted(str(path)) == {'apples': 5, 'pears': 2}


def test_unknown_parts_are_named(capsys):
    assert everything.main(['nothing']) == 2
    assert 'no part nothing; there are: faults-memory-once' in capsys.readouterr().err
