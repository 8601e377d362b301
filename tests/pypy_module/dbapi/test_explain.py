"""sqpyte.explain: which tier runs a statement, and why."""

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.inline import policy
from tests.pypy_module.inline.inlining import planned


def test_every_statement_is_told(numbers):
    explanation = sqpyte.explain(numbers, "SELECT a FROM t; -- why\nSELECT ';' ; INSERT INTO t "
                                          "VALUES (1, 2)")
    assert [plan.sql.rstrip('; ') for plan in explanation] == [
        'SELECT a FROM t', "-- why\nSELECT ';'", 'INSERT INTO t VALUES (1, 2)']
    for plan in explanation:
        assert plan.tier in ('inliner', 'vm', 'c')
        assert plan.reason
        assert str(plan).startswith(plan.tier + ': ')
    assert repr(explanation[1:2]) == "[<Plan c: -- why SELECT ';' ;>]"
    assert len(str(explanation).splitlines()) >= 6
    assert numbers.execute('SELECT count(*) FROM t').fetchone() == (10,)
    assert not numbers.in_transaction


@pytest.mark.parametrize('sql', [';SELECT 1', ' ;; ; SELECT 1', '/* a */ ; -- b\n;SELECT 1', 'SELECT 1; ;SELECT 1',
                                 'SELECT 1;;; ;SELECT 1 -- c'])
def test_empty_statements(numbers, sql):
    assert [plan.sql.rstrip(';').split(' --')[0] for plan in sqpyte.explain(numbers, sql)] in (
        ['SELECT 1'], ['SELECT 1', 'SELECT 1'])


def test_nothing_to_tell(numbers):
    assert sqpyte.explain(numbers, ' -- nothing') == []
    assert str(sqpyte.explain(numbers, '')) == ''


def test_what_sqlite_rejects(numbers):
    with pytest.raises(sqpyte.OperationalError, match='no such table: missing'):
        sqpyte.explain(numbers, 'SELECT 1; SELECT * FROM missing')
    with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
        closed = sqpyte.connect(':memory:')
        closed.close()
        sqpyte.explain(closed, 'SELECT 1')


def test_it_leaves_statements_as_they_are(numbers):
    sql = 'SELECT a FROM t'
    cursor = numbers.execute(sql)
    assert cursor.fetchone() == (0,)
    sqpyte.explain(numbers, sql)
    assert len(cursor.fetchall()) == 9
    count = len(session_of(numbers).all)
    sqpyte.explain(numbers, 'SELECT a, b FROM t WHERE a > 5')
    assert len(session_of(numbers).all) == count


def test_a_statement_that_has_run_is_told_as_it_ran(numbers):
    sql = 'SELECT a FROM t'
    with planned('unhurried'):
        assert sqpyte.explain(numbers, sql)[0].tier == 'inliner'        # it can be
        numbers.execute(sql).fetchall()
        plan, = sqpyte.explain(numbers, sql)
        assert plan.tier == 'c' and 'not inlined: too few rows so far: ' in plan.reason
        assert {step.place for step in plan.program} <= {'', 'vm'}
    with planned('inlined'):
        sql = 'SELECT b FROM t'
        numbers.execute(sql).fetchall()
        plan, = sqpyte.explain(numbers, sql)
        assert plan.tier == 'inliner' and 'too few' not in plan.reason
        assert 'python' in {step.place for step in plan.program}


def test_it_changes_nothing(numbers, monkeypatch):
    """Not even how many rows the first loop has to have."""
    monkeypatch.setattr(policy, '_taken_over', [])
    statement = session_of(numbers).prepare('SELECT a FROM t')
    before = policy.wanted(statement)
    with planned('unhurried'):
        assert sqpyte.explain(numbers, 'SELECT a FROM t')[0].tier == 'inliner'
    assert policy.wanted(statement) == before == policy.FIRST_LOOP


def test_the_vm_that_is_switched_off(numbers):
    sql = 'SELECT count(*) FROM t AS x, t AS y WHERE x.b + y.b > 4'
    before = sqpyte.configure()['vm']
    try:
        sqpyte.configure(vm='off')
        numbers.execute(sql).fetchall()
        assert sqpyte.explain(numbers, sql)[0].reason.startswith('the VM is switched off')
        sqpyte.configure(vm='hot')
        assert 'switched off' not in sqpyte.explain(numbers, sql)[0].reason
    finally:
        sqpyte.configure(vm=before)


def test_the_program_is_listed(numbers):
    with planned('inlined'):
        plain, joined = sqpyte.explain(
            numbers, 'SELECT a FROM t WHERE b > ?; SELECT t.a FROM t, t AS u WHERE t.a < u.b')
    assert [step.pc for step in plain.program] == list(range(len(plain.program)))
    assert {step.place for step in plain.program} >= {'', 'python'}
    assert [step.place for step in plain.program if step.opcode == 'Next'] == ['python']
    assert [step.place for step in joined.program if step.opcode == 'ResultRow'] == ['ahead']
    assert all(step.place in ('', 'vm') for step in joined.program if step.opcode != 'ResultRow')
    lines = str(joined).splitlines()
    assert len(lines) >= 2 + len(joined.program)
    assert any(line.split()[:3] == ['ahead', str(step.pc), 'ResultRow']
               for line in lines for step in joined.program)


def test_without_the_inliner(numbers):
    with planned('C'):
        plan, = sqpyte.explain(numbers, 'SELECT a FROM t')
    assert plan.tier != 'inliner'
    assert plan.program[0].opcode == 'Init'
    assert all(step.place in ('', 'vm') for step in plan.program)


@pytest.mark.parametrize('sql', ['/* why */ EXPLAIN SELECT 1', 'explain query plan SELECT a FROM t'])
def test_explain_itself(numbers, sql):
    plan, = sqpyte.explain(numbers, sql)
    assert plan.tier == 'c' and plan.program == []


def values(rows):
    """A query over VALUES with so many rows, and its answer."""
    return ('SELECT column1 + 1 FROM (VALUES %s)' % ', '.join('(%d)' % i for i in range(rows)),
            [(i + 1,) for i in range(rows)])


def cases(arms):
    """A query with a CASE of so many arms, none of which is taken, and its answer on `numbers`."""
    return ('SELECT CASE a %s ELSE a END FROM t' % ' '.join(
        "WHEN %d THEN '%d'" % (i + 100, i) for i in range(arms)), [(i,) for i in range(10)])


@pytest.mark.parametrize('made, size, why', [
    (values, 300, 'more ends than are analysed'),
    (cases, 2000, 'instructions, more than are analysed')], ids=['values', 'cases'])
def test_large_programs_are_not_analysed(numbers, made, size, why):
    sql, rows = made(size)
    with planned('inlined'):
        for _ in range(3):
            assert numbers.execute(sql).fetchall() == rows
        plan, = sqpyte.explain(numbers, sql)
    assert plan.tier == 'c' and why in plan.reason


def test_a_constant_that_is_not_utf_8(numbers):
    plan, = sqpyte.explain(numbers, "SELECT x'80ff' || 'text'")
    assert {'\ufffd\ufffd', 'text'} <= {step.p4 for step in plan.program}


@pytest.mark.parametrize('sql, error', [
    ('SELECT 1\0 x', (ValueError, sqpyte.ProgrammingError)), (None, TypeError), (b'SELECT 1', TypeError)])
def test_what_is_no_sql(sql, error):
    with pytest.raises(error):
        sqpyte.explain(sqpyte.connect(':memory:'), sql)


@pytest.mark.parametrize('wrong', [None, 5, sqpyte.Cursor])
def test_what_is_no_connection(connection, wrong):
    if wrong is sqpyte.Cursor:
        wrong = connection.cursor()
    with pytest.raises(TypeError, match=r'argument 1 must be sqlite3\.Connection, not (None|int|Cursor)'):
        sqpyte.explain(wrong, 'SELECT 1')


@pytest.mark.parametrize('call', [1, 2, 3, 4])
def test_an_authorizer_closes(numbers, call):
    calls = []

    def authorizer(*what):
        calls.append(what)
        if len(calls) == call:
            numbers.close()
        return sqpyte.SQLITE_OK
    numbers.set_authorizer(authorizer)
    with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
        sqpyte.explain(numbers, 'SELECT a FROM t; SELECT b FROM t')
    assert len(calls) >= call


SETTINGS = ['foreign_keys', 'cache_size', 'synchronous', 'recursive_triggers', 'temp_store', 'busy_timeout']


@pytest.mark.parametrize('before, after', [('', ''), ('EXPLAIN ', ';'), (';; -- c\n', ' ; SELECT 1'),
                                           ('explain /* a */ query plan ', ''), ('SELECT 1; /* ; */', ';;')])
def test_a_pragma_isnt_compiled(numbers, before, after):
    """SQLite changes these as it compiles the PRAGMA."""
    settings = [numbers.execute('PRAGMA ' + name).fetchall() for name in SETTINGS]
    for name in SETTINGS:
        plans = sqpyte.explain(numbers, "%sPRAGMA %s = '77'%s" % (before, name, after))
        plan, = [plan for plan in plans if 'PRAGMA' in plan.sql]
        assert plan.tier == 'c' and plan.reason.startswith('it is a PRAGMA, and not compiled here') and not plan.program
        assert len(plans) == 1 + ('SELECT 1' in before + after)
    assert [numbers.execute('PRAGMA ' + name).fetchall() for name in SETTINGS] == settings


def test_a_pragma_ends_at_its_semicolon(numbers):
    plans = sqpyte.explain(numbers, 'PRAGMA table_info("a;b"); SELECT \'ä;\';PRAGMA page_size')
    assert [plan.sql for plan in plans] == [
        'PRAGMA table_info("a;b");', "SELECT 'ä;';", 'PRAGMA page_size']
    for sql in 'pragmatic', 'PRAGMA_x', 'query pragma x', 'explainpragma x':
        with pytest.raises(sqpyte.OperationalError, match='syntax error'):
            sqpyte.explain(numbers, sql)


@pytest.mark.parametrize('sql, count', [('\ufeff', 0), ('SELECT 1;\ufeff', 1), ('\ufeff-- header', 0),
                                        ('\ufeff;\ufeff;', 0), ('SELECT 1; \ufeff SELECT 2', 2),
                                        ('\ufeffPRAGMA foreign_keys=1', 1)])
def test_byte_order_marks_are_blanks(numbers, sql, count):
    assert len(sqpyte.explain(numbers, sql)) == count
    assert numbers.execute('PRAGMA foreign_keys').fetchone() == (0,)


def test_a_statement_that_has_not_run_or_is_forgotten(numbers):
    not_run = 'it has not run on this connection, or has left'
    with planned('C'):
        assert sqpyte.explain(numbers, 'SELECT a + 1 FROM t')[0].reason.startswith(not_run)
        numbers.execute('SELECT a + 1 FROM t;  ').fetchall()
        for sql in 'SELECT a + 1 FROM t', ' SELECT a + 1 FROM t ;', ';; SELECT a + 1 FROM t':
            assert sqpyte.explain(numbers, sql)[0].reason.startswith('no loop of it has been hot yet')
        for i in range(140):
            numbers.execute('SELECT %d' % i).fetchall()
        assert sqpyte.explain(numbers, 'SELECT a + 1 FROM t')[0].reason.startswith(not_run)
