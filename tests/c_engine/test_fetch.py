"""The pinned SQLite: where it is looked for, and what is said when it isn't there or isn't it."""

import hashlib
import os

import pytest

from c_engine.build import fetch, pin

GOOD = {'sqlite3.c': b'/* the amalgamation */', 'sqlite3.h': b'/* the header */'}


def write_files(directory, contents):
    os.makedirs(str(directory), exist_ok=True)
    for name, content in contents.items():
        with open(os.path.join(str(directory), name), 'wb') as file:
            file.write(content)
    return str(directory)


def contents(directory):
    found = {}
    for name in GOOD:
        with open(os.path.join(str(directory), name), 'rb') as file:
            found[name] = file.read()
    return found


def give(files):
    """A source that puts `files` into its scratch folder."""
    return lambda scratch, **arguments: write_files(scratch, files)


def refuse(scratch, **arguments):
    raise fetch.Unavailable('out of reach')


@pytest.fixture(autouse=True)
def small_pin(monkeypatch, tmp_path):
    """A pin of two tiny files, an empty cache, and no source but those a test adds."""
    monkeypatch.setattr(pin, 'SHA256', {
        name: hashlib.sha256(content).hexdigest() for name, content in GOOD.items()})
    monkeypatch.setenv('SQPYTE_CACHE', str(tmp_path / 'cache'))
    monkeypatch.delenv('SQPYTE_SQLITE', raising=False)
    monkeypatch.setattr(fetch, 'KINDS', {'npm': refuse, 'sqlite_org': refuse})


def test_the_users_folder_comes_first(tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.KINDS, 'npm', give(GOOD))
    mine = write_files(tmp_path / 'mine', GOOD)
    assert fetch.fetch(str(tmp_path / 'out'), mine) == mine
    assert contents(tmp_path / 'out') == GOOD


def test_the_users_file_may_be_named_in_the_environment(tmp_path, monkeypatch):
    mine = write_files(tmp_path / 'mine', GOOD)
    monkeypatch.setenv('SQPYTE_SQLITE', os.path.join(mine, 'sqlite3.c'))
    fetch.fetch(str(tmp_path / 'out'))
    assert contents(tmp_path / 'out') == GOOD


def test_a_wrong_file_from_the_user_stops_with_both_hashes(tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.KINDS, 'npm', give(GOOD))
    mine = write_files(tmp_path / 'mine', dict(GOOD, **{'sqlite3.c': b'another version'}))
    with pytest.raises(fetch.WrongHash) as caught:
        fetch.fetch(str(tmp_path / 'out'), mine)
    message = str(caught.value)
    assert os.path.join(mine, 'sqlite3.c') in message
    assert pin.SHA256['sqlite3.c'] in message
    assert hashlib.sha256(b'another version').hexdigest() in message
    assert not os.path.exists(str(tmp_path / 'out'))


@pytest.mark.parametrize('given', ['nowhere', 'notes.txt', 'empty'])
def test_a_users_path_without_the_files_stops(tmp_path, monkeypatch, given):
    monkeypatch.setitem(fetch.KINDS, 'npm', give(GOOD))
    (tmp_path / 'notes.txt').write_text('not SQLite')
    (tmp_path / 'empty').mkdir()
    with pytest.raises(fetch.FetchError, match=given):
        fetch.fetch(str(tmp_path / 'out'), str(tmp_path / given))


def test_a_source_fills_the_cache_and_the_cache_serves_the_next_build(tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.KINDS, 'npm', give(GOOD))
    assert 'npm' in fetch.fetch(str(tmp_path / 'one'))
    monkeypatch.setitem(fetch.KINDS, 'npm', refuse)
    assert 'cache' in fetch.fetch(str(tmp_path / 'two'))
    assert contents(tmp_path / 'two') == GOOD


def test_a_damaged_cache_is_named_and_replaced(tmp_path, monkeypatch, capsys):
    write_files(fetch.cache_directory(), dict(GOOD, **{'sqlite3.h': b'damaged'}))
    monkeypatch.setitem(fetch.KINDS, 'npm', give(GOOD))
    fetch.fetch(str(tmp_path / 'out'))
    assert contents(tmp_path / 'out') == GOOD
    assert contents(fetch.cache_directory()) == GOOD
    said = capsys.readouterr().err
    assert 'damaged' in said and fetch.cache_directory() in said


def test_a_package_with_other_bytes_stops_the_build(tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.KINDS, 'npm', give(dict(GOOD, **{'sqlite3.c': b'changed'})))
    monkeypatch.setitem(fetch.KINDS, 'sqlite_org', give(GOOD))
    with pytest.raises(fetch.WrongHash, match='npm package'):
        fetch.fetch(str(tmp_path / 'out'))


def test_a_source_out_of_reach_leaves_it_to_the_next(tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.KINDS, 'sqlite_org', give(GOOD))
    assert 'sqlite.org' in fetch.fetch(str(tmp_path / 'out'))


def test_no_source_names_everything_tried_and_what_to_do(tmp_path):
    with pytest.raises(fetch.NoSource) as caught:
        fetch.fetch(str(tmp_path / 'out'))
    message = str(caught.value)
    assert 'the cache: no sqlite3.c in' in message
    for source in pin.SOURCES:
        assert '%s: out of reach' % fetch.describe(source) in message
    assert 'SQPYTE_SQLITE=' in message


def test_an_earlier_build_is_checked_again(tmp_path, monkeypatch):
    out = write_files(tmp_path / 'out', dict(GOOD, **{'sqlite3.c': b'tampered'}))
    monkeypatch.setitem(fetch.KINDS, 'npm', give(GOOD))
    fetch.fetch(out)
    assert contents(out) == GOOD


def test_without_npm_the_reason_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(fetch.Unavailable, match='npm is not installed'):
        fetch.npm('package', '1.0', 'package', str(tmp_path))


def test_npms_own_words_are_shown(tmp_path, monkeypatch):
    """It says nothing of an error when it is to be silent."""
    npm = tmp_path / 'npm'
    npm.write_text('#!/bin/sh\ncase "$*" in *silent*) exit 1;; esac\necho npm error 404 Not Found >&2\nexit 1\n')
    npm.chmod(0o755)
    monkeypatch.setenv('PATH', '%s:/usr/bin:/bin' % tmp_path)
    with pytest.raises(fetch.Unavailable, match='404 Not Found'):
        fetch.npm('package', '1.0', 'package', str(tmp_path))


def test_a_failing_command_shows_the_end_of_its_output(tmp_path):
    with pytest.raises(fetch.Unavailable, match='gone wrong'):
        fetch.run(['sh', '-c', 'echo gone wrong; exit 1'], str(tmp_path))
