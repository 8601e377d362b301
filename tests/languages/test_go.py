"""go-sqlite3's own tests, and TPC-H's queries in goroutines, on stock's library and on ours."""

import os

import pytest

from benchmarks.data.databases import TPCH
from benchmarks.suites import queries as tpch
from tests.extent import count
from tests.languages import outcomes, running

GO = os.path.join(running.ROOM, 'go')
PACKAGE = 'github.com/mattn/go-sqlite3'     # go/go.mod has its version, go.sum its hash
# Tests that go-sqlite3 has for features; the library has all of these.
FEATURES = ['allow_uri_authority', 'column_metadata', 'foreign_keys', 'fts5', 'introspect', 'math_functions',
            'preupdate_hook', 'serialize', 'stat4', 'trace', 'unlock_notify', 'vtable']
TAGS = {'plain': 'libsqlite3', 'features': 'libsqlite3 ' + ' '.join('sqlite_' + name for name in FEATURES)}
SCALE = 0.05
HOW = 'https://go.dev/dl, or golang-go from Debian 13 on'


def settings():
    """Return the environment variables (dict) with which Go links to stock's library."""
    return {'CGO_ENABLED': '1', 'CGO_CFLAGS': '-O2 -I' + running.PATHS.upstream,
            'CGO_LDFLAGS': '-L' + running.linking(), 'GOFLAGS': '-mod=readonly', 'GOTOOLCHAIN': 'local'}


@pytest.fixture(scope='module')
def go():
    """Path of Go."""
    return running.tool('go', (1, 24), ['version'], HOW)


@pytest.fixture(scope='module', params=sorted(TAGS))
def suite(request, go, stock_library, tmp_path_factory):
    """The command (list of str) that runs go-sqlite3's tests, and their outcomes on stock."""
    path = os.path.join(running.FOLDER, 'go-sqlite3-' + request.param)
    running.build([go, 'test', '-c', '-tags', TAGS[request.param], '-o', path, PACKAGE], GO, settings())
    command = [go, 'tool', 'test2json', '-t', path, '-test.v']
    code, said, errors, seen = running.run('stock', command, tmp_path_factory.mktemp('stock'))
    assert seen.version == running.version() and not seen.ours
    found = outcomes.of_go(said)
    assert len(outcomes.passed(found)) >= outcomes.LEAST, said[-3000:] + errors[-3000:]
    return command, found


def compared(suite, command, directory, way):
    """Run a command that prints outcomes on our library, and compare them with those on stock; return the Witness."""
    expected = suite[1]
    code, said, errors, seen = running.run('ours', command, directory, running.WAYS[way])
    assert not outcomes.differences(expected, outcomes.of_go(said)), said[-5000:] + errors[-3000:]
    assert seen.version == running.version() and seen.ours
    print('%s: %d tests pass on both; %r' % (way, len(outcomes.passed(expected)), seen))
    count("tests of go-sqlite3's", len(outcomes.passed(expected)))
    return seen


@pytest.mark.parametrize('way', sorted(running.WAYS))
def test_suite(suite, vm_library, way, tmp_path):
    compared(suite, suite[0], tmp_path, way)


def test_suite_in_the_vm(suite, vm_library, tmp_path):
    """Each test in a process of its own: none finds the VM taken by what another has left running."""
    tests = sorted({name.split('/')[0] for name in suite[1]})
    script = 'for test in %s; do "$@" -test.run "^$test\\$"; done; true' % ' '.join(tests)
    seen = compared(suite, ['sh', '-c', script, 'sh'] + suite[0], tmp_path, 'always')
    assert seen.served > 1000 and seen.code > 0


@pytest.fixture(scope='module')
def queries(go, stock_library):
    """The program that asks TPC-H's queries, with its first arguments (list of str)."""
    path = os.path.join(running.FOLDER, 'queries')
    running.build([go, 'build', '-tags', 'libsqlite3', '-o', path, 'queries.go'], GO, settings())
    return [path, TPCH.ensure(SCALE)]


# Whether goroutines are pinned to threads, how many there are and how often they ask; how our library is run; how many
# statements the VM has to serve at least. One thread at a time is in it; who finds it taken goes on in C, so with
# several goroutines it is chance who is served.
CASES = [('pinned', 1, 5, 'default', 10), ('free', 1, 5, 'default', 0), ('free', 8, 1, 'default', 0),
         ('pinned', 8, 1, 'always', 20), ('free', 8, 1, 'always', 0)]


@pytest.mark.parametrize('pinned, goroutines, rounds, way, least', CASES)
def test_queries_in_goroutines(queries, vm_library, pinned, goroutines, rounds, way, least, tmp_path):
    for name in tpch.NAMES:
        (tmp_path / name).write_text(tpch.text(name, SCALE))
    command = queries + [pinned, str(goroutines), str(rounds)] + [str(tmp_path / name) for name in tpch.NAMES]
    found = {}
    for library in ('stock', 'ours'):
        (tmp_path / library).mkdir()
        code, said, errors, seen = running.run(library, command, tmp_path / library,
                                               running.WAYS[way] if library == 'ours' else ())
        assert code == 0, errors[-3000:]
        found[library] = said
    print('%d goroutines, %s, %s: %r' % (goroutines, pinned, way, seen))
    assert found['ours'] == found['stock'] and found['ours'].count('\n') > 200
    assert seen.ours and seen.statements == len(tpch.NAMES) * rounds * goroutines
    assert seen.served >= least and (seen.code > 0 or not least)
    if (pinned, goroutines) == ('pinned', 1):
        assert not seen.why[running.WHY_THREAD]
    count("statements of Go's that the VM has served", seen.served)
