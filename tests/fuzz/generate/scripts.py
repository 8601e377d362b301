"""Generated scripts: a schema, rows, then queries, writes, transactions, statements kept open, and what
else changes a database, in any order, on one or two connections.

A script is what tests/differential/sessions/scripts.py describes, with `mode`, the tier's, `most_steps`, how many
opcodes stock may take for a statement, and perhaps `period` and `stop`, of a progress handler (kinds/session.py).
"""
from tests.differential.sessions import scripts
from tests.fuzz.generate import literals
from tests.fuzz.generate.chance import Chance, Weighted
from tests.fuzz.generate.expressions import PARAMETERS
from tests.fuzz.generate.schema import Schema
from tests.fuzz.generate.selects import Queries
from tests.fuzz.generate.writes import Changes, Writes

READERS = ["r0", "r1", "r2"]
_TRANSACTIONS = ["BEGIN", "BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "COMMIT", "COMMIT", "ROLLBACK",
                 "SAVEPOINT s", "SAVEPOINT s", "SAVEPOINT q", "ROLLBACK TO s", "ROLLBACK TO q", "RELEASE s",
                 "RELEASE q"]
_PRAGMAS = ["PRAGMA cache_size=1", "PRAGMA cache_size=4", "PRAGMA foreign_keys=ON", "PRAGMA foreign_keys=ON",
            "PRAGMA recursive_triggers=ON", "PRAGMA temp_store=MEMORY", "PRAGMA temp_store=FILE",
            "PRAGMA read_uncommitted=ON", "PRAGMA mmap_size=1000000", "PRAGMA cell_size_check=ON",
            "PRAGMA automatic_index=OFF", "PRAGMA reverse_unordered_selects=ON",
            "PRAGMA legacy_alter_table=ON", "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA secure_delete=FAST",
            "PRAGMA cache_spill=OFF", "PRAGMA full_column_names=ON", "PRAGMA writable_schema=OFF"]
_VERBS = Weighted((30, "query"), (8, "again"), (22, "write"), (8, "transaction"), (7, "prepare"),
                  (12, "step"), (4, "current"), (2, "reset"), (1, "finalize"), (5, "define"), (4, "upkeep"),
                  (0.7, "interrupt"), (1.5, "blob"), (0.6, "attach"))
_SMALL, _MEDIUM, _LARGE = 12, 60, 400


def generated(seed, most_steps, calls="c"):
    """The script of a seed (str). Args: most_steps, see the module's docstring (int); calls, the functions
    that it may call (see expressions.Scope), if it does."""
    return _Script(Chance(seed), calls).make(most_steps)


class _Script:
    def __init__(self, chance, calls):
        self.chance = chance
        self.schema = Schema(chance)
        often = 5 if calls == "c" else 1.5
        self.queries = Queries(chance, self.schema, calls if chance.one_in(often) else "")
        self.writes = Writes(chance, self.schema, self.queries)
        self.changes = Changes(chance, self.schema, self.queries, self.writes)
        self.actions = []
        self.texts = []
        self.attached = False

    def make(self, most_steps):
        chance = self.chance
        self._set_up()
        for _ in range(chance.pick([10, 20, 30, 45])):
            getattr(self, "_" + chance.among(_VERBS))()
        for reader in READERS:
            self.actions.append(("finalize", 0, reader))
        for connection in (0, 1):
            self._run("ROLLBACK", connection)
        self.actions.append(("contents", 0))
        self.actions.append(("image", 0))
        storage = chance.pick(["memory", "memory", "file", "file", "wal", "shared"])
        if chance.one_in(3) and storage == "shared":
            storage = "file"
        script = scripts.script(self.actions, None, storage, chance.some(_PRAGMAS, 0, 3),
                                chance.pick([1, 1, 2, 3, 10, 100]))
        script["mode"] = chance.pick([0, 1, 1, 2, 2, 2])
        script["most_steps"] = most_steps
        if chance.one_in(5):
            script["period"] = chance.pick([1, 2, 3, 7, 20, 100, 1000])
            script["stop"] = chance.pick([0, 0, 1, 2, 9, 70, 500])
        return script

    def _run(self, sql, connection=None, parameters=()):
        if connection is None:
            connection = 1 if self.chance.one_in(8) else 0
        self.actions.append(("run", connection, sql) + tuple(parameters))

    def _parameters(self):
        return tuple(literals.value(self.chance) for _ in range(PARAMETERS))

    def _set_up(self):
        chance, schema = self.chance, self.schema
        self._run("PRAGMA page_size=%d" % chance.pick(
            [512, 512, 512, 1024, 1024, 2048, 4096, 4096, 8192, 32768, 65536]), 0)
        if chance.one_in(5):
            self._run("PRAGMA encoding='UTF-16%s'" % chance.pick(["le", "be"]), 0)
        if chance.one_in(4):
            self._run("PRAGMA auto_vacuum=%s" % chance.pick(["FULL", "INCREMENTAL"]), 0)
        if chance.one_in(8):
            # Here alone: with a statement active SQLite 3.54.1 changes the built-in LIKE of the whole process, and
            # other connections' queries look in an index for what they don't find there.
            self._run("PRAGMA case_sensitive_like=ON", 0)
        if chance.one_in(4):
            schema.databases.append("temp")
        if chance.one_in(6):
            self._attach()
            schema.databases.append("aux")
        for _ in range(chance.pick([1, 2, 2, 3])):
            for sql in schema.table():
                self._run(sql, 0)
        self._define_some(schema.index, chance.pick([0, 1, 2, 3]))
        for table in schema.tables:
            kind = chance.random()
            self.actions += schema.rows(table, _SMALL if kind < 0.5 else _MEDIUM)
            if kind > 0.75 and table.written():
                self._run(schema.many_rows(table, chance.pick([30, 200, _LARGE, 2000])), 0)
        self._define_some(lambda: schema.view(self.queries), chance.pick([0, 0, 1]))
        self._define_some(lambda: schema.trigger(self.writes), chance.pick([0, 0, 0, 1, 2]))
        if chance.one_in(5):
            self._run("ANALYZE", 0)
            if chance.one_in(2):    # plans as for large tables
                self._run("UPDATE sqlite_stat1 SET stat = '100000' || substr(stat, instr(stat, ' ')) "
                          "WHERE idx NOTNULL", 0)
                self._run("ANALYZE sqlite_schema", 0)

    def _define_some(self, define, count):
        for _ in range(count):
            for sql in define():
                self._run(sql, 0)

    def _attach(self):
        if not self.attached:
            self.attached = True
            self.actions.append(("attach", 0, self.chance.pick([":memory:", "aux.db", "aux.db", ""])))
        elif self.chance.one_in(3):
            self._run("DETACH aux", 0)

    def _query(self):
        sql = self.queries.statement()
        self.texts.append(sql)
        self._run(sql, None, self._parameters())

    def _again(self):
        if self.texts:
            self._run(self.chance.pick(self.texts), None, self._parameters())

    def _write(self):
        sql = self.writes.statement()
        self.texts.append(sql)
        self._run(sql, None, self._parameters())

    def _transaction(self):
        self._run(self.chance.pick(_TRANSACTIONS))

    def _prepare(self):
        chance = self.chance
        sql = self.writes.statement() if chance.one_in(6) else (
            self._walk() if chance.one_in(3) else self.queries.statement())
        connection = 1 if chance.one_in(8) else 0
        reader = chance.pick(READERS)
        self.actions.append(("prepare", connection, reader, sql) + self._parameters())
        self.actions.append(("step", connection, reader, chance.randint(1, 3)))

    def _walk(self):
        """A scan whose rows begin with the table's key, for _current."""
        table = self.chance.pick(self.schema.tables)
        names = table.names()
        key = "rowid" if "rowid" in names else names[0]
        order = self.chance.pick(["", " ORDER BY 1 DESC", " ORDER BY 2"])
        return "SELECT %s, %s FROM %s%s" % (key, self.chance.pick(names), table.name, order)

    def _step(self):
        self.actions.append(("step", 0, self.chance.pick(READERS), self.chance.pick([1, 1, 2, 3, 10, 1000])))

    def _current(self):
        """A statement about the row at which a reader stands."""
        chance = self.chance
        table = chance.pick(self.schema.tables)
        names = table.names()
        key = "rowid" if "rowid" in names else names[0]
        columns = table.written()
        name = chance.pick(columns).name if columns else names[0]
        form = chance.pick([
            "DELETE FROM {t} WHERE {k} = ?1", "DELETE FROM {t} WHERE {k} >= ?1",
            "DELETE FROM {t} WHERE {k} < ?1",
            "UPDATE {t} SET {c} = ?2 WHERE {k} = ?1", "UPDATE {t} SET {c} = zeroblob(700) WHERE {k} >= ?1",
            "UPDATE OR REPLACE {t} SET {k} = {k} + 3 WHERE {k} = ?1", "SELECT {c} FROM {t} WHERE {k} = ?1",
            "INSERT OR REPLACE INTO {t}({c}) VALUES (?1)"])
        if key == "rowid" and table.kind != "ipk":
            form = form.replace("OR REPLACE {t} SET {k}", "{t} SET {c}")
        self.actions.append(("current", 0, chance.pick(READERS),
                             form.format(t=table.name, k=key, c=name)) + self._parameters()[1:])

    def _reset(self):
        self.actions.append(("reset", 0, self.chance.pick(READERS)) + self._parameters())

    def _finalize(self):
        self.actions.append(("finalize", 0, self.chance.pick(READERS)))

    def _define(self):
        for sql in self.changes.definition():
            self._run(sql, 0)

    def _upkeep(self):
        self._run(self.changes.upkeep())

    def _interrupt(self):
        self.actions.append(("interrupt", 0))

    def _blob(self):
        table = self.chance.pick(self.schema.tables)
        self.actions.append(("blob", 0, table.schema, table.name.split(".")[-1],
                             self.chance.pick(table.columns).name, self.chance.randint(-2, 12),
                             self.chance.randint(0, 1)))
