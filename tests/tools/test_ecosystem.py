"""The comparison of `make test-ecosystem`: what counts as worse, as flaky, as meant, and as no comparison at all."""

import json

import pytest

from tests.ecosystem import __main__ as ecosystem
from tests.ecosystem import compare, install, meant, projects, run
from tests.ecosystem.compare import Difference, Results
from tests.ecosystem.meant import Meant
from tests.upstream.tree import apt

STOCK = {'version': '3.1', 'vm': None, 'backend': None}
OURS = {'version': '3.1', 'vm': 'hot', 'backend': 'sqlite3'}


def test_only_what_passes_with_stock_counts():
    stock = {'a': 'passed', 'b': 'failed', 'c': 'skipped', 'd': 'passed'}
    assert compare.worse(stock, dict.fromkeys(stock, 'failed')) == [Difference('a', 'passed', 'failed'),
                                                                    Difference('d', 'passed', 'failed')]
    assert compare.worse(stock, dict(stock, b='passed')) == []


@pytest.mark.parametrize('outcome', ['failed', 'skipped', 'xfailed', 'xpassed'])
def test_anything_but_passed_is_worse(outcome):
    assert compare.worse({'a': 'passed'}, {'a': outcome}) == [Difference('a', 'passed', outcome)]


def test_a_test_that_is_missing_is_worse():
    assert compare.worse({'a': 'passed'}, {}) == [Difference('a', 'passed', compare.LOST)]


@pytest.mark.parametrize('stock,ours,stays', [
    ('passed', 'failed', True), ('passed', 'passed', False), ('failed', 'failed', False), ('passed', 'skipped', True),
    ('passed', None, True), (None, 'failed', True), (None, None, True)])
def test_what_a_second_round_calls_flaky(stock, ours, stays):
    """Not what it didn't run."""
    second = tuple({'a': outcome} if outcome else {} for outcome in (stock, ours))
    difference = [Difference('a', 'passed', 'failed')]
    found = compare.differing([({'a': 'passed'}, {'a': 'failed'}), second])
    assert found == ((difference, []) if stays else ([], difference))


@pytest.mark.parametrize('ours,stays', [(['failed'], True), (['passed', 'failed', 'passed'], False),
                                        (['passed', 'failed', 'failed'], True)])
def test_what_fails_in_two_rounds_stays(ours, stays):
    found = compare.differing([({'a': 'passed'}, {'a': outcome}) for outcome in ours])
    assert [len(one) for one in found] == ([1, 0] if stays else [0, 1])


def test_every_round_is_looked_at():
    rounds = [({'a': 'passed'}, {'a': 'passed'}), ({'a': 'passed'}, {}), ({'a': 'passed'}, {})]
    assert compare.differing(rounds) == ([Difference('a', 'passed', compare.LOST)], [])


@pytest.mark.parametrize('stock,ours,reason', [
    (STOCK, OURS, None), (None, OURS, 'with sqlite3 did not get to its end'),
    (STOCK, None, 'with sqpyte did not get to its end'), (OURS, OURS, 'with sqlite3 had'),
    (STOCK, STOCK, 'with sqpyte had another'), (STOCK, dict(OURS, version='3.2'), '3.1 with sqlite3, 3.2')])
def test_each_side_has_to_have_run_on_its_library(stock, ours, reason):
    said = compare.untrusted(Results({'a': 'passed'}, stock), Results({'a': 'passed'}, ours))
    assert said is None if reason is None else reason in said


def test_a_suite_without_a_test_that_passes_proves_nothing():
    assert 'no test passes with sqlite3' in compare.untrusted(Results({}, STOCK), Results({'a': 'passed'}, OURS))


def test_what_is_meant_excuses_a_test_and_may_not_stay_unused():
    entries = [Meant('p', 'h', 'sqpyte', 'a', 'why'), Meant('p', 'h', 'sqpyte', 'gone', 'why')]
    differences = [Difference(name, 'passed', 'failed') for name in 'ab']
    wrong, unused = compare.judge(differences, entries)
    assert wrong == differences[1:] and unused == entries[1:]


def test_an_entry_is_for_one_project_on_one_host_on_the_sides_that_it_names(monkeypatch):
    entry = Meant('sqlalchemy', projects.PYPY, 'sqpyte sqpyte-always', 'a', 'why')
    monkeypatch.setattr(meant, 'MEANT', [entry])
    found = {(one.name, one.host, side): meant.of(one, side) for one in projects.PROJECTS
             for side in projects.SIDES[one.host] if meant.of(one, side)}
    assert found == {('sqlalchemy', projects.PYPY, side): [entry] for side in ('sqpyte', 'sqpyte-always')}


def test_results_of_a_process_that_died(tmp_path):
    path = tmp_path / 'results'
    path.write_text(json.dumps({'test': 'a', 'outcome': 'passed'}) + '\n')
    assert compare.read(str(path)) == Results({'a': 'passed'}, None)


def test_projects_are_known_by_name():
    assert {one.name for one in projects.chosen(['dataset'])} == {'dataset'}
    assert projects.chosen([]) == list(projects.PROJECTS)
    assert {one.host for one in projects.chosen([], [projects.PYPY])} == {projects.PYPY}
    with pytest.raises(ValueError, match='no project nothing'):
        projects.chosen(['nothing'])


@pytest.mark.parametrize('arguments, pythons, ran, code, said', [
    ([], [projects.CPYTHON, projects.PYPY], {projects.CPYTHON, projects.PYPY}, 0, 'no pypy-3.11 here'),
    ([], [projects.CPYTHON, projects.PYPY_311], {projects.CPYTHON, projects.PYPY_311}, 0, 'no pypy-3.9 here'),
    ([], [projects.CPYTHON], set(), 2, 'error: no pypy-3.11, pypy-3.9'),
    ([], [projects.PYPY], set(), 2, 'error: no cpython-3.12'),
    (['--host', 'pypy-3.11'], [projects.PYPY], set(), 2, 'error: no pypy-3.11')])
def test_one_pypy_is_enough(monkeypatch, capsys, arguments, pythons, ran, code, said):
    """A system has one: that of another version isn't asked for unless it is named."""
    found = set()

    def one(project, python, say):
        found.add(project.host)
        return {'passed': True, 'problem': None, 'sides': {}}
    monkeypatch.setattr(ecosystem, 'interpreters', lambda: dict.fromkeys(pythons, '/python'))
    monkeypatch.setattr(ecosystem, 'one', one)
    assert ecosystem.main(arguments) == code
    assert found == ran and said in capsys.readouterr().err


def test_what_is_meant_names_projects_hosts_and_sides_that_there_are():
    known = {(one.name, one.host) for one in projects.PROJECTS}
    for one in meant.MEANT:
        assert (one.project, one.host) in known and one.reason
        assert one.sides and set(one.sides.split()) < set(projects.SIDES[one.host]), one


def test_every_environment_is_pinned():
    assert len({(one.name, one.host) for one in projects.PROJECTS}) == len(projects.PROJECTS)
    for one in projects.PROJECTS:
        with open(install.constraints(one)) as file:
            assert all('==' in line for line in file), one


def test_an_environment_without_pins_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(install, 'constraints', lambda _: str(tmp_path / 'none.txt'))
    with pytest.raises(install.Failed, match='--freeze dataset'):
        install.environment('python', projects.PROJECTS[0], False)


def test_two_processes_do_not_run_one_suite_in_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(install, 'FOLDER', str(tmp_path))
    with run.alone(projects.PROJECTS[0]):
        with pytest.raises(install.Failed, match='another `make test-ecosystem`'), run.alone(projects.PROJECTS[0]):
            pass
        with run.alone(projects.PROJECTS[1]):
            pass
    with run.alone(projects.PROJECTS[0]):
        pass


class Debian:
    """Stands in for an apt.Archive of which one suite can't be updated."""

    def __init__(self, has_it):
        self.has_it = has_it

    def update(self):
        raise apt.Unavailable("sid's release is expired")

    def download(self, package, version, folder):
        if not self.has_it:
            raise apt.Unavailable('unable to find a source package')


def test_a_suite_that_is_not_updated_does_not_hide_the_others(tmp_path):
    install.from_debian(Debian(True), projects.PROJECTS[0], str(tmp_path))
    with pytest.raises(install.Failed, match="unable to find a source package; sid's release is expired"):
        install.from_debian(Debian(False), projects.PROJECTS[0], str(tmp_path))
