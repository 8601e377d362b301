"""The translated VM behind the C API: when it takes a statement, when it hands it back, and that
its answers are stock's.  (The differential tests compare far more queries.)"""
import pytest
from c_engine.generated.layout import SQPYTE_MODE_ALWAYS as ALWAYS
from c_engine.generated.layout import SQPYTE_MODE_HOT as HOT
from c_engine.generated.layout import SQPYTE_MODE_OFF as OFF
from c_engine.generated.layout import SQPYTE_WHY_FALLS as WHY_FALLS
from c_engine.generated.layout import SQPYTE_WHY_HOT as WHY_HOT
from c_engine.generated.layout import SQPYTE_WHY_LARGE as WHY_LARGE
from c_engine.generated.layout import SQPYTE_WHY_OPCODE as WHY_OPCODE
from c_engine.generated.layout import SQPYTE_WHY_SEEKS as WHY_SEEKS
from c_engine.generated.layout import SQPYTE_WHY_SHORT as WHY_SHORT

from tests.differential.sessions.capi import Connection, Error, Library, ffi
from tests.interrupting import interrupted

ROWS = 40000
FILL = '''INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT %d)
    SELECT n, n %% 97 - 40, n / 8.0, 'name ' || (n %% 13), CASE n %% 5 WHEN 0 THEN NULL ELSE n END
    FROM r''' % ROWS
SCAN = 'SELECT count(*), sum(b), avg(c), min(c), max(b), total(e), count(e) FROM t WHERE b > -20'
GROUPED = 'SELECT d, count(*), sum(c), min(b), max(e) FROM t WHERE a > 5 GROUP BY d ORDER BY d'
JOIN = 'SELECT count(*) FROM t AS x, t AS y WHERE y.a = x.a + 1'
PRINTED = "SELECT max(printf('%05d', b)) FROM t"


def filled(library, encoding='UTF-8', name=':memory:'):
    connection = Connection(library, name)
    connection.execute("PRAGMA encoding = '%s'" % encoding)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c REAL, d TEXT, e)')
    connection.execute(FILL)
    return connection


@pytest.fixture(scope='module')
def library(vm_library):
    library = Library(vm_library)
    library.set_mode(HOT, 1000)
    return library


@pytest.fixture
def connection(library):
    connection = filled(library)
    yield connection
    connection.close()


@pytest.fixture(scope='module')
def expected(stock_library):
    stock = filled(Library(stock_library))
    return {sql: stock.execute(sql) for sql in (SCAN, GROUPED, JOIN, PRINTED)}


def run(connection, sql):
    """(rows, tier, why) of a statement."""
    statement = connection.prepare(sql)
    rows = []
    while statement.step() is not None:
        rows.append(statement.row)
    tier, why = statement.tier(), statement.why()
    statement.finalize()
    return rows, tier, why


@pytest.mark.parametrize('sql', [SCAN, GROUPED], ids=['scan', 'grouped'])
def test_hot_loops_run_in_the_vm(connection, expected, sql):
    for _ in range(45):                     # interpreted, traced, compiled; then the rare paths
        rows, _, why = run(connection, sql)
        assert rows == expected[sql]
        assert why == WHY_HOT


@pytest.mark.parametrize('condition', ['a > %d', 'c > %d', 'a %% 3 = %d', 'a < 100 + %d'])
def test_the_arms_of_case_are_no_rounds(connection, stock_library, condition):
    """A forward Goto ends an arm; whichever row the count ends at, it ends at the loop's head."""
    stock = filled(Library(stock_library))
    for number in range(3):
        sql = ('SELECT sum(CASE WHEN %s THEN c WHEN b > 0 THEN b ELSE 1 END), count(iif(b > 3, e, a)) FROM t'
               % (condition % number))
        rows, _, why = run(connection, sql)
        assert (rows, why) == (stock.execute(sql), WHY_HOT), sql


def test_loops_with_other_opcodes_stay_in_c(connection, expected):
    assert run(connection, PRINTED) == (expected[PRINTED], 0, WHY_OPCODE)


def test_loops_that_seek_enter_the_vm_once_they_have_taken_time(connection, expected):
    whys = []
    for _ in range(20):
        rows, _, why = run(connection, JOIN)
        assert rows == expected[JOIN]
        whys.append(why)
    assert whys[0] == WHY_SEEKS         # little is left to do, and nobody knows of more
    assert WHY_HOT in whys
    assert set(whys) == {WHY_SEEKS, WHY_HOT}


@pytest.fixture
def unhurried(library):
    """The library as it is by default: what is left to do decides."""
    library.set_mode(HOT, -1)
    yield
    library.set_mode(HOT, 1000)


# Small scans: one at the top, one in a subquery that is evaluated once.
SMALL = ['SELECT count(*), sum(b) FROM t WHERE b > 3 AND a < 20000',
         'SELECT (SELECT sum(b) FROM t WHERE a < 20000) + a FROM t WHERE a < 3']


@pytest.mark.parametrize('sql', SMALL)
def test_a_small_scan_enters_the_vm_once_it_has_been_repeated(connection, stock_library, unhurried, sql):
    expected = filled(Library(stock_library)).execute(sql)
    whys = []
    for _ in range(60):
        rows, _, why = run(connection, sql)
        assert rows == expected
        whys.append(why)
    assert whys[0] == WHY_SHORT
    first = whys.index(WHY_HOT)
    assert whys == [WHY_SHORT] * first + [WHY_HOT] * (60 - first)


@pytest.mark.parametrize('sql', [
    # A scan far from its end; a scan that is repeated; a loop that is no scan.
    'SELECT sum(x.b * y.b) FROM t AS x, t AS y WHERE x.a < 300 AND x.b + y.b > 3',
    'SELECT count(*) FROM t AS x WHERE a < 200 AND 5000 < (SELECT sum(b + x.b) FROM t AS y)',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 3000000) SELECT sum(n) FROM r'])
def test_a_long_loop_enters_the_vm_in_its_first_run(connection, stock_library, unhurried, sql):
    rows, _, why = run(connection, sql)
    assert (rows, why) == (filled(Library(stock_library)).execute(sql), WHY_HOT)


def test_the_place_of_a_range_tells_nothing(library, stock_library, unhurried):
    """Of the rows behind the cursor most are behind the range: the first run is as short as the range."""
    sql = 'SELECT sum(b), count(c) FROM t WHERE a BETWEEN %d AND %d'
    found = []
    for used in (stock_library, library):
        connection = filled(Library(used) if used is stock_library else used)
        connection.execute('INSERT INTO t SELECT a + %d * x, b, c, d, e FROM t, (SELECT a AS x FROM t WHERE a < 20)'
                           % ROWS)
        found.append([connection.execute(sql % (100, last)) for last in (20000, 30000)])
        if used is library:
            assert run(connection, sql % (100, 15000))[2] == WHY_SHORT
        connection.close()
    assert found[0] == found[1]


def test_cold_statements_stay_in_c(connection):
    assert run(connection, 'SELECT count(b) FROM t WHERE a < 100')[1:] == (0, 0)


@pytest.mark.parametrize('encoding', ['UTF-16le', 'UTF-16be'])
def test_utf16_runs_in_the_vm(library, stock_library, encoding):
    connection = filled(library, encoding)
    expected = filled(Library(stock_library), encoding).execute(GROUPED)
    for _ in range(45):
        rows, _, why = run(connection, GROUPED)
        assert (rows, why) == (expected, WHY_HOT)


def called(connection, sql, period):
    """(how often a progress handler is called, what run() gives)."""
    calls = [0]

    @ffi.callback('int(void *)')
    def handler(_):
        calls[0] += 1
        return 0
    connection.c.sqlite3_progress_handler(connection.db, period, handler, ffi.NULL)
    ours = hasattr(connection.c, 'sqpyte_why')
    found = run(connection, sql) if ours else (connection.execute(sql), 0, WHY_HOT)
    connection.c.sqlite3_progress_handler(connection.db, 0, ffi.NULL, ffi.NULL)
    return calls[0], found[0], found[2]


@pytest.mark.parametrize('period', [1, 7, 1000])
def test_a_progress_handler_is_called_as_often(connection, stock_library, period):
    expected = called(filled(Library(stock_library)), SCAN, period)
    for _ in range(4 if period == 1 else 45):
        assert called(connection, SCAN, period) == expected


def test_a_shared_cache_runs_in_the_vm(library, stock_library):
    name = 'file:everywhere?mode=memory&cache=shared'
    kept = filled(library, name=name)
    connection = Connection(library, name)
    expected = filled(Library(stock_library)).execute(GROUPED)
    for _ in range(45):
        rows, _, why = run(connection, GROUPED)
        assert (rows, why) == (expected, WHY_HOT)
    connection.close()
    kept.close()


def test_a_triggers_loop_runs_in_the_vm(library, stock_library):
    """The loop reads the new row, which is in the calling program's registers."""
    found = []
    for opened in library, Library(stock_library):
        connection = filled(opened)
        connection.execute('CREATE TABLE u(x, y)')
        connection.execute('CREATE TABLE log(x, y)')
        connection.execute('CREATE TRIGGER r AFTER INSERT ON u BEGIN '
                           'INSERT INTO log SELECT new.x, sum(b * new.y) FROM t WHERE b > new.x; END')
        statement = connection.prepare("INSERT INTO u VALUES (?1, 2), (?1 + 1, 3), (?1 + 2, '4')")
        for i in range(15):
            statement.reset()
            statement.bind((i,))
            assert statement.step() is None
            if opened is library:
                assert statement.why() == WHY_HOT
        statement.finalize()
        found.append(connection.execute('SELECT * FROM log'))
        connection.close()
    assert found[0] == found[1] and len(found[0]) == 45


def test_interrupt_from_another_thread(connection):
    sql = 'SELECT sum(x.b * y.b) FROM t AS x, t AS y WHERE x.b + y.b > 3'
    why = None
    for delay in (0.5, 2, 8, 32, 128):      # seconds: until it has been hot long enough for the VM
        statement = connection.prepare(sql)
        with interrupted(lambda: connection.c.sqlite3_interrupt(connection.db), delay):
            with pytest.raises(Error) as caught:
                statement.step()
        assert (caught.value.code, caught.value.message) == (9, 'interrupted')
        why = statement.why()
        statement.finalize()
        if why == WHY_HOT:
            break
    assert why == WHY_HOT
    assert run(connection, 'SELECT count(*) FROM t')[0] == [(ROWS,)]


def test_mode_off(connection, library, expected):
    library.set_mode(OFF, 0)
    try:
        assert run(connection, SCAN) == (expected[SCAN], 0, 0)
    finally:
        library.set_mode(HOT, 1000)


def test_a_statement_prepared_again_and_again(connection, expected):
    for i in range(200):
        sql = SCAN + ' AND a > %d' % -(i % 3)
        assert run(connection, sql)[0] == expected[SCAN]


def test_statement_counters_go_on(connection):
    statement = connection.prepare(SCAN)
    statement.step()
    full_scan_steps = connection.c.sqlite3_stmt_status(statement.statement, 1, 0)
    vm_steps = connection.c.sqlite3_stmt_status(statement.statement, 4, 0)
    statement.finalize()
    assert full_scan_steps == ROWS - 1
    assert vm_steps > 4 * ROWS


def test_sum_overflow_raises_as_in_stock(connection, stock_library):
    sql = 'SELECT sum(9223372036854775807 - a) FROM t'
    stock = filled(Library(stock_library))
    for c in (stock, connection):
        with pytest.raises(Error) as caught:
            c.execute(sql)
        assert caught.value.message == 'integer overflow'


def test_texts_survive_the_page_they_were_read_from(connection, stock_library):
    # The grouping key of the last row of a page is compared with the first of the next one.
    sql = '''SELECT d, n, group_concat(d) FROM (SELECT d, count(*) AS n FROM (
             SELECT d || '-' || (a / 700) AS d FROM t ORDER BY a) GROUP BY d ORDER BY d)'''
    assert connection.execute(sql) == filled(Library(stock_library)).execute(sql)


@pytest.mark.parametrize('sql', [
    'SELECT total((b > 0) * (-9223372036854775807 - 1)) FROM t',
    'SELECT count(*) FROM t WHERE a % (-9223372036854775807 - 1) > 5',
    'SELECT total(b / (-9223372036854775807 - 1)) FROM t'])
def test_the_smallest_integer_as_a_constant_of_a_trace(connection, stock_library, sql):
    """RPython's optimiser must not see a multiplication by it: it would not end."""
    expected = filled(Library(stock_library)).execute(sql)
    for _ in range(3):
        assert connection.execute(sql) == expected


def test_a_statement_inside_a_statement_of_the_vm(connection, library):
    """A user function that runs SQL: the VM is entered again while it waits for the function."""
    library.set_mode(ALWAYS, 0)
    try:
        connection.create_function(
            'inner', lambda text: str(connection.execute('SELECT sum(b) FROM t WHERE a < 50')[0][0]))
        rows = connection.execute('SELECT inner(d) FROM t WHERE a <= 60')
        assert rows == [(str(sum(n % 97 - 40 for n in range(1, 50))),)] * 60
    finally:
        library.set_mode(HOT, 1000)


@pytest.mark.parametrize('sql', [
    ' UNION ALL '.join('SELECT sum(b + %d) FROM t WHERE a < 3000' % i for i in range(150)),
    'SELECT count(*) FROM t WHERE ' + ' AND '.join('b * %d + 50 * %d > %d' % (i, i, -i) for i in range(1, 800)),
], ids=['fields of the frame', 'length of a trace'])
def test_what_cannot_be_compiled_stays_in_c(library, stock_library, sql):
    """The JIT gives such traces up, each time anew: a few are enough. The program's next run stays in C."""
    expected = filled(Library(stock_library)).execute(sql)
    library.set_mode(HOT, 20)
    try:
        connection = filled(library)
        assert run(connection, sql) == (expected, 0, WHY_LARGE)
        statement = connection.prepare(sql)
        while statement.step() is not None:
            pass
        assert (statement.entries() <= 1, statement.why()) == (True, WHY_LARGE)
        statement.finalize()
        connection.close()
    finally:
        library.set_mode(HOT, 1000)


def varied(library):
    """A connection with a table v of 20 000 rows, of whose twelve columns each is NULL at random."""
    connection = Connection(library, ':memory:')
    connection.execute('CREATE TABLE v(%s)' % ', '.join('c%d' % i for i in range(12)))
    connection.execute(
        'INSERT INTO v WITH RECURSIVE r(n, x) AS (SELECT 1, 12345 UNION ALL SELECT n + 1, (x * 1103515245 + 12345) & '
        '1073741823 FROM r LIMIT 20000) SELECT %s FROM r' % ', '.join(
            'CASE x >> %d & 1 WHEN 1 THEN n END' % (i + 9) for i in range(12)))
    return connection


@pytest.mark.parametrize('count, expected_why', [(12, WHY_FALLS), (2, WHY_HOT)])
def test_rows_that_differ_in_too_many_ways_stay_in_c(library, stock_library, count, expected_why):
    """4 096 combinations, each of which would be a path; what has four stays in the VM."""
    sql = 'SELECT %s FROM v' % ', '.join('sum(c%d), count(c%d)' % (i, i) for i in range(count))
    expected = varied(Library(stock_library)).execute(sql)
    library.set_mode(HOT, 20)
    try:
        connection = varied(library)
        for _ in range(4):
            rows, _, why = run(connection, sql)
            assert rows == expected
        assert why == expected_why
        connection.close()
    finally:
        library.set_mode(HOT, 1000)


def test_a_short_loop_does_not_lead_into_a_long_one(connection, stock_library, unhurried):
    """The loop that fills a sorter is short; the one behind it would take 20 s to trace, and runs for 1 s in all."""
    sql = 'SELECT d, %s FROM t WHERE a < 4000 GROUP BY d' % ', '.join(
        'sum(CASE WHEN b = %d THEN a ELSE c END)' % n for n in range(100))
    expected = filled(Library(stock_library)).execute(sql)
    assert [run(connection, sql) for _ in range(12)] == [(expected, 0, WHY_SHORT)] * 12
