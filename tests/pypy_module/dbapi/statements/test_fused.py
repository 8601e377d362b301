"""The fused calls in C (c_engine/rows/fused.h), called as the DB-API calls them."""

import struct

import pytest

from pypy_module.ffi.library import NULL, NUMBERS, ffi, lib

ROW, DONE, LAST = NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE'], NUMBERS['SQPYTE_LAST']
CELLS, ONE_ROW = NUMBERS['SQPYTE_ROW_CELLS'], NUMBERS['SQPYTE_ONE_ROW']
INTEGER, FLOAT, TEXT, BLOB, NOTHING = range(1, 6)


class Database:
    """A database in memory, with the little that these tests need."""

    def __init__(self):
        result = ffi.new('sqlite3 *[1]')
        assert lib.sqlite3_open_v2(b':memory:', result, 6, NULL) == 0
        self.db = result[0]
        self.statements = []

    def prepare(self, sql):
        result = ffi.new('sqlite3_stmt *[1]')
        assert lib.sqlite3_prepare_v2(self.db, sql.encode(), -1, result, NULL) == 0
        self.statements.append(result[0])
        return result[0]

    def run(self, sql):
        assert lib.sqpyte_step(self.prepare(sql), buffer()) == DONE

    def one(self, sql):
        statement, out = self.prepare(sql), buffer()
        assert lib.sqpyte_step(statement, out) == ROW
        return cells(out)[0]

    def close(self):
        for statement in self.statements:
            lib.sqlite3_finalize(statement)
        assert lib.sqlite3_close_v2(self.db) == 0


@pytest.fixture
def database():
    database = Database()
    yield database
    database.close()


def buffer(words=40):
    out = ffi.new('int64_t[]', words)
    out[0] = words
    return out


def cells(out):
    """The row's values; a text or blob with its type."""
    found = []
    for i in range(out[NUMBERS['SQPYTE_ROW_COLUMNS']]):
        tag, word = out[CELLS + 2 * i], out[CELLS + 2 * i + 1]
        kind = tag & 7
        if kind == INTEGER:
            found.append(word)
        elif kind == FLOAT:
            found.append(struct.unpack('d', struct.pack('q', word))[0])
        elif kind == NOTHING:
            found.append(None)
        else:
            found.append((kind, ffi.unpack(ffi.cast('char *', word), tag >> 3)))
    return found


def facts(statement):
    out = ffi.new('int64_t[]', NUMBERS['SQPYTE_FACT_COUNT'])
    lib.sqpyte_facts(statement, out)
    return list(out)


def test_every_type_comes_out(database):
    statement = database.prepare("SELECT 1, -9223372036854775808, 2.5, 'héé', x'00ff', NULL, '', "
                                 "x'', zeroblob(3), CAST(5 AS REAL), 1e300 * 1e300")
    out = buffer()
    assert lib.sqpyte_step(statement, out) == ROW
    assert cells(out) == [1, -2 ** 63, 2.5, (TEXT, 'héé'.encode()), (BLOB, b'\0\xff'), None,
                          (TEXT, b''), (BLOB, b''), (BLOB, b'\0\0\0'), 5.0, float('inf')]
    assert lib.sqpyte_step(statement, out) == DONE


def test_every_type_goes_in(database):
    statement = database.prepare('SELECT ?, ?, ?, ?, ?')
    texts = 'tëxt'.encode() + b'\0blob'
    real = struct.unpack('q', struct.pack('d', -0.5))[0]
    given = ffi.new('int64_t[]', [INTEGER, 7, FLOAT, real, TEXT | 5 << 3, 0, BLOB | 5 << 3, 5,
                                  NOTHING, 0])
    out = buffer()
    assert lib.sqpyte_execute(statement, given, texts, 0, out) == ROW
    assert cells(out) == [7, -0.5, (TEXT, 'tëxt'.encode()), (BLOB, b'\0blob'), None]


def test_texts_of_a_utf16_database_are_converted(database):
    database.run('PRAGMA encoding = "UTF-16le"')
    database.run('CREATE TABLE t(a)')
    insert = database.prepare('INSERT INTO t VALUES (?)')
    text = 'ä€😀'.encode()
    given = ffi.new('int64_t[]', [TEXT | len(text) << 3, 0])
    assert lib.sqpyte_execute(insert, given, text, 0, buffer()) == DONE
    assert database.one('SELECT a FROM t') == (TEXT, text)
    assert database.one('SELECT length(a) FROM t') == 3


def test_a_small_buffer_is_not_overrun(database):
    statement = database.prepare('SELECT 1, 2, 3')
    small = buffer(CELLS + 4)
    assert lib.sqpyte_step(statement, small) == NUMBERS['SQPYTE_GROW']
    out = buffer()
    assert lib.sqpyte_row(statement, out) == ROW
    assert cells(out) == [1, 2, 3]


def test_a_single_row_ends_the_statement(database):
    statement = database.prepare("SELECT 'abc' || ?, 4")
    given = ffi.new('int64_t[]', [INTEGER, 1])
    out = buffer()
    for _ in range(3):
        assert lib.sqpyte_execute(statement, given, b'', ONE_ROW, out) == LAST
        assert cells(out) == [(TEXT, b'abc1'), 4]


def test_a_single_row_too_long_for_the_buffer_is_left_standing(database):
    statement = database.prepare('SELECT hex(zeroblob(1000))')
    out = buffer()
    assert lib.sqpyte_execute(statement, NULL, b'', ONE_ROW, out) == ROW
    assert cells(out) == [(TEXT, b'00' * 1000)]
    assert lib.sqpyte_step(statement, out) == DONE


@pytest.mark.parametrize('sql, expected', [
    ('SELECT 1', 1),
    ('SELECT a FROM t WHERE rowid = 1', 1),
    ('SELECT b FROM u WHERE a = 1', 1),
    ('SELECT count(*), sum(a) FROM t', 1),
    ('SELECT max(a) FROM t', 1),
    ('SELECT a FROM t WHERE rowid IN (1, 2)', 0),
    ('SELECT a FROM t', 0),
    ('SELECT a FROM t LIMIT 1', 0),
    ('SELECT count(*) FROM t GROUP BY a', 0),
    ('SELECT a FROM t ORDER BY a', 0),
    ('SELECT 1 UNION ALL SELECT 2', 0),
    ('SELECT 1 UNION SELECT 2', 0),
    ('VALUES (1), (2)', 0),
    ('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3) SELECT x FROM c', 0),
    ('SELECT value FROM json_each(?)', 0),
    ('INSERT INTO t VALUES (1) RETURNING a', 0),
    ('PRAGMA table_info(t)', 1),
    ('PRAGMA table_info(u)', 0),
    ('PRAGMA journal_mode = delete', 1),
])
def test_whether_there_can_be_a_second_row(database, sql, expected):
    database.run('CREATE TABLE t(a)')
    database.run('CREATE TABLE u(a INTEGER PRIMARY KEY, b)')
    assert facts(database.prepare(sql))[NUMBERS['SQPYTE_FACT_ONE_ROW']] == expected


def test_parameters_with_names_are_told(database):
    found = [facts(database.prepare(sql))[NUMBERS['SQPYTE_FACT_NAMES']]
             for sql in ('SELECT ?, ?', 'SELECT :a', 'SELECT ?2', 'SELECT 1')]
    assert found == [0, 1, 1, 0]


def test_nothing_is_done_without_a_transaction_if_there_must_be_one(database):
    database.run('CREATE TABLE t(a)')
    insert = database.prepare('INSERT INTO t VALUES (1)')
    flags = NUMBERS['SQPYTE_IN_TRANSACTION']
    assert lib.sqpyte_execute(insert, NULL, b'', flags, buffer()) == NUMBERS['SQPYTE_BEGIN']
    database.run('BEGIN')
    out = buffer()
    assert lib.sqpyte_execute(insert, NULL, b'', flags, out) == DONE
    assert out[NUMBERS['SQPYTE_ROW_CHANGES']] == 1
    assert out[NUMBERS['SQPYTE_ROW_ROWID']] == 1
    assert database.one('SELECT count(*) FROM t') == 1


def test_a_recompiled_statement_is_told(database):
    database.run('CREATE TABLE t(a)')
    database.run('INSERT INTO t VALUES (1)')
    statement, out = database.prepare('SELECT * FROM t'), buffer()
    assert lib.sqpyte_execute(statement, NULL, b'', 0, out) == ROW
    assert out[NUMBERS['SQPYTE_ROW_REPREPARES']] == 0
    lib.sqlite3_reset(statement)
    database.run('ALTER TABLE t ADD COLUMN b DEFAULT 2')
    assert lib.sqpyte_execute(statement, NULL, b'', 0, out) == ROW
    assert out[NUMBERS['SQPYTE_ROW_REPREPARES']] == 1
    assert cells(out) == [1, 2]
