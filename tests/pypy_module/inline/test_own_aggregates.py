"""SQLite's own aggregates of what Python functions return: their steps are done in Python, on C's accumulators."""

import random

import pytest

import sqpyte
from c_engine.generated import layout
from pypy_module.ffi.library import address_of, ffi
from sqpyte.vm.base import mem
from sqpyte.vm.values import aggregates
from sqpyte.vm.values.values import W_Int
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Counter, answers, planned

LARGE = 2 ** 63 - 1
# What the function returns, row by row.
VALUES = {
    'ints': lambda i: i * 7919 % 1000 - 300,
    'floats': lambda i: (i * 7919 % 1000 - 300) / 7,
    'floats that cancel': lambda i: [1e300, 1.0, -1e300, 1e-9][i % 4],
    'ints and floats': lambda i: i if i % 5 else i / 3,
    'a float after ints': lambda i: i if i < 400 else i / 3,
    'large ints and floats': lambda i: [2 ** 60 + i, -2 ** 60, .5, 2 ** 53 + 1][i % 4],
    'overflow': lambda i: LARGE if i > 300 else i,
    'overflow and back': lambda i: [LARGE, -LARGE][i % 2] if i != 350 else LARGE,
    'overflow of floats': lambda i: 1e308 if i % 3 else 1,
    'infinities': lambda i: [float('inf'), 1.0, -float('inf')][i % 3] if i > 200 else 1.0,
    'not a number': lambda i: float('nan') if i % 4 else 2,
    'NULLs': lambda i: None if i % 3 else i,
    'nothing but NULLs': lambda i: None,
    'texts': lambda i: 'text %d' % (i * 7919 % 1000),
    'numbers in texts': lambda i: '%d.5x' % i,
    'blobs': lambda i: b'%d' % i,
    'everything': lambda i: [None, i, i / 4, 'x%d' % i, b'y', True, '', b'', -0.0, 0][i * 31 % 10],
    'zeros': lambda i: -0.0 if i % 2 else 0,
    'texts late': lambda i: i if i < 600 else str(i),
    'falling': lambda i: -i,
    'an error': lambda i: 1 // (i - 500),
}
AGGREGATES = 'sum(f({0})), total(f({0})), avg(f({0})), count(f({0})), count(*), min(f({0})), max(f({0}))'
QUERIES = [
    'SELECT %s FROM t' % AGGREGATES.format('id'),
    'SELECT sum(f(id)) FROM t', 'SELECT max(f(id)) FROM t', 'SELECT min(f(id)), max(f(id)), id FROM t',
    'SELECT max(f(id)), other FROM t', 'SELECT count(f(id)), sum(1), sum(NULL) FROM t WHERE f(id) IS NOT 3',
    'SELECT %s FROM t INDEXED BY t_other' % AGGREGATES.format('other'),
    'SELECT %s FROM u CROSS JOIN t ON t.id = u.k' % AGGREGATES.format('u.k'),
    'SELECT g, %s FROM t GROUP BY g' % AGGREGATES.format('id'),
    'SELECT sum(f(id)) FILTER (WHERE id %% 3), max(f(id)) FILTER (WHERE f(id) > 7), %s FROM t' % (
        AGGREGATES.format('id')),
    'SELECT sum(f(id) + 1), avg(f(id) || \'\'), total(-f(id)), max(f(id) + 0.5) FROM t WHERE id > 5',
    'SELECT (SELECT sum(f(t.id)) FROM t WHERE t.id < u.k), k FROM u WHERE k < 30',
    'SELECT sum(f(id)) FROM t HAVING count(*) > 3', 'SELECT sum(f(id)) FROM t WHERE id < 0',
    'SELECT group_concat(f(id)), group_concat(f(other), f(g)), count(DISTINCT f(id)), json_group_array(f(id)) FROM t',
    'SELECT upper(f(id)), hex(f(other)), length(upper(f(id))) || f(g) FROM t WHERE f(id) IS NOT 5',
    'SELECT g, group_concat(f(u.k)), max(upper(f(t.id))), count(f(t.id)) FROM u CROSS JOIN t ON t.id = u.k GROUP BY g',
]


def filled(side):
    """A connection with 800 rows, two indexes and a smaller table."""
    connection = side.connect()
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, g, other)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', ((i, i // 37, i) for i in range(800)))
    connection.execute('CREATE INDEX t_other ON t(other)')
    connection.execute('CREATE TABLE u(k)')
    connection.executemany('INSERT INTO u VALUES(?)', ((i * 3,) for i in range(250)))
    connection.commit()
    return connection


@pytest.mark.parametrize('values', list(VALUES))
def test_results_are_stocks_to_the_last_bit(values):
    def action(side):
        connection = filled(side)
        connection.create_function('f', 1, VALUES[values])
        return [repr(outcome(lambda: connection.execute(query).fetchall())) for query in QUERIES for _ in range(2)]
    before = Counter.started
    found = answers(action, ('C', 'inlined', 'later'))      # in C upstream's own code does it
    assert found['inlined'] == found['later'] == found['C']
    assert Counter.started > before + len(QUERIES)


@pytest.mark.parametrize('seed', range(6))
def test_values_at_random(seed):
    def action(side):
        rng = random.Random(seed)
        choices = rng.sample([None, 0, 1, -1, 2 ** 62, -2 ** 62, 2 ** 52, -2 ** 52 - 1, .1, -.1, 1e18, -1e18, 1e-300,
                              'a', '7', b'7', 4503599627370496, 9007199254740993.0], 5)
        connection = filled(side)
        connection.create_function('f', 1, lambda i: rng.choice(choices))
        return [repr(outcome(lambda: connection.execute(query).fetchall())) for query in (
            'SELECT sum(f(id)) FROM t', 'SELECT total(f(id)), avg(f(id)) FROM t WHERE id < 500',
            'SELECT min(f(id)), max(f(id)) FROM t', 'SELECT g, sum(f(id)), max(f(other)) FROM t GROUP BY g')]
    found = answers(action, ('C', 'inlined'))
    assert found['inlined'] == found['C']


def test_a_statement_that_goes_on_in_c_has_the_same_accumulator():
    """After any row: the function writes, which hands the statement back."""
    def action(side):
        found = []
        for at in (0, 1, 2, 77, 400, 799):
            connection = filled(side)

            def f(i):
                if i == at:
                    connection.execute('UPDATE u SET k = k + 1 WHERE k = 3')
                return i / 3
            connection.create_function('f', 1, f)
            found += [connection.execute('SELECT sum(f(id)), max(f(id)), count(f(id)) FROM t').fetchall()
                      for _ in range(2)]
            connection.rollback()
        return found
    found = answers(action, ('C', 'inlined'))
    assert found['inlined'] == found['C']


def test_steps_are_done_in_python():
    with planned('inlined'):
        connection = sqpyte.connect(':memory:')
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', ((i,) for i in range(9)))
        connection.create_function('f', 1, lambda value: value)
        for query in ('SELECT sum(f(a)) FROM t', 'SELECT count(*), max(f(a)) FROM t'):
            connection.execute(query).fetchall()
            assert 'aggregate_step_of(' in str(sqpyte.explain(connection, query)[0])


def test_more_steps_than_an_int_has():
    """How many steps there were is an int of C's, which wraps."""
    accumulator, context = ffi.new('char[]', layout.sizeof_Mem), ffi.new('int64_t[]', 8)
    at = address_of(accumulator)
    mem.set_u16(at, layout.Mem_flags, layout.MEM_Agg)
    mem.set_i64(at, layout.Mem_z, address_of(context))
    mem.set_i32(at, layout.Mem_n, 2 ** 31 - 1)
    assert aggregates.step(at, aggregates.COUNT, W_Int(5)) == aggregates.DONE
    assert mem.i32(at, layout.Mem_n) == -2 ** 31 and mem.i64(address_of(context), layout.CountCtx_n) == 1
