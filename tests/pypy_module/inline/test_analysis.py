"""What the inliner takes over, what it leaves to other tiers, and why."""
import gc

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.dbapi.statements import tiers
from pypy_module.inline import policy
from sqpyte.vm.base import mem
from tests.pypy_module.inline.inlining import planned

PASSING = 'of rows that pass C does the rest'
INLINED = {
    'SELECT a, b FROM t': 'computed in the program that asks for them',
    'SELECT a FROM t WHERE b > ? LIMIT 5': 'computed in the program that asks for them',
    'SELECT a FROM t LIMIT 5 OFFSET 3': 'one ahead',
    'SELECT f(a) FROM t': 'one ahead',
    'SELECT a FROM t WHERE f(a) > 3': 'one ahead',
    'SELECT s(a) FROM t': 'runs as one loop',
    'SELECT s(f(a), b) FROM t WHERE b > 3 AND f(a) < 5': 'runs as one loop',
    'SELECT s(a), max(b), count(*) FROM t WHERE c LIKE \'x%\'': 'runs as one loop',
    'SELECT f(a) || abs(b) FROM t': 'one ahead',
    'SELECT a FROM t UNION ALL SELECT b FROM t': 'computed in the program that asks for them',
    'SELECT DISTINCT f(b) FROM t': PASSING,
    'SELECT t.a FROM t CROSS JOIN t AS u ON u.a = t.b WHERE f(t.a) > 5': PASSING,
    'SELECT f(t.a) FROM t WHERE f(t.a) IN (SELECT b FROM i)': PASSING,
    'SELECT t.a, u.c FROM t CROSS JOIN t AS u ON u.a = t.b WHERE t.c > \'x\' COLLATE mine': PASSING,
}
REVERSIBLE = 'rolled back where it matters'
STORED = 'what they return it stores'
# Rows that C computes ahead, many in one call.
AHEAD = {
    'SELECT t.a FROM t, t AS u WHERE t.b = u.c': REVERSIBLE,
    'SELECT t.a, i.b FROM t JOIN i ON i.b = t.a LEFT JOIN w ON k = t.b': REVERSIBLE,
    'SELECT abs(a) FROM t': REVERSIBLE,
    'SELECT a || b FROM t': REVERSIBLE,
    'SELECT a FROM t WHERE b LIKE \'x%\'': REVERSIBLE,
    'SELECT a FROM t WHERE b IN (1, 5, 9)': REVERSIBLE,
    'SELECT a FROM t WHERE b IN (SELECT b FROM i)': REVERSIBLE,
    'SELECT a FROM t ORDER BY a DESC': REVERSIBLE,
    'SELECT k FROM w': REVERSIBLE,
    'SELECT b FROM i': REVERSIBLE,
    'SELECT a FROM i WHERE b = 5': REVERSIBLE,
    'SELECT CAST(a AS TEXT) FROM t': REVERSIBLE,
    'SELECT a & b FROM t': REVERSIBLE,
    'SELECT a, (SELECT count(*) FROM i WHERE i.b = t.a) FROM t': REVERSIBLE,
    'SELECT b, count(*) FROM i GROUP BY b': REVERSIBLE,
    'SELECT DISTINCT b FROM i': REVERSIBLE,
    'SELECT DISTINCT b, c FROM t': REVERSIBLE,
    'SELECT a FROM t UNION ALL SELECT k FROM w': REVERSIBLE,
    'SELECT * FROM v': REVERSIBLE,
    'SELECT e FROM g WHERE e > 3 AND d > 0': REVERSIBLE,
    'SELECT a FROM t ORDER BY b': 'computed ahead',
    'SELECT a FROM t ORDER BY b LIMIT 5 OFFSET 2': 'computed ahead',
    'SELECT b, count(*) FROM t GROUP BY b': 'computed ahead',
    'SELECT a FROM t UNION SELECT b FROM t': 'computed ahead',
    'SELECT a, sum(b) OVER (ORDER BY a) FROM t': 'computed ahead',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r LIMIT 9) SELECT n FROM r':
        'computed ahead',
    'WITH c AS MATERIALIZED (SELECT a FROM t) SELECT * FROM c': 'computed ahead',
    'VALUES (1), (2), (3)': 'computed ahead',
    'SELECT f(t.a) FROM t, i': 'they run in the program',
    'SELECT upper(f(t.a)) || i.b FROM t, i': 'they run in the program',
    'SELECT f(t.a), i.b FROM t CROSS JOIN i ON i.b = t.a WHERE f(i.a) > 3 LIMIT 5':
        'they run in the program',
    'SELECT t.a FROM t CROSS JOIN i ON i.b = t.a WHERE f(t.a) > 5': REVERSIBLE,
    'SELECT s(t.a), count(*) FROM t, i': 'they run as one loop in Python',
    'SELECT t.c, s(t.a), max(i.b) FROM t, i GROUP BY t.c': 'they run as one loop in Python',
    'SELECT a, w(b) OVER (ORDER BY c ROWS 3 PRECEDING) FROM t': 'without them',
    'SELECT a, w(b) OVER (PARTITION BY c ORDER BY b), w(c) OVER (PARTITION BY c ORDER BY b) FROM t':
        'without them',
    'SELECT w(b) OVER (PARTITION BY c), sum(b) OVER (PARTITION BY c) FROM t': 'without them',
    'SELECT a, w(b) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t': REVERSIBLE,
    'SELECT w(b) OVER (ORDER BY c ROWS 3 PRECEDING) + 1 FROM t': 'without them',
    'SELECT round(w(b) OVER (ORDER BY a ROWS 3 PRECEDING) * a, 2) FROM t': REVERSIBLE,
    'SELECT a, w(a) OVER (ORDER BY b) FROM i': REVERSIBLE,
    'SELECT s(t.a), max(i.b) FROM t, i': STORED,
    'SELECT a FROM t ORDER BY f(b)': STORED,
    'SELECT a FROM t ORDER BY f(b) LIMIT 5': STORED,
    'SELECT f(b), count(*) FROM t GROUP BY f(b)': STORED,
    'SELECT f(i.b), s(t.a) FROM t, i GROUP BY 1': STORED,
    'SELECT count(DISTINCT f(b)) FROM t': STORED,
    'SELECT count(*), max(i.a) FROM t CROSS JOIN i WHERE f(i.b) > 3': STORED,
    'SELECT f(a) FROM t UNION SELECT f(b) FROM t': STORED,
}
# This list may only shrink.
LEFT = {
    'SELECT t.a FROM t WHERE b IN (SELECT c FROM t AS u WHERE u.a > t.a LIMIT 2)': 'can\'t be rolled back',
    'SELECT count(*) FROM t': 'no second row',
    'SELECT sum(a) FROM t': 'no second row',
    'SELECT value FROM json_each(\'[1,2]\')': 'opcode VNext can\'t be rolled back',
    'SELECT a, random() FROM t': 'it calls the function random',
    'SELECT a, date(\'now\', b) FROM t': 'it calls the function date',
    'SELECT random(), f(t.a) FROM t JOIN i ON i.b = t.a': 'call at 8: it calls the function random',
    'SELECT f(t.a), (SELECT count(*) FROM i WHERE i.b = t.a) FROM t': 'opcode BeginSubrtn follows a Python call',
    'SELECT DISTINCT f(t.a) FROM t, i': 'opcode Found uses a Python call\'s result',
    'SELECT max(i.b), s(t.a) FROM t, i': 'the aggregate max, beside a Python call',
    'SELECT s(f(a)) FROM (SELECT a FROM t ORDER BY b LIMIT 9)': 'in no loop over a table',
    'SELECT s(f(n)) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r LIMIT 9) '
    'SELECT n FROM r)': 'in no loop over a table',
    'SELECT b FROM t ORDER BY b COLLATE mine': 'a collation that is not SQLite\'s own',
    'SELECT w(b) OVER (ORDER BY c ROWS 3 PRECEDING) > 1 FROM t': 'opcode Gt uses a Python call\'s result',
    'SELECT w(b) OVER x, rank() OVER x FROM t WINDOW x AS (ORDER BY a ROWS 3 PRECEDING)':
        'the window function rank',
    'SELECT w(b) OVER (ORDER BY c), f(a) FROM t': 'a function written in Python is called for each row',
    'SELECT w(b) OVER (ORDER BY c COLLATE mine) FROM t': 'a collation that is not SQLite\'s own',
    'DELETE FROM t': 'not a query',
}


@pytest.fixture
def tables():
    """A connection with tables and functions."""
    with planned('inlined'):
        connection = sqpyte.connect(':memory:', isolation_level=None)
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
        connection.execute('CREATE TABLE i(a, b)')
        connection.execute('CREATE INDEX ib ON i(b)')
        connection.execute('CREATE TABLE w(k PRIMARY KEY) WITHOUT ROWID')
        connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [(i, i, i) for i in range(100)])
        connection.execute('CREATE VIEW v AS SELECT t.a FROM t, i')
        connection.execute('CREATE TABLE g(d, e AS (d + 1), f AS (d * 2) STORED)')
        connection.execute('CREATE INDEX ge ON g(e) WHERE d > 0')
        connection.create_collation('mine', lambda a, b: (a > b) - (a < b))
        connection.create_function('f', 1, lambda value: value)
        connection.create_aggregate('s', -1, type('S', (), {
            'step': lambda self, *values: None, 'finalize': lambda self: 1}))
        connection.create_window_function('w', -1, type('W', (), {
            'step': lambda self, *values: None, 'inverse': lambda self, *values: None,
            'value': lambda self: 1, 'finalize': lambda self: 1}))
        yield connection
        connection.close()


@pytest.mark.parametrize('query', sorted(INLINED))
def test_inlined(tables, query):
    plan, = sqpyte.explain(tables, query)
    assert plan.tier == 'inliner'
    assert INLINED[query] in plan.reason


@pytest.mark.parametrize('query', sorted(AHEAD))
def test_ahead(tables, query):
    plan, = sqpyte.explain(tables, query)
    assert plan.tier == 'inliner'
    assert AHEAD[query] in plan.reason
    assert AHEAD[query] == REVERSIBLE or REVERSIBLE not in plan.reason


@pytest.mark.parametrize('query', sorted(LEFT))
def test_left_to_other_tiers(tables, query):
    plan, = sqpyte.explain(tables, query)
    assert plan.tier != 'inliner', plan.reason
    assert LEFT[query] in plan.reason


def test_the_generated_code_is_shown(tables):
    query = 'SELECT a FROM t WHERE b > 3'
    tables.execute(query).fetchall()
    plan, = sqpyte.explain(tables, query)
    assert 'def __next__(self):' in plan.detail
    compile(plan.detail, 'detail', 'exec')


def test_obstacles(tables):
    query = 'SELECT a FROM t'

    def reason():
        plan, = sqpyte.explain(tables, query)
        return plan.reason if plan.tier != 'inliner' else ''
    assert reason() == ''
    tables.text_factory = bytes
    assert 'converted' in reason()
    tables.text_factory = str
    tables.set_progress_handler(lambda: 0, 1000)
    assert 'progress handler' in reason()
    tables.set_progress_handler(None, 0)
    assert reason() == ''


def test_classes_are_shared_by_content(tables):
    from pypy_module.inline import known as module
    other = sqpyte.connect(':memory:', isolation_level=None)
    other.deserialize(tables.serialize())
    found = []
    for connection in (tables, other):
        connection.execute('SELECT b FROM t').fetchall()
        known = session_of(connection).statements['SELECT b FROM t'].inlined.known
        found.append(known.shapes)
    assert found[0] is found[1]
    assert isinstance(found[0], module.Shapes)
    other.close()


def test_what_is_known_of_queries_is_bounded(tables):
    from pypy_module.inline import known as module
    query = 'SELECT b FROM t WHERE a > %d'
    expected = tables.execute(query % -1).fetchall()
    for number in range(module.MOST_SHAPES + 20):
        tables.execute(query % -number).fetchall()
    known = [key[0] for key in module._shapes]
    assert len(known) == module.MOST_SHAPES
    assert set(known) <= set(module.interner.by_number)
    assert len(module.interner.by_number) <= 2 * module.MOST_SHAPES
    assert tables.execute(query % -1).fetchall() == expected


def test_what_nobody_runs_leads_to_nothing(tables):
    """The classes of many texts are kept by PyPy's JIT: not what they lead to, nor the programs' constants. A loop that
    is still running keeps all of it."""
    from pypy_module.inline import known as module
    query = "SELECT f(a), 'first' || c FROM t WHERE c <> 'second' AND a < 50"
    expected = tables.execute(query).fetchall()
    running = tables.execute(query)
    rows = [next(running) for _ in range(3)]
    shapes = session_of(tables).statements[query].inlined.known.shapes
    made = list(shapes.classes.values())
    program = shapes.program
    kept = len(mem._KEPT)
    del shapes

    def run_others():
        for number in range(3 * module.MOST_SHAPES):
            tables.execute("SELECT f(a) FROM t WHERE c <> 'text %d'" % number).fetchall()
        for _ in range(3):
            gc.collect()
    run_others()
    assert program.number not in module.interner.by_number
    assert made and all(one.loop is not None and one.source for one in made)
    assert len(mem._KEPT) < kept + 2 * module.MOST_SHAPES
    program = None
    rows += list(running)
    assert rows == expected
    del running
    run_others()        # so that the connection forgets the statement
    assert all(one.loop is None and not one.source for one in made)
    assert tables.execute(query).fetchall() == expected


def test_one_class_serves_rows_of_any_types(tables):
    query = 'SELECT b, c FROM t WHERE a > 2'
    values = [1, 1.5, 'x', b'y', None]
    made = set()
    for b in values:
        for c in values:
            tables.execute('UPDATE t SET b = ?, c = ?', (b, c))
            assert tables.execute(query).fetchall() == [(b, c)] * 97
            known = session_of(tables).statements[query].inlined.known
            made.update(known.shapes.classes.values())
    assert len(made) == 1


def test_short_statements_stay_in_c():
    before = tiers.planner
    tiers.planner = policy.Planner(100, 1000)
    try:
        connection = sqpyte.connect(':memory:', isolation_level=None)
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(300)])
        connection.create_aggregate('s', 1, type('S', (), {
            'step': lambda self, value: None, 'finalize': lambda self: 1}))
        connection.execute('SELECT a FROM t').fetchall()
        assert session_of(connection).statements['SELECT a FROM t'].inlined.known is None
        connection.execute('SELECT s(a) FROM t').fetchall()
        assert session_of(connection).statements['SELECT s(a) FROM t'].inlined.known is None
        for query in ('SELECT a FROM t', 'SELECT s(a) FROM t'):     # but not again and again
            for _ in range(5):
                connection.execute(query).fetchall()
            assert session_of(connection).statements[query].inlined.known is not None
        connection.close()
    finally:
        tiers.planner = before


@pytest.mark.parametrize('setting, tier_up', [
    ('0', None), ('1', policy.TIER_UP), ('always', 1)])
def test_environment(monkeypatch, setting, tier_up):
    monkeypatch.setenv('SQPYTE_INLINE', setting)
    planner = policy.planner_wanted()
    assert tier_up == (planner and planner.tier_up)
