"""The build: edits that must match, steps that are skipped, and the two libraries side by side."""

import ctypes
import os
import re
import subprocess

import pytest

from c_engine.build import build, fetch
from c_engine.patches import apply


def upstream(paths):
    return build.read(os.path.join(paths.upstream, 'sqlite3.c'))


def test_the_pinned_files_are_what_was_built(paths):
    fetch.check(paths.upstream, 'the build')


def test_every_edit_matches_once_and_changes_something(paths):
    text = upstream(paths)
    for edit in apply.EDITS:
        assert edit.find != edit.replace, edit.name
    names = [edit.name for edit in apply.EDITS]
    assert len(set(names)) == len(names)
    assert apply.apply(text) == build.read(os.path.join(paths.edited, 'sqlite3.c'))


@pytest.mark.parametrize('change', ['remove', 'repeat'])
def test_an_edit_that_does_not_match_once_stops_with_its_name(paths, change):
    edit = apply.EDITS[-1]
    replacement = {'remove': '', 'repeat': edit.find * 2}[change]
    with pytest.raises(apply.EditError, match=edit.name):
        apply.apply(upstream(paths).replace(edit.find, replacement))


def test_all_edits_that_do_not_match_are_named(paths):
    text = upstream(paths)
    for name in ('sqlite3BtreeFirst', apply.EDITS[0].find, apply.EDITS[-1].find):
        text = text.replace(name, '')
    with pytest.raises(apply.EditError) as caught:
        apply.apply(text)
    for name in (apply.EDITS[0].name, apply.EDITS[-1].name, 'sqlite3BtreeFirst, of VISIBLE'):
        assert name in str(caught.value)


def test_the_command_line_reports_a_failed_edit(paths, tmp_path, monkeypatch, capsys):
    broken = apply.Edit('made-up-edit', 'a text that upstream does not have', '')
    monkeypatch.setattr(apply, 'EDITS', [broken])
    assert build.main(['engine', '--build', str(tmp_path), '--sqlite', paths.upstream]) == 1
    assert 'made-up-edit' in capsys.readouterr().err


def test_the_command_line_reports_a_wrong_hash(tmp_path, capsys):
    for name in ('sqlite3.c', 'sqlite3.h'):
        (tmp_path / name).write_text('')
    arguments = ['stock', '--build', str(tmp_path / 'build'), '--sqlite', str(tmp_path)]
    assert build.main(arguments) == 1
    assert 'expected sha256' in capsys.readouterr().err


def test_a_step_runs_again_only_when_its_inputs_change(tmp_path):
    product = str(tmp_path / 'product')
    runs = []

    def action():
        runs.append(1)
        open(product, 'w').close()

    build.step('a step', [product], 'one', action)
    build.step('a step', [product], 'one', action)
    assert len(runs) == 1
    build.step('a step', [product], 'two', action)
    assert len(runs) == 2
    os.remove(product)
    build.step('a step', [product], 'two', action)
    assert len(runs) == 3


def exported(library):
    table = subprocess.run(['nm', '-D', '--defined-only', library], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    return {line.split()[-1] for line in table.splitlines()}


def test_both_libraries_export_the_same_api(paths, stock_library, engine_library):
    header = build.read(os.path.join(paths.upstream, 'sqlite3.h'))
    declared = set(re.findall(r'\b(sqlite3[a-z]*_\w+)\(', header))
    stock, engine = exported(stock_library), exported(engine_library)
    assert {'sqlite3_prepare_v3', 'sqlite3session_create', 'sqlite3_column_origin_name'} <= stock
    assert stock & declared == engine & declared
    assert stock <= engine


def compile_options(library):
    sqlite = ctypes.CDLL(library)
    sqlite.sqlite3_compileoption_get.restype = ctypes.c_char_p
    options = []
    while True:
        option = sqlite.sqlite3_compileoption_get(len(options))
        if option is None:
            return options
        options.append(option.decode())


def test_both_libraries_report_the_same_compile_options(stock_library, engine_library):
    options = compile_options(stock_library)
    assert options == compile_options(engine_library)
    assert {'THREADSAFE=1', 'ENABLE_FTS5', 'ENABLE_UPDATE_DELETE_LIMIT', 'ENABLE_STAT4',
            'ENABLE_SESSION'} <= set(options)


def test_the_engine_opens_its_internals_and_stock_does_not(stock_library, engine_library):
    assert hasattr(ctypes.CDLL(engine_library), 'sqlite3BtreeNext')
    assert not hasattr(ctypes.CDLL(stock_library), 'sqlite3BtreeNext')
