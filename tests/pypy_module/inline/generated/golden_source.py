"""The Python that the inliner generates for a few queries, kept in golden/.

`python -m tests.pypy_module.inline.generated.golden_source` writes the files anew; git shows what a
change of the generator does.
"""
import os

from pypy_module.inline.codegen.class_code import ClassCode
from tests.pypy_module.inline.inlining import Side, Sum, planned

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
SCHEMA = '''
    CREATE TABLE t(a INTEGER, b REAL, c TEXT);
    CREATE TABLE u(k INTEGER PRIMARY KEY, d);
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 300)
        INSERT INTO t SELECT n % 7, n / 4.0, 'text ' || n % 5 FROM r;
    INSERT INTO u SELECT DISTINCT a, a * 2 FROM t;
'''
# A scan in each of its shapes, each family of opcodes, a slice, a sink, a window log.
QUERIES = {
    'columns': 'SELECT a, b, c, rowid FROM t',
    'filter': "SELECT a FROM t WHERE (a > 2 AND b < 50.0) OR c = 'text 3' LIMIT 20 OFFSET 2",
    'arithmetic': 'SELECT a + 1, a * b, b - a, b / 2, a % 3 FROM t WHERE a IS NOT NULL',
    'function': 'SELECT f(a), c FROM t WHERE f(b) > 3',
    'aggregate': 'SELECT s(a), max(b), count(*) FROM t WHERE a < 6',
    'passing': 'SELECT t.b, u.d FROM t CROSS JOIN u ON u.k = t.a WHERE t.b > 2 AND f(t.a) > 5',
    'distinct': 'SELECT DISTINCT f(a), c FROM t',
    'join': 'SELECT f(t.a), u.d FROM t CROSS JOIN u ON u.k = t.a',
    'groups': 'SELECT a, s(b) FROM t GROUP BY a',
    'sorted': 'SELECT f(t.a), t.b FROM t CROSS JOIN u ON u.k = t.a ORDER BY t.c',
    'window': 'SELECT w(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t',
}


def sources(sql):
    """Return the classes that are generated while a query runs to its end (str)."""
    found = []
    build = ClassCode.build

    def building(self):
        made = build(self)
        found.append(made.source)
        return made
    ClassCode.build = building
    side = Side('inlined', '')
    try:
        with planned('inlined'):
            connection = side.connect()
            connection.executescript(SCHEMA)
            connection.create_function('f', 1, lambda value: value + 1, deterministic=True)
            connection.create_aggregate('s', 1, Sum)
            connection.create_window_function('w', 1, Sum)
            connection.execute(sql).fetchall()
    finally:
        ClassCode.build = build
        side.close()
    return '\n'.join(found)


def path(name):
    """Return the path of a query's file."""
    return os.path.join(FOLDER, name + '.txt')


def main():
    """Write all files."""
    os.makedirs(FOLDER, exist_ok=True)
    for name, sql in QUERIES.items():
        with open(path(name), 'w') as file:
            file.write('-- %s\n\n%s' % (sql, sources(sql)))


if __name__ == '__main__':
    main()
