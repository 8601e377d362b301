"""Generated tables: declared types, collations, keys, indexes, page sizes, columns added later.

Rows are not drawn one by one, which would make hundreds of rows too slow to generate: a pool of
values is drawn for each column, and a seed that says which row takes which.  That is enough for
B-trees of several levels on small pages, with overflow chains and many equal values.
"""
import random
from dataclasses import dataclass, field
from typing import Any, List, Optional, Tuple

from hypothesis import strategies as st

from tests.differential.generate.values import (
    EDGE_INTEGERS,
    blobs,
    integers,
    literal,
    long_blobs,
    long_texts,
    reals,
    short_values,
    texts,
    values,
)

TYPES = ["", "INTEGER", "INT", "TEXT", "VARCHAR(9)", "REAL", "DOUBLE", "NUMERIC", "DECIMAL(9,2)",
         "BLOB"]
STRICT_TYPES = ["INT", "INTEGER", "TEXT", "REAL", "BLOB", "ANY"]


@dataclass
class Column:
    """A column; `pool` holds the values its cells take."""
    name: str
    type: str
    collation: str
    pool: List[Any]
    default: Optional[str] = None       # an SQL literal, if the column is added later

    def declaration(self):
        parts = [self.name, self.type]
        if self.collation:
            parts.append("COLLATE " + self.collation)
        if self.default is not None:
            parts.append("DEFAULT (%s)" % self.default)
        return " ".join(part for part in parts if part)


@dataclass
class Table:
    """A table t with columns c0, c1, ...; see `statements`."""
    columns: List[Column]
    kind: str                           # "rowid", "integer primary key", "without rowid"
    strict: bool
    page_size: int
    encoding: str
    rows: int
    seed: int
    key_step: int
    indexes: List[str]
    deleted: Optional[Tuple[int, int]]  # (modulus, remainder) of rows deleted
    later: List[Column] = field(default_factory=list)
    rows_later: int = 0

    def column_names(self):
        return [column.name for column in self.columns + self.later]

    def statements(self):
        """The actions (see capi_session.py) that make the table."""
        actions = [("run", 0, "PRAGMA page_size=%d" % self.page_size),
                   ("run", 0, "PRAGMA encoding='%s'" % self.encoding),
                   ("run", 0, self.create())]
        actions += [("run", 0, index) for index in self.indexes]
        chooser = random.Random(self.seed)
        actions.append(self._inserts(chooser, self.columns, 0, self.rows))
        if self.deleted:
            key = "length(c0)" if self.kind == "without rowid" else "rowid"
            modulus, remainder = self.deleted
            actions.append(("run", 0, "DELETE FROM t WHERE %s %% %d = %d" % (
                key, modulus, remainder)))
        for column in self.later:
            actions.append(("run", 0, "ALTER TABLE t ADD COLUMN " + column.declaration()))
        if self.rows_later:
            actions.append(self._inserts(
                chooser, self.columns + self.later, self.rows, self.rows_later))
        return actions

    def create(self):
        """The CREATE TABLE statement."""
        columns = [column.declaration() for column in self.columns]
        options = ["STRICT"] if self.strict else []
        if self.kind == "integer primary key":
            columns[0] = "c0 INTEGER PRIMARY KEY"
        elif self.kind == "without rowid":
            keys = [column.name for column in self.columns[:1 + self.seed % 2]]
            columns.append("PRIMARY KEY (%s)" % ", ".join(keys))
            options.append("WITHOUT ROWID")
        return "CREATE TABLE t(%s) %s" % (", ".join(columns), ", ".join(options))

    def _inserts(self, chooser, columns, start, count):
        sql = "INSERT OR IGNORE INTO t VALUES (%s)" % ", ".join("?" * len(columns))
        rows = []
        for i in range(start, start + count):
            row = [chooser.choice(column.pool) for column in columns]
            if self.kind == "integer primary key":
                row[0] = self._key(i)
            rows.append(tuple(row))
        return ("many", 0, sql, rows)

    def _key(self, i):
        if self.key_step:
            return i * self.key_step - 5
        return EDGE_INTEGERS[i % len(EDGE_INTEGERS)]


_DEFAULTS = st.one_of(short_values, long_texts, long_blobs).map(literal)
_POOLS = st.sampled_from([
    integers, integers, reals, texts, blobs, st.one_of(integers, reals), short_values, values,
    long_texts, st.one_of(long_blobs, st.none()), st.one_of(integers, st.none())])


@st.composite
def columns(draw, name, types, later=False):
    """A Column."""
    pool = draw(_POOLS)
    return Column(
        name=name, type=draw(st.sampled_from(types)),
        collation=draw(st.sampled_from(["", "", "", "NOCASE", "RTRIM"])),
        pool=draw(st.lists(pool, min_size=1, max_size=8)),
        default=draw(_DEFAULTS) if later else None)


@st.composite
def tables(draw, max_rows=120):
    """A Table."""
    kind = draw(st.sampled_from(["rowid", "rowid", "integer primary key", "without rowid"]))
    strict = draw(st.integers(0, 9)) == 0
    types = STRICT_TYPES if strict else TYPES
    count = draw(st.integers(1, 4))
    later = draw(st.integers(0, 2)) if not strict else 0
    names = ["c%d" % i for i in range(count + later)]
    indexes = draw(st.lists(st.sampled_from(names[:count]), max_size=2, unique=True))
    directions = draw(st.sampled_from(["", " DESC"]))
    return Table(
        columns=[draw(columns(name, types)) for name in names[:count]],
        kind=kind, strict=strict,
        page_size=draw(st.sampled_from([512, 512, 1024, 4096, 65536])),
        encoding=draw(st.sampled_from(["UTF-8"] * 9 + ["UTF-16le", "UTF-16le", "UTF-16be"])),
        rows=draw(st.one_of(st.integers(0, 12), st.integers(0, max_rows))),
        seed=draw(st.integers(0, 1000)),
        key_step=draw(st.sampled_from([1, 3, 1000003, 0])),
        indexes=["CREATE INDEX i%s ON t(%s%s)" % (name, name, directions) for name in indexes],
        deleted=draw(st.one_of(st.none(), st.sampled_from([(2, 0), (3, 1), (7, 3)]))),
        later=[draw(columns(name, types, later=True)) for name in names[count:]],
        rows_later=draw(st.integers(0, 6)) if later else 0)
