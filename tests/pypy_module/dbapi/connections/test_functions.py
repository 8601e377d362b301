"""Functions, aggregates and window functions written in Python."""

import pytest

import sqpyte
from pypy_module.dbapi.connections.functions import UNROLLED
from pypy_module.dbapi.connections.session import session_of
from tests.pypy_module.inline.inlining import Sum


@pytest.mark.parametrize('value', [
    0, -2 ** 63, 2 ** 63 - 1, 1.5, float('inf'), 'ä€😀', '', 'a\0b', 'x' * 10000, b'', b'\0\xff',
    None])
def test_values_pass_through(connection, value):
    seen = []

    def echo(value):
        seen.append(value)
        return value
    connection.create_function('echo', 1, echo)
    assert connection.execute('SELECT echo(?)', (value,)).fetchone() == (value,)
    assert seen == [value]
    assert type(seen[0]) is type(value)


@pytest.mark.parametrize('value, result', [
    (True, 1), (bytearray(b'ab'), b'ab'), (memoryview(b'xab')[1:], b'ab'), (float('nan'), None)])
def test_results_of_other_types(connection, value, result):
    connection.create_function('f', 0, lambda: value)
    assert connection.execute('SELECT f()').fetchone() == (result,)


@pytest.mark.parametrize('count', [0, 1, 2, UNROLLED, UNROLLED + 1, 100])
@pytest.mark.parametrize('variadic', [False, True])
def test_any_number_of_arguments(connection, count, variadic):
    connection.create_function('count_them', -1 if variadic else count, lambda *args: repr(args))
    arguments = tuple(range(count))
    sql = 'SELECT count_them(%s)' % ', '.join(map(str, arguments))
    assert connection.execute(sql).fetchone() == (repr(arguments),)
    if not variadic and count:
        with pytest.raises(sqpyte.OperationalError, match='wrong number of arguments'):
            connection.execute('SELECT count_them()')


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('raised, kind, message', [
    (ValueError(), sqpyte.OperationalError, 'user-defined function raised exception'),
    (KeyboardInterrupt(), sqpyte.OperationalError, 'user-defined function raised exception'),
    (OverflowError(), sqpyte.DataError, 'string or blob too big'),
    (MemoryError(), MemoryError, '')])
def test_exceptions(connection, raised, kind, message):
    def function():
        raise raised
    connection.create_function('f', 0, function)
    with pytest.raises(kind) as caught:
        connection.execute('SELECT f()')
    assert str(caught.value) == message


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('value, kind', [
    (object(), sqpyte.OperationalError), (2 ** 63, sqpyte.DataError),
    ('\ud8ff', sqpyte.OperationalError), (memoryview(b'abc')[::2], sqpyte.OperationalError)])
def test_results_that_sqlite_has_no_type_for(connection, value, kind):
    connection.create_function('f', 0, lambda: value)
    with pytest.raises(kind):
        connection.execute('SELECT f()')


def test_arguments_that_are_not_utf8(connection):
    connection.create_function('f', 1, lambda text: 1)
    with pytest.raises(sqpyte.OperationalError, match='user-defined function raised exception'):
        connection.execute("SELECT f(CAST(x'ff' AS TEXT))")


def test_an_argument_that_is_not_utf8_ends_an_aggregate(connection):
    calls = []

    class Noting:
        def __init__(self):
            calls.append('__init__')

        def step(self, text):
            calls.append(text)

        def finalize(self):
            calls.append('finalize')
    connection.create_aggregate('s', 1, Noting)
    for rows, expected in (("(x'ff'), ('a')", []), ("('a'), (x'ff'), ('b')", ['a'])):
        del calls[:]
        with pytest.raises(sqpyte.OperationalError, match="user-defined aggregate's 'step' method raised error"):
            connection.execute('SELECT s(CAST(column1 AS TEXT)) FROM (VALUES %s)' % rows).fetchall()
        assert calls == ['__init__', *expected, 'finalize']


def test_deterministic_functions(connection):
    connection.create_function('pure', 1, lambda a: a, deterministic=True)
    connection.create_function('impure', 1, lambda a: a)
    connection.execute('CREATE TABLE t(a)')
    connection.execute('CREATE INDEX i ON t(pure(a))')
    with pytest.raises(sqpyte.OperationalError, match='non-deterministic functions prohibited'):
        connection.execute('CREATE INDEX j ON t(impure(a))')
    connection.executemany('INSERT INTO t VALUES (?)', [(3,), (1,)])
    assert connection.execute('SELECT a FROM t ORDER BY pure(a)').fetchall() == [(1,), (3,)]


def test_functions_in_triggers_and_checks(connection):
    connection.create_function('positive', 1, lambda a: a > 0, deterministic=True)
    seen = []
    connection.create_function('note', 1, seen.append)
    connection.executescript("""
        CREATE TABLE t(a CHECK (positive(a)));
        CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT note(new.a); END
    """)
    connection.execute('INSERT INTO t VALUES (5)')
    with pytest.raises(sqpyte.IntegrityError, match='CHECK constraint failed'):
        connection.execute('INSERT INTO t VALUES (-5)')
    assert seen == [5]


def test_defining_again_and_removing(connection):
    connection.create_function('f', 1, lambda a: 'first')
    cursor = connection.execute('SELECT f(1) UNION ALL SELECT f(2)')
    with pytest.raises(sqpyte.OperationalError, match='Error creating function'):
        connection.create_function('f', 1, lambda a: 'second')
    assert cursor.fetchall() == [('first',)] * 2
    connection.create_function('F', 1, lambda a: 'third')
    connection.create_function('f', 2, lambda a, b: 'two')
    assert connection.execute('SELECT f(1), f(1, 2)').fetchall() == [('third', 'two')]
    connection.create_aggregate('f', 1, Sum)
    assert connection.execute('SELECT f(1)').fetchall() == [(1,)]
    session = session_of(connection)
    assert set(session.registered) == {('f', 1), ('f', 2)} and len(session.python) == 2
    connection.create_aggregate('f', 1, None)
    assert session.registered['f', 1] is None and len(session.python) == 1
    with pytest.raises(sqpyte.OperationalError, match='wrong number of arguments'):
        connection.execute('SELECT f(1)')


@pytest.mark.since(3, 13)
def test_what_cannot_be_defined(connection):
    with pytest.raises(sqpyte.OperationalError, match='Error creating function'):
        connection.create_function('f', -100, lambda: 1)
    with pytest.raises(sqpyte.OperationalError, match='Error creating aggregate'):
        connection.create_aggregate('f', -100, Sum)
    with pytest.raises(sqpyte.ProgrammingError, match='bad parameter or other API misuse'):
        connection.create_window_function('f', -100, Sum)
    for args in [(), ('f',), ('f', 1), (1, 1, len), ('f', 1, len, True)]:
        with pytest.raises(TypeError):
            connection.create_function(*args)
    with pytest.warns(DeprecationWarning, match="keyword arguments 'name', 'narg' and 'func'"):
        connection.create_function(name='f', narg=0, func=lambda: 1)
    assert connection.execute('SELECT f()').fetchone() == (1,)


def test_aggregates(numbers):
    numbers.create_aggregate('mysum', 1, Sum)
    assert numbers.execute('SELECT mysum(a), mysum(a * 2) FROM t').fetchone() == (45, 90)
    assert numbers.execute('SELECT a % 2, mysum(a) FROM t GROUP BY 1').fetchall() == [
        (0, 20), (1, 25)]
    assert numbers.execute('SELECT mysum(a) FROM t WHERE a > 100').fetchone() == (None,)
    assert numbers.execute('SELECT mysum(DISTINCT a / 5) FROM t').fetchone() == (1,)
    assert numbers.execute('SELECT mysum(a) FILTER (WHERE a < 3) FROM t').fetchone() == (3,)


def test_window_functions(numbers):
    numbers.create_window_function('mysum', 1, Sum)
    sql = ('SELECT a, mysum(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t '
           'WHERE a < 5')
    assert numbers.execute(sql).fetchall() == [(0, 1), (1, 3), (2, 6), (3, 9), (4, 7)]
    assert numbers.execute('SELECT mysum(a) FROM t').fetchone() == (45,)
    numbers.create_window_function('mysum', 1, None)
    with pytest.raises(sqpyte.OperationalError, match='no such function: mysum'):
        numbers.execute(sql)


def without(method, **others):
    """Sum with a method that fails, or without it if that is None."""
    def fail(self, *args):
        raise ZeroDivisionError
    body = dict(vars(Sum))
    del body[method]
    if others.get('fails'):
        body[method] = fail
    return type('Broken', (), body)


@pytest.mark.parametrize('method, message', [
    ('__init__', "user-defined aggregate's '__init__' method raised error"),
    ('step', "user-defined aggregate's 'step' method raised error"),
    ('inverse', "user-defined aggregate's 'inverse' method raised error"),
    ('value', "user-defined aggregate's 'value' method raised error")])
def test_aggregates_that_fail(numbers, method, message):
    numbers.create_window_function('broken', 1, without(method, fails=True))
    with pytest.raises(sqpyte.OperationalError) as caught:
        numbers.execute('SELECT broken(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW'
                        ') FROM t').fetchall()
    assert str(caught.value) == message


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('method', ['step', 'inverse', 'value'])
def test_aggregates_without_a_method(numbers, method):
    numbers.create_window_function('broken', 1, without(method))
    with pytest.raises(sqpyte.OperationalError,
                       match="user-defined aggregate's '%s' method not defined" % method):
        numbers.execute('SELECT broken(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW'
                        ') FROM t').fetchall()


@pytest.mark.since(3, 11)
def test_finalize_that_fails(numbers):
    for fails, problem in [(True, 'raised error'), (False, 'not defined')]:
        numbers.create_aggregate('broken', 1, without('finalize', fails=fails))
        with pytest.raises(sqpyte.OperationalError,
                           match="user-defined aggregate's 'finalize' method " + problem):
            numbers.execute('SELECT broken(a) FROM t')


def test_instances_do_not_pile_up(numbers):
    numbers.create_aggregate('mysum', 1, Sum)
    numbers.create_aggregate('broken', 1, without('step', fails=True))
    for _ in range(5):
        numbers.execute('SELECT a, mysum(a) FROM t GROUP BY a').fetchall()
        numbers.execute('SELECT a, mysum(a) FROM t GROUP BY a').fetchone()
        with pytest.raises(sqpyte.OperationalError):
            numbers.execute('SELECT broken(a) FROM t')
    for python in session_of(numbers).python.values():
        assert len(python.instances) <= 1


def test_functions_call_functions(numbers):
    """Python calls SQL calls Python, on the same connection, with the same function."""
    def factorial(n):
        if n == 0:
            return 1
        smaller, = numbers.execute('SELECT factorial(?)', (n - 1,)).fetchone()
        return n * smaller
    numbers.create_function('factorial', 1, factorial)
    assert numbers.execute('SELECT factorial(10)').fetchone() == (3628800,)

    class Nested(Sum):
        def step(self, value):
            inner, = numbers.execute('SELECT factorial(?)', (value % 4,)).fetchone()
            self.total += inner
    numbers.create_aggregate('nested', 1, Nested)
    assert numbers.execute('SELECT nested(a) FROM t').fetchone() == (
        sum([1, 1, 2, 6][i % 4] for i in range(10)),)


def test_a_function_writes_to_the_table_that_is_read(numbers):
    numbers.create_function('drop_it', 1, lambda a: numbers.execute(
        'DELETE FROM t WHERE a = ?', (a,)).rowcount)
    assert numbers.execute('SELECT drop_it(a) FROM t').fetchall() == [(1,)] * 10
    assert numbers.execute('SELECT count(*) FROM t').fetchone() == (0,)


def test_a_function_closes_the_connection(numbers, collect):
    """The database is closed when SQLite has returned; nothing crashes."""
    other = sqpyte.connect(':memory:')
    other.create_function('close_it', 0, lambda: other.close())
    other.create_function('close_it', 1, lambda a: other.close() or a)
    with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed database.'):
        other.execute('SELECT close_it(value) FROM json_each(?)', ['[1, 2, 3]']).fetchall()
    with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed database.'):
        other.execute('SELECT 1')
    other.close()
    collect()


@pytest.mark.since(3, 11)
def test_tracebacks_of_callbacks(connection, monkeypatch):
    shown = []
    monkeypatch.setattr('sys.unraisablehook', shown.append)

    def function():
        return 1 // 0
    connection.create_function('f', 0, function)
    for enable in (True, False):
        sqpyte.enable_callback_tracebacks(enable)
        with pytest.raises(sqpyte.OperationalError):
            connection.execute('SELECT f()')
    assert len(shown) == 1
    assert shown[0].exc_type is ZeroDivisionError
    assert shown[0].object is function
    assert shown[0].exc_traceback.tb_frame.f_code is function.__code__


@pytest.mark.parametrize('first, second', [('É', 'é'), ('k', '\u212a'), ('ß', 'ẞ')])
@pytest.mark.parametrize('removed', [False, True])
def test_names_that_differ_beyond_ascii_are_two(connection, collect, first, second, removed):
    """SQLite folds ASCII's letters alone; C goes on calling the first one."""
    connection.create_function(first, 1, lambda a: 'first')
    connection.create_aggregate(first, 2, Sum)
    connection.create_function(second, 1, None if removed else lambda a: 'second')
    connection.create_aggregate(second, 2, None if removed else Sum)
    collect()
    for number in range(100):
        connection.create_function('g%d' % number, 1, lambda a: 'wrong')
    assert connection.execute('SELECT "%s"(1)' % first).fetchall() == [('first',)]
    assert set(session_of(connection).registered) >= {(first, 1), (second, 1)}


def test_a_name_s_case_does_not_matter(connection):
    connection.create_function('Abc', 1, lambda a: 'first')
    connection.create_function('aBC', 1, lambda a: 'second')
    assert connection.execute('SELECT ABC(1)').fetchall() == [('second',)]
    assert list(session_of(connection).registered) == [('abc', 1)]


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('method', ['step', 'finalize'])
def test_a_hook_that_raises(numbers, monkeypatch, method, capsys):
    """What it raises is shown, and changes nothing."""
    def hook(what):
        raise KeyError('of the hook')
    monkeypatch.setattr('sys.unraisablehook', hook)
    methods = {'step': lambda self, value: None, 'finalize': lambda self: 1, method: lambda self, *values: 1 // 0}
    numbers.create_aggregate('fails', 1, type('Fails', (), methods))
    sqpyte.enable_callback_tracebacks(True)
    try:
        with pytest.raises(sqpyte.OperationalError, match="user-defined aggregate's '%s' method raised error" % method):
            numbers.execute('SELECT fails(a) FROM t').fetchall()
    finally:
        sqpyte.enable_callback_tracebacks(False)
    assert 'of the hook' in capsys.readouterr().err


def test_a_number_of_arguments_that_is_too_large(connection):
    with pytest.raises(sqpyte.OperationalError, match='Error creating function'):
        connection.create_function('f', 2 ** 31 - 1, len)
