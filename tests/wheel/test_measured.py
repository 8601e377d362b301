"""The benchmarks find the copy that the wheel was made of, and CPython's own module calls it there."""

import pytest

from benchmarks import places
from benchmarks.data import databases
from benchmarks.run import startup
from benchmarks.run.engines import CALLS, PythonEngine, Settings

SETTINGS = Settings(0, 0.0, 1, 0.0, None, None, 600, 'wall')
NAMES = ['points', 'names', 'q6', 'mixed-threads-2']


@pytest.mark.parametrize('name', NAMES)
def test_it_gives_stocks_answers(wheel_file, name):
    database = databases.DATASETS['tpch'].ensure(0.01)
    stock, installed = [engine.run(name, 0.01, database, SETTINGS) for engine in CALLS.values()]
    assert installed.answers == stock.answers and len(stock.answers) == 1


def test_a_short_program_runs_on_it(wheel_file, monkeypatch):
    monkeypatch.setattr(startup, 'MODULES', ('sqpyte',))
    program = startup.PROGRAMS['import and SELECT 1'] + 'assert module.backend == "sqlite3", module.backend.reason'
    (own, whole), = startup.measure(program, 1, host='cpython')['sqpyte']
    assert 0 < own < whole


def test_another_library_is_refused(wheel_file, monkeypatch):
    engine = CALLS['installed-cpython']
    assert engine.check(':memory:', SETTINGS)['libraries'] == [places.installed() + '/sqpyte/lib/libsqlite3.so.0']
    monkeypatch.setattr(PythonEngine, 'check', lambda self, *_: {'libraries': ['/other'], 'executable': 'python'})
    with pytest.raises(places.Missing, match='does not take its SQLite from'):
        engine.check(':memory:', SETTINGS)
