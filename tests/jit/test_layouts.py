"""The VM's traces are the same in every process, wherever its memory lies."""
import os
import random
import subprocess

import pytest

from tests.jit.traces import traces_of

LAYOUTS = 20
QUERIES = [
    'SELECT sum(a) FROM t',
    "SELECT sum(b) FROM t WHERE d >= '1993-01-01' AND d < '1995-01-01'",
    'SELECT c, count(*), sum(b) FROM t GROUP BY c',
]


@pytest.fixture(scope='module')
def command(paths, vm_library):
    return os.path.join(paths.build, 'sqpyte')


@pytest.fixture(scope='module')
def database(command, tmp_path_factory):
    path = tmp_path_factory.mktemp('jit') / 'layouts.db'
    subprocess.run([command, str(path), '''
        CREATE TABLE t(a INTEGER, b REAL, c TEXT, d DATE);
        INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60000)
            SELECT 1000 + n % 17, n + 0.5, 'some text ' || (1000 + n % 7), '1994-01-01' FROM r;
        '''], check=True)
    return path


@pytest.mark.parametrize('sql', QUERIES)
def test_the_same_traces_in_every_layout(command, database, sql, tmp_path):
    """Environments of different lengths; addresses differ by themselves, too."""
    seed = random.randrange(10 ** 6)
    print('seed of the environments:', seed)
    padding = random.Random(seed)
    shapes = []
    for _ in range(LAYOUTS):
        _, traces = traces_of(command, database, sql, tmp_path / 'log', padding=padding.randrange(20000))
        shapes.append([(trace.is_loop, trace.names, trace.calls) for trace in traces])
    assert any(is_loop for is_loop, _, _ in shapes[0])
    assert all(shape == shapes[0] for shape in shapes), [
        number for number in range(LAYOUTS) if shapes[number] != shapes[0]]
