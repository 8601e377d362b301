"""rusqlite's own tests, linked to the library that is there (not the one it brings), on stock's library and on ours."""

import json
import os
import shutil

import pytest

from c_engine.build.build import digest
from tests.extent import count
from tests.languages import outcomes, running

RUST = os.path.join(running.ROOM, 'rust')
FEATURES = ['cache', 'modern-full', 'preupdate_hook', 'session', 'buildtime_bindgen']
HOW = 'https://rustup.rs'


def settings():
    """Return the environment variables (dict) with which Cargo links to stock's library.

    rusqlite's tests use `std::assert_matches`, which rustc before 1.96 has as a feature only.
    """
    return {'SQLITE3_LIB_DIR': running.linking(), 'SQLITE3_INCLUDE_DIR': running.PATHS.upstream,
            'RUSTC_BOOTSTRAP': '1', 'RUSTFLAGS': '-Zcrate-attr=feature(assert_matches)'}


def source(cargo):
    """Return the folder of rusqlite's package, a copy that can be built in, with our list of versions.

    Its own list has a version of jiff that has been withdrawn.
    """
    manifest = os.path.join(RUST, 'Cargo.toml')
    said = running.build([cargo, 'metadata', '--locked', '--format-version', '1', '--manifest-path', manifest])
    described = json.loads(next(line for line in said.splitlines() if line.startswith('{')))
    package, = (package for package in described['packages'] if package['name'] == 'rusqlite')
    locked = os.path.join(RUST, 'rusqlite.lock')
    folder = os.path.join(running.FOLDER, 'rusqlite-' + digest([locked], package['version'])[:12])
    if not os.path.exists(folder):
        partial = folder + '.%d.part' % os.getpid()
        shutil.copytree(os.path.dirname(package['manifest_path']), partial)
        shutil.copyfile(locked, os.path.join(partial, 'Cargo.lock'))
        os.rename(partial, folder)
    return folder


def programs(cargo):
    """Return the test programs, {name: path}."""
    said = running.build(
        [cargo, 'test', '--locked', '--no-run', '--no-default-features', '--features', ' '.join(FEATURES),
         '--target-dir', os.path.join(running.FOLDER, 'rust'), '--message-format', 'json'],
        source(cargo), settings())
    found = {}
    for line in said.splitlines():
        message = json.loads(line) if line.startswith('{') else {}
        if message.get('executable') and message['profile']['test']:
            found[message['target']['name']] = message['executable']
    return found


def run(cargo, library, path, directory, threads=1, way=()):
    """Run a test program in a folder with the package's file for tests: see running.run."""
    shutil.copy(os.path.join(source(cargo), 'test.csv'), str(directory))
    return running.run(library, [path, '--test-threads=%d' % threads], directory, way)


@pytest.fixture(scope='module')
def cargo():
    """Path of Cargo."""
    return running.tool('cargo', (1, 89), ['--version'], HOW)


@pytest.fixture(scope='module')
def suite(cargo, stock_library, tmp_path_factory):
    """rusqlite's test programs, and by each of them its outcomes on stock."""
    found = programs(cargo)
    assert {'rusqlite', 'vtab', 'hook_no_mem'} <= set(found)
    expected = {}
    for name, path in found.items():
        code, said, errors, seen = run(cargo, 'stock', path, tmp_path_factory.mktemp(name))
        expected[name] = (code, outcomes.of_rust(said))
        assert not seen.ours and seen.version in (0, running.version())
    assert len(outcomes.passed(expected['rusqlite'][1])) >= outcomes.LEAST
    return found, expected


@pytest.mark.parametrize('way', sorted(running.WAYS))
def test_suite(cargo, suite, vm_library, way, tmp_path):
    found, expected = suite
    for name, path in found.items():
        (tmp_path / name).mkdir()
        code, said, errors, seen = run(cargo, 'ours', path, tmp_path / name, way=running.WAYS[way])
        assert not outcomes.differences(expected[name][1], outcomes.of_rust(said)), said[-5000:] + errors[-3000:]
        assert code == expected[name][0], errors[-3000:]
        if name == 'rusqlite':
            assert seen.version == running.version() and seen.ours
            assert way == 'default' or seen.served > 500 and seen.code > 0
            print('%s: %d tests pass on both; %r' % (way, len(outcomes.passed(expected[name][1])), seen))
        count("tests of rusqlite's", len(outcomes.passed(expected[name][1])))


def test_suite_in_threads(cargo, suite, vm_library, tmp_path):
    """As Cargo runs it: tests in threads that come and go, of which one at a time has the VM."""
    path = suite[0]['rusqlite']
    code, said, errors, seen = run(cargo, 'ours', path, tmp_path, 4, running.WAYS['always'])
    assert code == 0, said[-3000:] + errors[-3000:]
    assert seen.served > 0      # which of the threads has the VM, and what it does with it, is chance
    print('in threads: %r' % (seen,))
