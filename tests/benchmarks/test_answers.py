"""The answer check, and what becomes of the times of a query whose answers differ."""

import pytest

from benchmarks.run import answers, measure
from benchmarks.run.engines import Engine, EngineFailure, Outcome, Settings, outcome

SETTINGS = Settings(0, 0.0, 1, 0.0, None, None, 60, 'wall')


def made(answer, seconds=1.0, checksums=('a',)):
    """Return the Outcome of a process whose runs all gave `answer`."""
    return Outcome({}, 0.0, 2 * seconds, [seconds] * 3, 0, [answer], list(checksums))


class FakeEngine(Engine):
    """An engine that gives prepared Outcomes and notes the order of calls."""

    in_turns = False

    def __init__(self, name, outcomes, log):
        self.name = name
        self.outcomes = list(outcomes)
        self.log = log

    def run(self, query, scale, database, settings):
        self.log.append(self.name)
        found = self.outcomes.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def run(first, second):
    """Run two fake engines with these Outcomes; return the Report."""
    engines = {'base': FakeEngine('base', first, []), 'new': FakeEngine('new', second, [])}
    return measure.run('suite', engines, 'base', ['query'], 1.0, 'path', SETTINGS, len(first))


@pytest.mark.parametrize('left, right', [
    ([[1]], [[1.0]]), ([[1.0]], [[1.0000000000000002]]), ([['a', 1]], [['a', 2]]),
    ([[1], [2]], [[2], [1]]), ([[1], [2]], [[1]]), ([[None]], [['']]), ([[0.0]], [[-0.0]]),
    ({'rows': 1}, {'rows': 2}), ([], [[None]]),
])
def test_the_smallest_difference_is_one(left, right):
    assert answers.same(left, left)
    assert not answers.same(left, right)
    problems = answers.differences({'base': [made(left)], 'new': [made(right)]}, 'base')
    assert len(problems) == 1 and problems[0].startswith('new, process 1: ')


def test_the_difference_is_shown():
    assert answers.explain([[1, 'x'], [2, 'y']], [[1, 'x'], [2, 'z']]) == \
        'at 1: [2, "z"] instead of [2, "y"]'
    assert answers.explain([[1]], [[1], [2]]) == '2 values instead of 1'


def test_runs_of_one_process_must_agree():
    changing = made([1])._replace(answers=[[1], [2]])
    problems = answers.differences({'base': [made([1])], 'new': [changing]}, 'base')
    assert 'its runs gave different answers' in problems[0]
    unsteady = made([1], checksums=('a', 'b'))
    assert answers.differences({'base': [made([1])], 'new': [unsteady]}, 'base')


def test_checksums_of_measured_runs_must_agree():
    problems = answers.differences(
        {'base': [made([1])], 'new': [made([1], checksums=('b',))]}, 'base')
    assert problems == ['new, process 1: checksum b instead of a']


def test_equal_answers_give_results():
    report = run([made([1], 2.0)] * 3, [made([1], 1.0)] * 3)
    assert report.problems == {}
    base, new = report.results
    assert (base['engine'], base['ratio'], base['median_s']) == ('base', 1.0, 2.0)
    assert (new['engine'], new['baseline'], new['ratio']) == ('new', 'base', 2.0)
    assert (new['ratio_low'], new['ratio_high']) == (2.0, 2.0)
    assert (new['first_run_s'], new['first_ratio']) == (2.0, 2.0)


def test_different_answers_give_no_times():
    report = run([made([1])] * 2, [made([1]), made([2])])
    assert report.results == []
    assert report.problems == {'query': ['new, process 2: at 0: 2 instead of 1']}


def test_a_failing_process_gives_no_times():
    report = run([made([1])], [EngineFailure('new: exit code 1')])
    assert report.results == []
    assert report.problems == {'query': ['new: exit code 1']}


def test_engines_take_turns():
    log = []
    engines = {name: FakeEngine(name, [made([1])] * 4, log) for name in 'AB'}
    measure.collect(engines, 'query', 1.0, 'path', SETTINGS, 4)
    assert ''.join(log) == 'ABBAABBA'


def test_unreadable_output_is_a_failure():
    with pytest.raises(EngineFailure, match='vm: cannot read'):
        outcome('vm', 'no JSON')
