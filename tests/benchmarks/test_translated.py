"""TPC-H's and SSB's queries give stock's answers in the translated VM: on small data in `make test`, at
scale 0.1 in `make test-all`.
"""

import functools

import pytest

from benchmarks.run import engines
from benchmarks.data import databases
from benchmarks.run.engines import LibraryEngine, Settings
from benchmarks.suites import queries, ssb
from tests.extent import everything

ALL = everything()
# At scale 0.01 four of SSB's queries find nothing.
SCALES = {'tpch': 0.1 if ALL else 0.01, 'ssb': 0.1 if ALL else 0.05}
QUERIES = [('tpch', name) for name in queries.NAMES] + [('ssb', name) for name in ssb.NAMES]
ENGINES = {'tpch': engines.TPCH, 'ssb': engines.SSB}
TEXTS = {'tpch': queries.text, 'ssb': ssb.text}
ONCE = Settings(warmup_runs=0, warmup_seconds=0.0, runs=1, seconds=0.0, cache_size=None,
                nursery=None, timeout=1800, clock='wall')


@functools.lru_cache(None)
def expected(suite, name):
    """(answers, checksums) of the stock library."""
    scale = SCALES[suite]
    found = ENGINES[suite]['stock'].run(name, scale, databases.DATASETS[suite].ensure(scale), ONCE)
    return found.answers, found.checksums


@pytest.mark.parametrize('mode, runs', [('hot', 3)] + [('always', 1)] * ALL)
@pytest.mark.parametrize('suite, name', QUERIES, ids=['-'.join(query) for query in QUERIES])
def test_answers(suite, name, mode, runs, vm_library, stock_library, monkeypatch):
    scale = SCALES[suite]
    monkeypatch.setenv('SQPYTE_VM', mode)
    found = LibraryEngine('vm', lambda: vm_library, TEXTS[suite]).run(
        name, scale, databases.DATASETS[suite].ensure(scale), ONCE._replace(warmup_runs=runs))
    assert (found.answers, found.checksums) == expected(suite, name)
