"""Each version of Python has the semantics of its sqlite3: every row of versions.TABLE, on both of its sides."""

import os
import subprocess
import sys

import pytest

from pypy_module.dbapi import versions
from pypy_module.ffi.place import ROOT

# For each row: the code, what it gives before that version, and from it on. `error(f)` gives the class and the text
# of what f raises, `warned(f)` the class of its warning; c is a connection.
ROWS = {
    'message for SQL that is no str': (
        "error(lambda: c.execute(5)), error(lambda: c.cursor().executemany(None, ()))",
        "('TypeError: argument 1 must be str, not int', 'TypeError: argument 1 must be str, not None')",
        "('TypeError: execute() argument 1 must be str, not int', "
        "'TypeError: executemany() argument 1 must be str, not None')"),
    'message for a named parameter without a value': (
        "error(lambda: c.execute('SELECT :a', {}))",
        'ProgrammingError: You did not supply a value for binding 1.',
        'ProgrammingError: You did not supply a value for binding parameter :a.'),
    'what a converter gets of a text in a UTF-16 database': (
        "[d.execute('PRAGMA encoding = \"UTF-16be\"') and None, sqpyte.register_converter('X', lambda data: data), "
        "d.execute('SELECT 12 AS \"a [x]\", \\'12\\' AS \"b [x]\"').fetchone()]",
        "[None, None, (b'12', b'12')]", "[None, None, (b'12', b'\\x001\\x002')]"),
    'a collation that returns a float, or anything else with `__int__` alone': (
        "[c.create_collation('k', lambda x, y: float(x) - float(y)), "
        "c.execute(\"SELECT column1 FROM (VALUES('10'), ('9'), ('2.5'), ('-1')) ORDER BY column1 COLLATE k\")"
        ".fetchall(), "
        "c.execute(\"SELECT '10' > '9' COLLATE k, '9.5' > '9' COLLATE k, max('9', '10' COLLATE k)\").fetchall()][1:]",
        "[[('-1',), ('2.5',), ('9',), ('10',)], [(1, 0, '10')]]",
        "[[('10',), ('9',), ('2.5',), ('-1',)], [(0, 0, '9')]]"),
    'what a trace callback is told of the statements of a trigger': (
        "[c.executescript('CREATE TABLE t(a); CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT new.a; END'), "
        "c.create_function('f', 1, lambda a: d.execute('SELECT 1') and a), "
        "[(c.set_trace_callback(told.append), c.execute('INSERT INTO t VALUES(f(?))', (5,)), told)[2] "
        "for told in [[]]]][2]",
        "[['BEGIN ', 'INSERT INTO t VALUES(f(5))', '-- TRIGGER tr', '-- SELECT new.a']]",
        "[['BEGIN ', 'INSERT INTO t VALUES(f(5))', 'INSERT INTO t VALUES(f(5))', 'INSERT INTO t VALUES(f(5))']]"),
    '`execute` of several statements': (
        "error(lambda: c.execute('SELECT 1; SELECT 2'))", 'Warning: You can only execute one statement at a time.',
        'ProgrammingError: You can only execute one statement at a time.'),
    'SQL with a null character': (
        "error(lambda: c.execute('SELECT 1\\0'))", 'ValueError: the query contains a null character',
        'ProgrammingError: the query contains a null character'),
    'parameters that are no sequence': (
        "error(lambda: c.execute('SELECT ?', 5))", 'ValueError: parameters are of unsupported type',
        'ProgrammingError: parameters are of unsupported type'),
    'a parameter of another type': (
        "error(lambda: c.execute('SELECT ?, ?', (1, ...))), error(lambda: c.execute('SELECT :a', {'a': ...}))",
        "('InterfaceError: Error binding parameter 1 - probably unsupported type.', "
        "'InterfaceError: Error binding parameter :a - probably unsupported type.')",
        '''("ProgrammingError: Error binding parameter 2: type 'ellipsis' is not supported", '''
        '''"ProgrammingError: Error binding parameter 1: type 'ellipsis' is not supported")'''),
    "a buffer that isn't contiguous (`memoryview(b'abcd')[::2]`)": (
        "error(lambda: c.execute('SELECT ?', (memoryview(b'1234')[::2],)))",
        'ValueError: could not convert BLOB to buffer',
        'BufferError: memoryview: underlying buffer is not C-contiguous'),
    '`executescript` of anything but a str': (
        "error(lambda: c.executescript(b''))", 'ValueError: script argument must be unicode.',
        'TypeError: executescript() argument must be str, not bytes'),
    '`isolation_level`': (
        "[setattr(c, 'isolation_level', 'immediate'), c.isolation_level, c.execute('CREATE TABLE t(a)') and None, "
        "c.execute('INSERT INTO t VALUES(1)') and c.in_transaction, error(lambda: setattr(c, 'isolation_level', 5)), "
        "error(lambda: setattr(c, 'isolation_level', 'x'))]",
        "[None, 'immediate', None, True, 'TypeError: isolation_level must be a string or None, not int', "
        "'ValueError: invalid value for isolation_level']",
        "[None, 'IMMEDIATE', None, True, 'TypeError: isolation_level must be str or None', "
        '''"ValueError: isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or 'EXCLUSIVE'"]'''),
    '`with`, and `isolation_level = None`, of a closed connection': (
        "[c.close(), error(lambda: c.__enter__() is c), error(lambda: setattr(c, 'isolation_level', None))]",
        "[None, True, None]",
        "[None, 'ProgrammingError: Cannot operate on a closed database.', "
        "'ProgrammingError: Cannot operate on a closed database.']"),
    'fetching after `Connection.rollback`': (
        "[c.execute('CREATE TABLE t(a)') and None, c.execute('INSERT INTO t VALUES(1)') and None, "
        "[(r, r.fetchone(), one, all, new, all.fetchall(), c.rollback(), error(r.fetchone), error(r.fetchall), "
        "error(one.fetchone), error(all.fetchone), error(new.fetchone), r.execute('SELECT 5').fetchall())[5:] "
        "for r, one, all, new in [(c.execute('VALUES(1), (2), (3)'), c.execute('SELECT 6'), c.execute('SELECT 7'), "
        "c.cursor())]]]",
        "[None, None, [([(7,)], None, %s, [(5,)])]]" % ', '.join(5 * ["'InterfaceError: Cursor needed to be reset "
        "because of commit/rollback and can no longer be fetched from.'"]),
        "[None, None, [([(7,)], None, (2,), [(3,)], (6,), None, None, [(5,)])]]"),
    'converters and text factory for the first row': (
        "[sqpyte.register_converter('X', lambda data: seen.append(data) or len(data)), "
        "[(r, list(seen), r.fetchall(), list(seen))[1:] for r in "
        "[d.execute('SELECT 123 AS \"a [x]\" UNION ALL SELECT 4')]], setattr(c, 'text_factory', seen.append), "
        "[(r, list(seen)[2:])[1] for r in [c.execute(\"SELECT 'a' UNION ALL SELECT 'b'\")]]]",
        "[None, [([b'123'], [(3,), (1,)], [b'123', b'4'])], None, [[b'a']]]",
        "[None, [([], [(3,), (1,)], [b'123', b'4'])], None, [[]]]"),
    'a comment before INSERT, UPDATE, DELETE or REPLACE': (
        "c.execute('CREATE TABLE w(a)') and c.execute(' /* c */ INSERT INTO w VALUES(1)').rowcount, c.in_transaction",
        '(-1, False)', '(1, True)'),
    '`execute` of a subclass of Connection with a `cursor` of its own': (
        "[(m, [type(x).__name__ for x in (m.execute('SELECT 1'), m.executescript(''))])[1] for m in "
        "[type('C', (sqpyte.Connection,), {'cursor': lambda s: type('Own', (sqpyte.Cursor,), {})(s)})(':memory:')]]",
        "[['Own', 'Own']]", "[['Cursor', 'Cursor']]"),
    '`threadsafety`': ('sqpyte.threadsafety', '1', '3'),
    'names of collations': (
        "error(lambda: c.create_collation('a b', lambda x, y: 0)), c.create_collation('A_1', lambda x, y: 0)",
        "('ProgrammingError: invalid character in collation name', None)", '(None, None)'),
    'where `enable_callback_tracebacks` has exceptions shown': (
        "[sqpyte.enable_callback_tracebacks(True), setattr(sys, 'excepthook', lambda *error: seen.append('except')), "
        "setattr(sys, 'unraisablehook', lambda what: seen.append('unraisable')), "
        "error(lambda: c.execute('SELECT memory()').fetchall()) and seen, sqpyte.enable_callback_tracebacks(False)][3]",
        "['except']", "['unraisable']"),
    'a function that raises MemoryError, or OverflowError, or returns an int beyond 64 bits': (
        "[error(lambda: c.execute('SELECT %s()' % name).fetchall()) for name in ('memory', 'overflow', 'large')]",
        '[%s]' % ', '.join(["'OperationalError: user-defined function raised exception'"] * 3),
        "['MemoryError: ', 'DataError: string or blob too big', 'DataError: string or blob too big']"),
    'an aggregate without `step`': (
        "error(lambda: c.execute('SELECT nostep(1)').fetchall())",
        "AttributeError: 'NoStep' object has no attribute 'step'",
        "OperationalError: user-defined aggregate's 'step' method not defined"),
    'message for an aggregate without `finalize`': (
        "error(lambda: c.execute('SELECT nofinalize(1)').fetchall())",
        "OperationalError: user-defined aggregate's 'finalize' method raised error",
        "OperationalError: user-defined aggregate's 'finalize' method not defined"),
    '`OptimizedUnicode`, `enable_shared_cache`': (
        "getattr(sqpyte, 'OptimizedUnicode', None), hasattr(sqpyte, 'enable_shared_cache') and "
        "sqpyte.enable_shared_cache(False), 'enable_shared_cache' in dir(sqpyte)", "(<class 'str'>, None, True)",
        '(None, False, False)'),
    '`version`, default adapters and converters, named parameters by position': (
        "[warned(lambda: sqpyte.version), warned(lambda: c.execute('SELECT ?', (datetime.date(2020, 1, 1),))), "
        "warned(lambda: c.execute('SELECT :a', (1,)))]", '[None, None, None]',
        "['DeprecationWarning', 'DeprecationWarning', 'DeprecationWarning']"),
    'parameters of `connect`, functions and hooks that become positional-only or keyword-only': (
        "[warned(lambda: sqpyte.connect(':memory:', 5.0).close()), "
        "warned(lambda: c.create_function('f', 0, func=None)), "
        "warned(lambda: c.set_trace_callback(trace_callback=None))]", '[None, None, None]',
        "['DeprecationWarning', 'DeprecationWarning', 'DeprecationWarning']"),
    'a connection that is dropped, and not closed': (
        "warned(lambda: dropped())", 'None', 'ResourceWarning'),
    '`iterdump` of rows that violate a foreign key': (
        "[c.executescript('CREATE TABLE t(a INTEGER PRIMARY KEY, b REFERENCES t); INSERT INTO t VALUES(1, 2)') and "
        "None, list(c.iterdump())[0]]", "[None, 'BEGIN TRANSACTION;']", "[None, 'PRAGMA foreign_keys=OFF;']"),
}
PROGRAM = '''
import datetime, gc, sys, warnings
import sqpyte

def error(action):
    try:
        return action()
    except (Exception, sqpyte.Warning) as error:
        return '%s: %s' % (type(error).__name__, error)

def warned(action):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        action()
    return found[0].category.__name__ if found else None

def dropped():
    sqpyte.connect(':memory:')
    for _ in range(3):
        gc.collect()

def window_sum():
    from tests.pypy_module.inline.inlining import Sum   # here, as it takes longer to load than all else does
    return Sum

def memory():
    raise MemoryError

def overflow():
    raise OverflowError

class NoStep:
    def finalize(self):
        return 1

class NoFinalize:
    def step(self, value):
        pass

warnings.simplefilter('ignore')
c = sqpyte.connect(':memory:')
d = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_COLNAMES)
c.create_function('memory', 0, memory)
c.create_function('overflow', 0, overflow)
c.create_function('large', 0, lambda: 1 << 70)
c.create_aggregate('nostep', 1, NoStep)
c.create_aggregate('nofinalize', 1, NoFinalize)
seen = []
found = str(eval(sys.argv[1]))
c.close()
d.close()
print(found)
'''


def run(code, version, **variables):
    """What the code gives with a version's semantics, and environment variables (str)."""
    environment = dict(os.environ, PYTHONPATH=ROOT, SQPYTE_SEMANTICS='%d.%d' % version, **variables)
    done = subprocess.run([sys.executable, '-c', PROGRAM, code], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    return done.stdout.strip()


@pytest.mark.parametrize('row', versions.TABLE, ids=[row[1][:40] for row in versions.TABLE])
def test_both_sides(row):
    (major, minor), what, _, _ = row
    code, before, after = ROWS[what]
    assert run(code, (major, minor - 1)) == before
    assert run(code, (major, minor)) == after


@pytest.mark.parametrize('sql', ["SELECT 'a'", "SELECT 'a' UNION ALL SELECT 'b'"])
def test_a_text_factory_that_is_set_behind_the_first_row(sql):
    code = "[(r, setattr(c, 'text_factory', bytes), r.fetchone())[2] for r in [c.execute(%r)]]" % sql
    assert run(code, (3, 10)) == "[('a',)]"
    assert run(code, (3, 11)) == "[(b'a',)]"


@pytest.mark.parametrize('sql', [
    'SELECT a, s FROM t', 'SELECT f(a), s FROM t', 'SELECT f(t.a), u.s FROM t JOIN t AS u ON u.a = t.a',
    'SELECT w(a) OVER (ORDER BY rowid ROWS 2 PRECEDING), s FROM t',
    'SELECT w(a) OVER (ORDER BY b ROWS 2 PRECEDING), s FROM t'])
@pytest.mark.parametrize('version, expected', [
    ((3, 10), "('0', '1', '50', b'51', b'52', '53')"), ((3, 11), "(b'0', b'1', b'50', b'51', '52', '53')")])
@pytest.mark.parametrize('inline', ['always', '0'])
def test_a_text_factory_that_is_set_amid_rows(sql, version, expected, inline):
    """Before 3.11 a row is made when the one before it is fetched, whatever has been computed ahead by then."""
    code = ("[c.executescript('CREATE TABLE t(a INTEGER PRIMARY KEY, b, s TEXT)'), c.executemany("
            "'INSERT INTO t VALUES(?, ?, ?)', [(i, i, str(i)) for i in range(100)]), c.create_function("
            "'f', 1, lambda a: a), c.create_window_function('w', 1, window_sum()), [(p.execute(%r), setattr("
            "c, 'text_factory', bytes), p.fetchone()[1], setattr(c, 'text_factory', str), p.fetchone() and q.execute("
            "%r), q.fetchone(), setattr(c, 'text_factory', bytes), q.fetchone()[1], setattr(c, 'text_factory', str), "
            "[q.fetchone() for i in range(48)], setattr(c, 'text_factory', bytes), q.fetchone()[1], q.fetchone()[1], "
            "setattr(c, 'text_factory', str), q.fetchone()[1], q.fetchone()[1])[2:] for p, q in [(c.cursor(), "
            "c.cursor())]]][4]" % (sql, sql))
    found = run('tuple(x for x in %s[0] if isinstance(x, (str, bytes)))' % code, version, SQPYTE_INLINE=inline)
    assert found == expected


def test_a_first_row_that_is_not_utf_8():
    code = "[error(lambda: c.execute(\"SELECT cast(x'80' AS TEXT)%s\") and 'no error') for end in ('', '')]"
    for end in '', ' UNION ALL SELECT 5':
        assert 'Could not decode' in run(code % end, (3, 10))
        assert run(code % end, (3, 11)) == "['no error', 'no error']"


def test_each_row_is_tested():
    assert sorted(ROWS) == sorted(row[1] for row in versions.TABLE)


def test_the_page_has_the_table():
    from tools import version_page, written
    text = written.content(version_page.PAGE)
    assert version_page.page(text) == text, 'run `make docs`'


@pytest.mark.parametrize('version', ['old', '3.8', '2.7', '3.11.2'])
def test_a_version_that_is_none(version):
    assert 'SQPYTE_SEMANTICS=%s: it takes a version of Python from 3.9 on, such as 3.11' % version in subprocess.run(
        [sys.executable, '-c', 'import sqpyte; sqpyte.connect'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=dict(os.environ, PYTHONPATH=ROOT, SQPYTE_SEMANTICS=version), universal_newlines=True).stdout
