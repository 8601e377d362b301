"""A database as SQL text, as the sqlite3 shell's `.dump` and sqlite3's `iterdump` write it.

Like the shell, and unlike sqlite3, it leaves out the rows of virtual tables: they are in tables of
their own, and where not, they could not be inserted when the script is run.
"""

from pypy_module.dbapi import versions
from pypy_module.dbapi.errors import OperationalError


def identifier(name):
    """Return a name (str) as SQL writes it, quoted."""
    return '"%s"' % name.replace('"', '""')


def literal(value):
    """Return a text (str) as SQL writes it, quoted."""
    return "'%s'" % value.replace("'", "''")


def schema(cursor, types, pattern, order):
    """Return name, type and SQL of the schema's objects of some types, as a list of tuples."""
    sql = ('SELECT name, type, sql FROM sqlite_master WHERE sql NOT NULL AND type IN (%s)'
           % ', '.join(literal(type) for type in types))
    if pattern:
        sql += ' AND name LIKE ?'
    return cursor.execute(sql + order, [pattern] if pattern else []).fetchall()


def rows(cursor, table):
    """Yield the INSERT statements (str) of a table's rows."""
    columns = [row[1] for row in cursor.execute('PRAGMA table_info(%s)' % identifier(table))]
    values = "','".join('||quote(%s)||' % identifier(column) for column in columns)
    quoted = identifier(table)
    sql = "SELECT 'INSERT INTO %s VALUES('%s')' FROM %s" % (quoted.replace("'", "''"), values,
                                                            quoted)
    for line, in cursor.execute(sql):
        yield line + ';'


def violated(cursor):
    """Whether rows violate a foreign key, or one of the keys is itself wrong (bool)."""
    try:
        return bool(cursor.execute('PRAGMA foreign_key_check').fetchall())
    except OperationalError:
        return True


def dump(connection, pattern):
    """Yield the SQL statements (str) that make the database anew.

    Args:
        connection: the Connection.
        pattern: a LIKE pattern for names (str), or None.
    """
    cursor = connection.cursor()
    cursor.row_factory = None
    if versions.DUMP_WITHOUT_KEYS and violated(cursor):
        yield 'PRAGMA foreign_keys=OFF;'
    yield 'BEGIN TRANSACTION;'
    writable = False
    sequence = []
    for name, _, sql in schema(cursor, ['table'], pattern, ' ORDER BY name'):
        if name == 'sqlite_sequence':
            sequence = ['DELETE FROM "sqlite_sequence";']
            sequence += ['INSERT INTO "sqlite_sequence" VALUES(%s,%s);' % (literal(table), number)
                         for table, number in cursor.execute('SELECT * FROM sqlite_sequence')]
            continue
        if name == 'sqlite_stat1':
            yield 'ANALYZE "sqlite_master";'
        elif name.startswith('sqlite_'):
            continue
        elif sql.startswith('CREATE VIRTUAL TABLE'):
            if not writable:
                writable = True
                yield 'PRAGMA writable_schema=ON;'
            yield ("INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)"
                   "VALUES('table',%s,%s,0,%s);" % (literal(name), literal(name), literal(sql)))
            continue
        else:
            yield sql + ';'
        yield from rows(cursor, name)
    for _, _, sql in schema(cursor, ['index', 'trigger', 'view'], pattern, ''):
        yield sql + ';'
    if writable:
        yield 'PRAGMA writable_schema=OFF;'
    yield from sequence
    yield 'COMMIT;'
