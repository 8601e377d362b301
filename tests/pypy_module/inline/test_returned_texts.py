"""Texts and blobs that functions return, in whatever takes them: compared in Python, or copied for C where it asks."""
import itertools

import sqpyte
from pypy_module.inline.values import nocase_key
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Counter, answers, planned


class Text(str):
    """A str of the program's own."""


VALUES = ['', 'a', 'A', 'a\0b', 'a\0', 'ab', 'ä', 'z', '\uffff', '\U00010000', '12', ' 12', '1e3', '0', Text('own'),
          'A\0B', 'a\0c', 'a\0bc', 'Ab', 'AB ', 'ab  ', ' ', 'Ä', 'a ', 'zZ', '[', 'aB\0',
          b'', b'a', b'12', b'\xff', b'\x00', None, 0, 12, -3, 2.5, 1000.0, 'x' * 300, b'y' * 300, True]
COMPARISONS = ['=', '<>', '<', '<=', '>', '>=', 'IS', 'IS NOT']
OTHERS = ["'a'", "'12'", "x'61'", '12', 'NULL', "'\U00010000'", "''", 's', 'n', '?', 'f(n)', 'f(id + 7)', 'f(f(n))',
          "(s || 'x')", "CAST(f(n) AS TEXT)"]
QUERIES = ['SELECT id FROM t WHERE f(id) %s %s' % pair for pair in itertools.product(COMPARISONS, OTHERS)]
QUERIES += ['SELECT id, f(n) FROM t WHERE %s' % condition for condition in [
    "f(id) BETWEEN 'a' AND f(n)", "f(id) IN ('a', '12', x'61', 12)", "f(id) COLLATE NOCASE = f(n)",
    "s > f(id) COLLATE NOCASE", "f(id) < f(n) COLLATE NOCASE", "f(id) = 'AB' COLLATE NOCASE", 'f(id) = b', 'b < f(id)',
    "f(id) = f(n) COLLATE RTRIM", "f(id) <= 'a' COLLATE RTRIM", "f(n) >= s COLLATE RTRIM", 'f(id) > ?',
    "f(id) >= x'00'", "f(id) = f(n) COLLATE own", "f(id) < 'ab' COLLATE own", "s >= f(n) COLLATE own",
    "f(id) IS NOT f(n) COLLATE own",
    'f(id) = CAST(s AS BLOB)', 'f(id)', 'NOT f(id)', 'f(id) AND f(n)', 'f(id) OR n', 'f(id) IS NULL', 'f(id) NOT NULL',
    "f(id) LIKE 'a%'", "CASE f(id) WHEN 'a' THEN f(n) WHEN '12' THEN 5 ELSE f(id + 1) END", 'n + f(id) > 3',
    '-f(id) < f(n)', "'a' || f(id) < f(n)",
    "upper(f(id)) = 'A'", "f(id) || f(n) > 'a'", 'CAST(f(id) AS INTEGER) = 12', 'typeof(f(id)) = typeof(f(n))',
    'f(id) > (SELECT min(s) FROM t)', 'EXISTS (SELECT 1 FROM u WHERE u.k = f(t.id))', 'max(f(id), f(n)) = f(n)']]
QUERIES += [
    'SELECT u.k, f(t.id) FROM u CROSS JOIN t ON t.id = u.n WHERE f(t.n) >= u.k',
    'SELECT t.id FROM t CROSS JOIN u ON u.k = f(t.id)',
    'SELECT s, count(*), max(f(id)), min(f(n)), group_concat(f(id)) FROM t WHERE f(n) > s GROUP BY s',
    'SELECT f(id), count(*) FROM t GROUP BY f(id) HAVING f(max(id)) > f(min(id))',
    'SELECT CAST(f(t.id) AS TEXT), f(t.id), u.k FROM u CROSS JOIN t ON t.id = u.n',
    'SELECT CAST(f(id) AS TEXT), f(id) FROM t', 'SELECT hex(CAST(f(id) AS TEXT)), f(id) FROM t ORDER BY id DESC',
    'SELECT f(CAST(f(t.id) AS TEXT)), u.k FROM u CROSS JOIN t ON t.id = u.n',
    'SELECT hex(x) FROM (SELECT CAST(f(t.id) AS TEXT) AS x, f(t.n) FROM u CROSS JOIN t ON t.id = u.n '
    'UNION SELECT f(id), f(id) FROM t) ORDER BY 1',
    'SELECT t.id FROM u CROSS JOIN t ON t.id = u.n WHERE f(t.id) = upper(t.s)',
    'SELECT DISTINCT f(id) FROM t WHERE f(n) >= f(id)', 'SELECT f(id) FROM t WHERE f(id) > f(n) ORDER BY f(n), id',
    'INSERT INTO u SELECT f(id), id FROM t WHERE f(id) > s RETURNING k, typeof(k)',
    'UPDATE t SET s = f(n) WHERE f(id) > s RETURNING s',
    "WITH RECURSIVE r(x, n) AS (SELECT 'a', 1 UNION ALL SELECT f(n), n + 1 FROM r WHERE n < 90 AND f(n) IS NOT x) "
    'SELECT x FROM r',
]


def filled(connection):
    """The connection, with two tables and the function."""
    connection.create_function('f', 1, lambda value: (
        VALUES[(value * 7 + 3) % len(VALUES)] if isinstance(value, int) else value))
    connection.create_collation('own', lambda a, b: (a[::-1] > b[::-1]) - (a[::-1] < b[::-1]))
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, n, s TEXT, b BLOB)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?, ?)', [
        (i, i * 31 % 97, VALUES[i % 27], VALUES[i % 11 + 27]) for i in range(120)])
    connection.execute('CREATE TABLE u(k, n)')
    connection.executemany('INSERT INTO u VALUES(?, ?)', [(value, i * 3) for i, value in enumerate(VALUES)])
    return connection


def test_answers_are_those_of_c():
    def action(side):
        connection = filled(side.connect())
        found = []
        for query in QUERIES:
            for parameter in 'ab', b'a', 'AB':
                found.append((query, parameter, repr(outcome(lambda: connection.execute(
                    query, (parameter,) if '?' in query else ()).fetchall()))))
        return found
    before = Counter.started
    found = answers(action, ('C', 'inlined', 'soon', 'later'))
    for name in 'inlined', 'soon', 'later':
        assert [pair for pair in zip(found[name], found['C']) if pair[0] != pair[1]] == []
    assert Counter.started > before + len(QUERIES)


def test_the_order_of_texts_is_that_of_their_bytes():
    with planned('inlined'):
        connection = sqpyte.connect(':memory:')
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(3)])
        connection.create_function('f', 1, ['\uffff', '\U00010000', 'a'].__getitem__)
        query = "SELECT a FROM t WHERE f(a) > '\uffff'"
        assert connection.execute(query).fetchall() == [(1,)]
        assert 'ReturnedText' in str(sqpyte.explain(connection, query)[0])


def test_what_is_compared_in_python():
    with planned('inlined'):
        connection = filled(sqpyte.connect(':memory:'))
        for query, emitted in [('SELECT id FROM t WHERE f(id) = f(id)', 'is ReturnedText and type(w'),
                               ("SELECT id FROM t WHERE f(id) = x'61'", 'is ReturnedBlob and type('),
                               ("SELECT id FROM t WHERE f(id) = 'AB' COLLATE NOCASE", 'nocase_key('),
                               ("SELECT id FROM t WHERE f(id) > 'ab' COLLATE RTRIM", "rstrip(b' ')"),
                               ("SELECT id FROM t WHERE f(id) > 'ab' COLLATE own", 'compared(')]:
            connection.execute(query).fetchall()
            assert emitted in str(sqpyte.explain(connection, query)[0]), query


def test_the_order_of_nocase_is_cs():
    connection = sqpyte.connect(':memory:')
    texts = [value for value in VALUES if isinstance(value, str)]
    for a, b in itertools.product(texts, texts):
        order = (nocase_key(a.encode()) > nocase_key(b.encode())) - (nocase_key(a.encode()) < nocase_key(b.encode()))
        assert connection.execute('SELECT (?1 > ?2 COLLATE NOCASE) - (?1 < ?2 COLLATE NOCASE)', (a, b)).fetchone() == (
            order,), (a, b)


def test_an_operand_lives_until_the_result_is_copied():
    """A Cast's result has its operand's bytes, in memory of Python's: freed too early, one in a thousand was wrong."""
    def action(side):
        connection = filled(side.connect())
        query = 'SELECT hex(CAST(f(id) AS TEXT)), f(id) FROM t ORDER BY id DESC'
        return [connection.execute(query).fetchall() for _ in range(40)]
    found = answers(action, ('C', 'inlined'))
    assert found['inlined'] == found['C']
