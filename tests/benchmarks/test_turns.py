"""Processes that take turns run by run: their order, phases, and what becomes of failures."""

import os
import select
import subprocess
import sys
import types

import pytest

from benchmarks import places
from benchmarks.run import engines, measure, turns

SETTINGS = engines.Settings(2, 0.0, 3, 0.0, None, None, 600, 'wall')
PROGRAM = """
import sys, time
name, log = sys.argv[1:3]
samples = []
for line in sys.stdin:
    with open(log, 'a') as file:
        file.write('%s %s' % (name, line))
    {body}
    print(1.5, flush=True)
print('{{"configuration": {{}}, "startup_s": 0, "first_run_s": 1.5, "samples_s": [1.5], '
      '"warmup_runs": 2, "answers": [1]}}')
"""


class Program(engines.Engine):
    """An engine whose processes note their turns in a file."""

    in_turns = True

    def __init__(self, name, log, body='pass'):
        self.name = name
        self.log = log
        self.body = body

    def command(self, query, scale, database, settings):
        assert settings.runs == 'turns'
        return [sys.executable, '-c', PROGRAM.format(body=self.body), self.name, self.log], None

    def read(self, found):
        return found


def test_runs_take_turns_and_rounds_are_reversed(tmp_path):
    log = str(tmp_path / 'log')
    both = {name: Program(name, log) for name in 'AB'}
    found = measure.collect(both, 'query', 1.0, 'path', SETTINGS, 2)
    assert [len(found[name]) for name in 'AB'] == [2, 2]
    with open(log) as file:
        noted = file.read().splitlines()
    phases = ['first'] + ['warmup'] * 2 + ['run'] * 3
    assert noted == ['%s %s' % (name, phase) for order in ('AB', 'BA')
                     for phase in phases for name in order]


def test_a_phase_lasts_until_every_engine_has_run_for_its_time(tmp_path):
    log = str(tmp_path / 'log')
    long = SETTINGS._replace(seconds=4.0)    # a run takes 1.5 s, so the process says
    turns.outcomes([Program('A', log)], 'query', 1.0, 'path', long)
    with open(log) as file:
        assert file.read().count('run') == 3
    turns.outcomes([Program('B', log)], 'query', 1.0, 'path', long._replace(runs=1))
    with open(log) as file:
        assert file.read().count('B run') == 3


@pytest.mark.parametrize('body, message', [
    ('sys.exit("too hot")', 'B: exit code 1\ntoo hot'),
    ('time.sleep(3600)', 'B: no end in time'),
])
def test_a_failing_process_ends_all(tmp_path, monkeypatch, body, message):
    """A process that fails, or whose time is over while it runs, ends the others."""
    log = str(tmp_path / 'log')
    processes = []

    def until_b_sleeps(reads, writes, others, left):
        """select.select, but time is over as soon as B runs; no clock decides."""
        while True:
            ready = select.select(reads, writes, others, 0.01)
            if ready[0]:
                return ready
            with open(log) as file:
                if 'sleep' in body and 'B first' in file.read():
                    return [], [], []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **keywords):
            super().__init__(*args, **keywords)
            processes.append(self)

    monkeypatch.setattr(turns, 'select', types.SimpleNamespace(select=until_b_sleeps))
    monkeypatch.setattr(turns.subprocess, 'Popen', Noted)
    open(log, 'w').close()
    with pytest.raises(engines.EngineFailure) as caught:
        turns.outcomes([Program('A', log), Program('B', log, body)], 'query', 1.0, 'path',
                       SETTINGS)
    assert message in str(caught.value)
    assert [process.poll() is not None for process in processes] == [True, True]


def test_a_c_program_takes_turns(tmp_path):
    """The driver's samples are as many as were asked for, and its failures are named."""
    engine = engines.LibraryEngine('stock', places.stock_library, lambda query, scale: query)
    left, right = turns.outcomes([engine, engine], 'SELECT 1', 1.0, ':memory:', SETTINGS)
    for found in (left, right):
        assert (found.warmup_runs, len(found.samples_s), found.answers) == (2, 3, [[[1]]])
        assert 0 < found.first_run_s and 0 < found.startup_s
    with pytest.raises(engines.EngineFailure, match='no such table: absent'):
        turns.outcomes([engine], 'SELECT * FROM absent', 1.0, ':memory:', SETTINGS)


def test_no_process_is_left(tmp_path):
    engine = Program('A', str(tmp_path / 'log'))
    with turns.Waiting(engine, 'query', 1.0, 'path', SETTINGS) as process:
        process.run('first')
    with pytest.raises(ProcessLookupError):
        os.kill(process.process.pid, 0)
