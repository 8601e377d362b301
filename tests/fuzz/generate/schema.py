"""Generated schemas: what a script's tables, views, indexes and triggers are called, and their DDL.

The model follows what the script's own statements do as if each succeeded.  Where one fails, later
statements fail too, in stock as here: that is compared as well.
"""
from dataclasses import dataclass, field
from typing import List

from tests.differential.generate.values import literal
from tests.fuzz.generate import literals
from tests.fuzz.generate.expressions import COLLATIONS, Expressions, Scope

_TYPES = ["INTEGER", "INTEGER", "INT", "TEXT", "TEXT", "REAL", "NUMERIC", "BLOB", "", "VARCHAR(9)",
          "DECIMAL(9,2)", "DATE", "BOOLEAN"]
_STRICT = ["INT", "INTEGER", "TEXT", "REAL", "BLOB", "ANY"]
_ACTIONS = ["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"]


@dataclass
class Column:
    """A column. Attributes: name; type; written, whether statements may give it a value."""
    name: str
    type: str
    written: bool = True


@dataclass
class Table:
    """A table or view. Attributes: name, with its schema where that isn't main; columns; kind:
    "rowid", "ipk" (c0 is the rowid), "without rowid" or "view"; key, the primary key's columns."""
    name: str
    columns: List[Column]
    kind: str
    key: List[str] = field(default_factory=list)

    def names(self):
        """The columns that a query may use (list of str)."""
        names = [column.name for column in self.columns]
        return names + ["rowid"] if self.kind in ("rowid", "ipk") else names

    def written(self):
        """The columns that a statement may write (list of Column)."""
        return [column for column in self.columns if column.written]

    @property
    def schema(self):
        """The database that holds it: "main", "temp" or "aux"."""
        return self.name.split(".")[0] if "." in self.name else "main"


class Schema:
    """The tables, views, indexes and triggers of a script. Args: chance, a Chance."""

    def __init__(self, chance):
        self.chance = chance
        self.tables: List[Table] = []
        self.views: List[Table] = []
        self.indexes: List[str] = []
        self.triggers: List[str] = []
        self.databases = ["main"]
        self.count = 0

    def new_name(self, letter):
        """A name that isn't taken (str)."""
        self.count += 1
        return "%s%d" % (letter, self.count)

    def sources(self):
        """All that a query may read (list of Table)."""
        return self.tables + self.views

    def _plain(self, table):
        return Expressions(self.chance, Scope([column.name for column in table.columns]))

    def table(self):
        """CREATE TABLE for a new table, which the model has afterwards (list of str)."""
        chance = self.chance
        database = chance.pick(self.databases)
        name = self.new_name("t")
        strict = chance.one_in(10)
        types = _STRICT if strict else _TYPES
        kind = chance.pick(["rowid", "rowid", "ipk", "ipk", "without rowid"])
        columns = [Column("c%d" % i, chance.pick(types)) for i in range(chance.randint(1, 5))]
        table = Table(name if database == "main" else "%s.%s" % (database, name), columns, kind)
        parts = [self._column(table, i, strict) for i in range(len(columns))]
        if kind == "ipk":
            columns[0].type = "INTEGER"
            parts[0] = "c0 INTEGER PRIMARY KEY%s" % chance.pick(["", "", " DESC", " AUTOINCREMENT"])
            table.key = ["c0"]
        elif kind == "without rowid" or chance.one_in(5):
            keys = chance.some([column.name for column in columns], 1, 2)
            table.key = keys
            parts.append("PRIMARY KEY (%s)" % ", ".join(
                key + chance.pick(["", "", " DESC", " COLLATE NOCASE"]) for key in keys))
        if chance.one_in(6):
            parts.append("UNIQUE (%s)" % ", ".join(chance.some([c.name for c in columns], 1, 2)))
        if chance.one_in(8):
            parts.append("CHECK (%s%s)" % (
                self._plain(table).b(1), " OR c0 IS NOT NULL" if chance.one_in(2) else ""))
        if chance.one_in(4):
            parts.append(self._foreign_key(table))
        self._generated(table, parts, strict)
        options = (["STRICT"] if strict else []) + (
            ["WITHOUT ROWID"] if kind == "without rowid" else [])
        self.tables.append(table)
        return ["CREATE TABLE %s(%s) %s" % (
            table.name, ", ".join(part for part in parts if part), ", ".join(options))]

    def _column(self, table, i, strict):
        chance = self.chance
        column = table.columns[i]
        words = [column.name, column.type]
        if chance.one_in(4):
            words.append("COLLATE " + chance.pick(COLLATIONS))
        if chance.one_in(8):
            words.append("NOT NULL" + chance.pick(["", "", " ON CONFLICT IGNORE", " ON CONFLICT REPLACE"]))
        if chance.one_in(4):
            words.append("DEFAULT (%s)" % literals.constant(chance))
        if chance.one_in(10):
            words.append("UNIQUE" + chance.pick(["", "", " ON CONFLICT REPLACE", " ON CONFLICT IGNORE"]))
        return " ".join(word for word in words if word)

    def _generated(self, table, parts, strict):
        chance = self.chance
        if not chance.one_in(4):
            return
        place = len(table.columns)
        for _ in range(chance.randint(1, 2)):
            column = Column("g%d" % len(table.columns), chance.pick(_STRICT[:5] if strict else _TYPES), False)
            parts.insert(place, "%s %s AS (%s) %s" % (
                column.name, column.type, self._plain(table).e(2), chance.pick(["VIRTUAL", "STORED", ""])))
            table.columns.append(column)
            place += 1

    def _foreign_key(self, table):
        chance = self.chance
        parents = [other for other in self.tables if other.schema == table.schema] + [table]
        parent = chance.pick(parents)
        keys = parent.key[:1] or [parent.columns[0].name]
        return "FOREIGN KEY (%s) REFERENCES %s%s%s%s%s" % (
            chance.pick(table.columns).name, parent.name.split(".")[-1],
            "(%s)" % keys[0] if chance.random() < 0.7 else "",
            " ON DELETE " + chance.pick(_ACTIONS) if chance.random() < 0.7 else "",
            " ON UPDATE " + chance.pick(_ACTIONS) if chance.random() < 0.6 else "",
            chance.pick(["", "", " DEFERRABLE INITIALLY DEFERRED"]))

    def rows(self, table, most):
        """INSERTs of up to `most` rows (list of actions)."""
        chance = self.chance
        columns = table.written()
        if not columns:
            return []
        pools = [literals.values_of(chance, column.type) for column in columns]
        rows = []
        start = chance.pick([0, 1, -5, 1000])
        step = chance.pick([1, 1, 1, 3, 1000003])
        for i in range(chance.randint(0, most)):
            row = [chance.pick(pool) for pool in pools]
            if table.kind == "ipk":
                row[0] = start + i * step
            rows.append(tuple(row))
        sql = "INSERT OR IGNORE INTO %s(%s) VALUES (%s)" % (
            table.name, ", ".join(column.name for column in columns), ", ".join("?" * len(columns)))
        return [("many", 0, sql, rows)]

    def many_rows(self, table, count):
        """An INSERT of `count` rows computed from their number (str)."""
        chance = self.chance
        values = []
        for i in range(len(table.written())):
            if i == 0 and table.kind == "ipk":
                values.append("n")
            else:
                values.append(chance.pick([
                    "n", "n %% %d" % chance.randint(2, 30), "n * 7919 % 1000", "n / 3.0",
                    "'k' || (n %% %d)" % chance.randint(2, 300), "printf('%05d', n * 31 % 977)", "-n",
                    "CASE WHEN n % 5 THEN n % 11 END", "hex(n * 2654435761)",
                    literal(literals.value(chance)), "date(2440000 + n % 500)",
                    "substr('abcdefghijklmnopqrstuvwxyz', n % 20, n % 7)", "n << (n % 50)"]))
        return ("INSERT OR IGNORE INTO %s(%s) WITH RECURSIVE r(n) AS (SELECT %d UNION ALL SELECT n + 1 "
                "FROM r WHERE n < %d) SELECT %s FROM r" % (
                    table.name, ", ".join(column.name for column in table.written()), 1, count,
                    ", ".join(values)))

    def index(self):
        """CREATE INDEX on some table (list of str)."""
        chance = self.chance
        table = chance.pick(self.tables)
        plain = self._plain(table)
        terms = []
        for _ in range(chance.pick([1, 1, 2, 2, 3])):
            term = chance.pick(table.columns).name if chance.random() < 0.8 else plain.e(2)
            terms.append(term + chance.pick(["", "", " COLLATE NOCASE", " COLLATE RTRIM"])
                         + chance.pick(["", "", " DESC"]))
        name = self.new_name("i")
        prefix = "" if table.schema == "main" else table.schema + "."
        self.indexes.append(prefix + name)
        return ["CREATE %sINDEX %s%s ON %s(%s)%s" % (
            "UNIQUE " if chance.one_in(8) else "", prefix, name, table.name.split(".")[-1],
            ", ".join(terms), " WHERE " + plain.b(1) if chance.one_in(5) else "")]

    def view(self, queries):
        """CREATE VIEW (list of str)."""
        chance = self.chance
        name = self.new_name("v")
        width = chance.randint(1, 3)
        names = ["c%d" % i for i in range(width)]
        text = queries.view(width)
        temporary = "TEMP " if len(self.databases) > 1 or chance.one_in(4) else ""
        self.views.append(Table(name, [Column(n, "", False) for n in names], "view"))
        return ["CREATE %sVIEW %s(%s) AS %s" % (temporary, name, ", ".join(names), text)]

    def trigger(self, writes):
        """CREATE TRIGGER (list of str). Args: writes, a writes.Writes."""
        chance = self.chance
        target = chance.pick(self.sources())
        name = self.new_name("tr")
        event = chance.pick(["INSERT", "UPDATE", "DELETE"])
        when = "INSTEAD OF" if target.kind == "view" else chance.pick(["BEFORE", "AFTER", "AFTER"])
        of = ""
        if event == "UPDATE" and chance.one_in(3):
            of = " OF " + ", ".join(column.name for column in chance.some(target.columns, 1, 2))
        rows = ["new"] if event == "INSERT" else ["old"] if event == "DELETE" else ["new", "old"]
        columns = ["%s.%s" % (row, n) for row in rows for n in target.names()]
        statements = writes.for_trigger(target, columns)
        condition = ""
        if chance.one_in(2):
            condition = " WHEN " + Expressions(chance, Scope(columns)).b(1)
        temporary = "TEMP " if target.schema == "temp" or len(self.databases) > 2 else ""
        self.triggers.append(name)
        return ["CREATE %sTRIGGER %s %s %s%s ON %s FOR EACH ROW%s BEGIN %s; END" % (
            temporary, name, when, event, of, target.name.split(".")[-1], condition, "; ".join(statements))]
