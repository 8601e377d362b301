"""A few queries in an engine library: `python -m tools.upgrade.smoke LIBRARY VERSION`.

No more than a sign of life: loops, a sorter, groups, correlated subqueries and writing, with answers that are
known beforehand. The tests are what compares it with stock.
"""
import ctypes
import sys

N = 20000  # rows: more than the rounds after which C asks whether a loop is hot

SETUP = '''
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
  insert into t select i, i %% 100, 'text ' || i from n;
create index t_b on t(b);
update t set c = c || '!' where b = 7;
delete from t where a > %d;
''' % (N + 10, N)

# Query and its one row, values as SQLite writes them, separated by `|`.
QUERIES = [
    ('select count(*), sum(a), max(b) from t', '%d|%d|99' % (N, N * (N + 1) // 2)),
    ('select count(*), min(n), max(n) from (select b, count(*) n from t group by b)',
     '100|%d|%d' % (N // 100, N // 100)),
    ('select sum(x.a = y.a) from t x join t y on y.a = x.a + 0', str(N)),
    ('select sum((select count(*) from t y where y.b = x.b)) from t x where x.a <= 1000', str(1000 * N // 100)),
    ("select count(*) from t where c like 'text %!'", str(N // 100)),
    ('select c from t order by c desc limit 1', 'text 9999'),
]


class Failed(Exception):
    """SQLite returned an error; the message has its code and its words."""


class Database:
    """A database in memory, by SQLite's C API alone.

    Args: library, the path of the shared library. Raises: OSError, Failed.
    """

    def __init__(self, library):
        self._sqlite = ctypes.CDLL(library)
        self._sqlite.sqlite3_errmsg.restype = ctypes.c_char_p
        self._handle = ctypes.c_void_p()
        self._check(self._sqlite.sqlite3_open(b':memory:', ctypes.byref(self._handle)))

    def _check(self, code):
        if code:
            raise Failed('%d: %s' % (code, self._sqlite.sqlite3_errmsg(self._handle).decode()))

    def run(self, sql):
        """Execute statements (str); return their rows, each as its values joined by `|` (list of str)."""
        rows = []

        def row(_, count, values, names):
            rows.append('|'.join((values[i] or b'NULL').decode() for i in range(count)))
            return 0

        texts = ctypes.POINTER(ctypes.c_char_p)
        callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, texts, texts)(row)
        self._check(self._sqlite.sqlite3_exec(self._handle, sql.encode(), callback, None, None))
        return rows


def failures(library, version):
    """The queries whose answer is wrong: a list of lines (str).

    Args: the library's path, and the version that it has to have (str). Raises: OSError, Failed.
    """
    database = Database(library)
    database.run(SETUP)
    wrong = []
    for query, expected in [('select sqlite_version()', version)] + QUERIES:
        found = database.run(query)
        if found != [expected]:
            wrong.append('%s: expected %s, found %s' % (query, expected, found))
    return wrong


def main(arguments):
    """Run the command line; return the exit code."""
    try:
        wrong = failures(*arguments)
    except (OSError, Failed) as error:
        wrong = [str(error)]
    print('\n'.join(wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
