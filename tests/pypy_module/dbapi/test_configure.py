"""sqpyte.configure: settings of the process, all that are given or none."""

import inspect
import threading

import pytest

import sqpyte
from pypy_module.dbapi.statements import tiers


@pytest.fixture(autouse=True)
def saved():
    """What has been set is set back."""
    planner, before = tiers.planner, sqpyte.configure()
    before.pop('inline')
    yield
    sqpyte.configure(**before)
    tiers.planner = planner


def test_signature():
    assert str(inspect.signature(sqpyte.configure)) == (
        '(*, vm=None, threshold=None, memory=None, inline=None, without=None)')
    assert 'configure' in dir(sqpyte)


def test_without_arguments_nothing_changes():
    before, planner = sqpyte.configure(), tiers.planner
    assert sqpyte.configure() == before and tiers.planner is planner
    assert list(before) == ['vm', 'threshold', 'memory', 'inline', 'without']


@pytest.mark.parametrize('name, values', [
    ('vm', ['off', 'hot', 'always']), ('threshold', [1, 5000, 2 ** 31 - 1, 3000]),
    ('memory', [0, 1, 1 << 20, 64]), ('inline', [True, False, 'always', False])])
def test_values(name, values):
    before = sqpyte.configure()
    for value in values:
        found = sqpyte.configure(**{name: value})
        assert found == dict(before, **{name: value})
        assert sqpyte.configure() == found


@pytest.mark.parametrize('without, names', [
    ('memoize', ('memoize',)), (' row-cache , memoize,', ('memoize', 'row-cache')), ('', ()), ([], ()),
    (['slices', 'memoize'], ('memoize', 'slices')), (iter(('Column', 'memoize')), ('memoize', 'Column'))])
def test_names(without, names):
    assert sqpyte.configure(without='window-logs')['without'] == ('window-logs',)
    try:
        assert sqpyte.configure(without=without)['without'] == names
    except sqpyte.ProgrammingError as error:    # on a library whose VM has started
        assert 'Column' in names and 'too late' in str(error)


@pytest.mark.parametrize('settings, error, message', [
    ({'vm': 'cold'}, ValueError, "vm takes 'off', 'hot' or 'always', not 'cold'"),
    ({'vm': 1}, TypeError, "vm takes 'off', 'hot' or 'always', not 1"),
    ({'threshold': 0}, ValueError, 'threshold takes a number of rounds, from 1 to 2147483647, not 0'),
    ({'threshold': 2 ** 31}, ValueError, 'threshold takes'),
    ({'threshold': True}, TypeError, 'threshold takes'),
    ({'threshold': '5'}, TypeError, "threshold takes a number of rounds, from 1 to 2147483647, not '5'"),
    ({'memory': -1}, ValueError, 'memory takes MiB, from 0 to 1048576, not -1'),
    ({'memory': (1 << 20) + 1}, ValueError, 'memory takes MiB, from 0 to 1048576'),
    ({'memory': 1.5}, TypeError, 'memory takes MiB'),
    ({'inline': 'sometimes'}, ValueError, "inline takes True, False or 'always', not 'sometimes'"),
    ({'inline': 1}, TypeError, "inline takes True, False or 'always', not 1"),
    ({'without': 'nothing'}, ValueError, 'without has no "nothing"; there are aggregates, arithmetic'),
    ({'without': 'IsType'}, ValueError, 'without has no "IsType"'),
    ({'without': ['slices,window-logs']}, ValueError, 'without takes names'),
    ({'without': [b'slices']}, TypeError, 'without takes names'),
    ({'without': 5}, TypeError, 'without takes names, in a str with commas between them or in an iterable, not 5'),
    ({'without': 'a\0b'}, ValueError, 'without takes names'),
    ({'without': '\ud800'}, ValueError, 'without has no'),
    ({'without': 'x' * 100000}, ValueError, 'without has no'),
], ids=str)
def test_what_is_wrong_changes_nothing(settings, error, message):
    before, planner = sqpyte.configure(without='window-logs'), tiers.planner
    given = dict({'vm': 'off', 'threshold': 7, 'memory': 7, 'inline': 'always', 'without': 'slices'}, **settings)
    with pytest.raises(error) as raised:
        sqpyte.configure(**given)
    assert message in str(raised.value)
    assert sqpyte.configure() == before and tiers.planner is planner


def test_only_by_name():
    with pytest.raises(TypeError):
        sqpyte.configure('off')
    with pytest.raises(TypeError):
        sqpyte.configure(mode='off')


def test_inlining_ends_for_statements_that_have_begun(numbers):
    """Statements that the inliner knows go on in C."""
    sqpyte.configure(inline='always')
    numbers.create_function('twice', 1, lambda value: 2 * value)
    queries = ['SELECT a FROM t', 'SELECT twice(a) FROM t', 'SELECT x.a, y.b FROM t x, t y',
               'SELECT twice(x.a) FROM t x, t y']
    expected = [numbers.execute(sql).fetchall() for sql in queries]
    cursors = [numbers.execute(sql) for sql in queries]
    firsts = [cursor.fetchone() for cursor in cursors]
    sqpyte.configure(inline=False)
    assert [[first] + cursor.fetchall() for first, cursor in zip(firsts, cursors)] == expected
    assert [numbers.execute(sql).fetchall() for sql in queries] == expected
    assert sqpyte.explain(numbers, queries[0])[0].tier == 'c'
    sqpyte.configure(inline='always')
    assert [numbers.execute(sql).fetchall() for sql in queries] == expected


def test_in_many_threads():
    errors = []

    def change(value):
        for _ in range(300):
            found = sqpyte.configure(threshold=value, memory=value, without='memoize' if value % 2 else 'row-cache')
            if not (found['threshold'] == found['memory'] and len(found['without']) == 1):
                errors.append(found)
    threads = [threading.Thread(target=change, args=(value,)) for value in (5, 6, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def sql(connection, *arguments):
    """What the SQL function returns for these arguments."""
    text = 'SELECT sqpyte_configure(%s)' % ', '.join('?' * len(arguments))
    return connection.execute(text, arguments).fetchone()[0]


def test_the_sql_function(connection):
    assert sql(connection, 'vm', 'off') == 'off' == sqpyte.configure()['vm']
    assert sql(connection, 'threshold', 12) == 12 == sql(connection, 'threshold')
    assert sql(connection, 'memory', '5') == 5 == sqpyte.configure()['memory']
    sqpyte.configure(without='slices,memoize')
    assert sql(connection, 'without') == 'memoize'
    assert sql(connection, 'without', 'row-cache, mmap') == 'mmap,row-cache'
    # What the module reads is configure()'s.
    assert sqpyte.configure()['without'] == ('mmap', 'row-cache', 'slices')


@pytest.mark.parametrize('arguments, message', [
    (('nothing',), 'there is no "nothing"; there are vm, threshold, memory and without'),
    ((None,), 'there is no "NULL"'), (('vm', 'cold'), "vm takes 'off', 'hot' or 'always'"),
    (('vm', None), 'vm takes'), (('threshold', 0), 'threshold takes a number of rounds, from 1 to 2147483647'),
    (('threshold', -1), 'threshold takes'), (('threshold', 2 ** 40), 'threshold takes'),
    (('memory', 'much'), 'memory takes MiB, from 0 to 1048576'), (('memory', 2.5), 'memory takes'),
    (('without', 'nothing'), 'without has no "nothing"; there are aggregates'), (('without', None), 'without takes'),
    (('without', 'slices'), 'without: "slices" is the Python module'), (('inline', 'always'), 'there is no "inline"')])
def test_the_sql_functions_errors(connection, arguments, message):
    before = sqpyte.configure(without='window-logs')
    with pytest.raises(sqpyte.OperationalError) as raised:
        sql(connection, *arguments)
    assert str(raised.value).startswith('sqpyte_configure: ' + message)
    assert sqpyte.configure() == before


def test_a_file_can_not_call_it(connection):
    connection.executescript("CREATE TABLE t(a); CREATE VIEW v AS SELECT sqpyte_configure('vm', 'off'); "
                             "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT sqpyte_configure('vm', 'off'); END")
    for statement in ('SELECT * FROM v', 'INSERT INTO t VALUES(1)'):
        with pytest.raises(sqpyte.OperationalError, match='unsafe use of sqpyte_configure'):
            connection.execute(statement)


def test_lists_of_functions_do_not_show_it(connection):
    names = [name for name, in connection.execute('SELECT name FROM pragma_function_list')]
    assert 'abs' in names and not [name for name in names if name.startswith('sqpyte')]
    connection.create_function('sqpyte_configure', 1, lambda name: name)       # a program's own comes first
    assert sql(connection, 'mine') == 'mine'
