"""Where the tree comes from, how headers and edits are applied; on small texts of our own."""

import json
import os

import pytest

from c_engine.patches.edit import EditError
from tests.upstream.tree import apt, edits, headers, tree

TEXT = '''\
start
/************** Begin file one.h ****************/
first
/************** Include two.h in the middle of one.h ****/
/************** Begin file two.h ****/
/* #include "one.h"    ** needed ** */
inner
/************** End of two.h ****/
/************** Continuing where we left off in one.h ****/
/* #include <stdio.h> */
last
/************** End of one.h ****/
/************** Begin file part.c ****/
code
/************** End of part.c ****/
'''


def test_headers_are_taken_apart():
    assert headers.take_apart(TEXT) == {
        'one.h': 'first\n#include "two.h"\n#include <stdio.h>\nlast\n', 'two.h': '#include "one.h"\ninner\n'}


def test_markers_that_do_not_nest_are_told():
    with pytest.raises(headers.Malformed, match='part.c'):
        headers.take_apart(TEXT + '/************** End of part.c ****/\n')
    with pytest.raises(headers.Malformed, match='three.h does not end'):
        headers.take_apart(TEXT + '/************** Begin file three.h ****/\n')


def test_an_edit_must_match_exactly_once(tmp_path):
    (tmp_path / 'a.c').write_text('x = 1; y = 1;')
    edits.apply(str(tmp_path), [edits.Edit('fine', 'a.c', 'x = 1', 'x = 2')])
    assert (tmp_path / 'a.c').read_text() == 'x = 2; y = 1;'
    for find in ('z = 1', ' = '):
        with pytest.raises(EditError, match='broken.*exactly once'):
            edits.apply(str(tmp_path), [edits.Edit('broken', 'a.c', find, '')])


@pytest.mark.parametrize('versions,expected', [
    (['3.40.1-2+deb12u2', '3.46.1-7', '3.53.4-2'], '3.53.4-2'),
    (['3.54.0-1', '3.55.0-1'], '3.54.0-1'),
    (['3.54.1+ds-1', '3.54.0-9'], '3.54.1+ds-1'),
])
def test_the_nearest_version_is_taken(versions, expected):
    assert tree.nearest(versions, '3.54.1') == expected


SOURCES = '''\
Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /some/keyring.gpg
'''


def test_the_mirror_is_that_of_the_machine(tmp_path):
    (tmp_path / 'sources.list.d').mkdir()
    assert apt.mirror(str(tmp_path)) == (apt.DEFAULT_MIRROR, apt.DEFAULT_KEYRING)
    (tmp_path / 'sources.list.d' / 'debian.sources').write_text(SOURCES)
    assert apt.mirror(str(tmp_path)) == ('http://mirror.example/debian', '/some/keyring.gpg')


def test_the_mirror_in_a_list_of_lines(tmp_path):
    (tmp_path / 'sources.list').write_text(
        '# deb http://no.example/debian sid main\n'
        'deb http://other.example/ubuntu noble main\n'
        'deb [arch=amd64 signed-by=/k.gpg] http://third.example/debian trixie main contrib\n')
    (tmp_path / 'sources.list.d').mkdir()
    assert apt.mirror(str(tmp_path)) == ('http://third.example/debian', '/k.gpg')


def test_a_damaged_archive_in_the_cache_is_not_used(tmp_path, capsys):
    archive = tmp_path / 'a.tar.xz'
    archive.write_bytes(b'tar')
    digest = 'f5e62af885293cf4d511ceef31e61c80bc9b42a5bb6e3af6a6a2c0d7d6ef2ab5'
    (tmp_path / tree.RECORD).write_text(json.dumps(
        {'version': '3.53.4', 'source': 'here', 'sha256': digest, 'file': 'a.tar.xz'}))
    assert tree.cached(str(tmp_path)) is None and 'damaged' in capsys.readouterr().err
    assert tree.cached(str(tmp_path / 'empty')) is None


def test_without_a_tree_the_message_says_what_to_do(tmp_path, monkeypatch):
    def refuse(directory):
        raise apt.Unavailable('no network')

    monkeypatch.delenv('SQPYTE_SQLITE_TREE', raising=False)
    monkeypatch.setenv('SQPYTE_CACHE', str(tmp_path))
    monkeypatch.setattr(tree, 'download', refuse)
    with pytest.raises(tree.NoTree, match='no network(.|\n)*SQPYTE_SQLITE_TREE=DIR'):
        tree.obtain()
    monkeypatch.setenv('SQPYTE_SQLITE_TREE', str(tmp_path))
    with pytest.raises(tree.NoTree, match='not a source tree'):
        tree.obtain()
    (tmp_path / 'VERSION').write_text('3.54.1\n')
    assert tree.obtain().version == '3.54.1' and os.path.isabs(tree.obtain().directory)
