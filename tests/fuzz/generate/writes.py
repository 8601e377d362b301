"""Generated statements that change a database: rows, schemas, whole files."""
from tests.fuzz.generate import literals
from tests.fuzz.generate.expressions import Expressions, Scope

_OR = ["", "", "", "OR IGNORE ", "OR REPLACE ", "OR ABORT ", "OR FAIL ", "OR ROLLBACK "]


class Writes:
    """Makes INSERTs, UPDATEs and DELETEs over a schema.Schema. Args: as selects.Queries."""

    def __init__(self, chance, schema, queries):
        self.chance = chance
        self.schema = schema
        self.queries = queries

    def statement(self):
        """A statement that writes to some table or view (str)."""
        chance = self.chance
        target = chance.pick(self.schema.tables)
        if self.schema.views and chance.one_in(10):
            target = chance.pick(self.schema.views)
        scope = Scope([], self.queries, chance.pick([0, 0, 1]), True, self.queries.calls)
        text = self._write(target, target.name, scope)
        if chance.one_in(6) and target.kind != "view" and " LIMIT " not in text[-12:]:
            text += " RETURNING " + self._returned(target)
        return text

    def _returned(self, target):
        inside = Expressions(self.chance, Scope(target.names(), self.queries, 0, True))
        if self.chance.one_in(3):
            return "*"
        return ", ".join(inside.e(1) for _ in range(self.chance.randint(1, 3)))

    def for_trigger(self, target, columns):
        """Statements for the body of a trigger on target, which may use columns (list of str)."""
        chance = self.chance
        texts = []
        tables = [table for table in self.schema.tables if table.schema == target.schema] or [target]
        for _ in range(chance.pick([1, 1, 2, 3])):
            scope = Scope(columns, self.queries, chance.pick([0, 0, 1]))
            inside = Expressions(chance, scope)
            kind = chance.random()
            if kind < 0.1:
                texts.append("SELECT CASE WHEN %s THEN RAISE(%s) END" % (
                    inside.b(1), chance.pick(["IGNORE", "ABORT, 'no'", "FAIL, 'stop'", "ROLLBACK, 'back'"])))
            elif kind < 0.15:
                texts.append("SELECT " + inside.e(2))
            else:
                table = chance.pick(tables)
                texts.append(self._write(table, table.name.split(".")[-1], scope, plain=True))
        return texts

    def _write(self, target, name, scope, plain=False):
        kind = self.chance.random()
        if kind < 0.4:
            return self._insert(target, name, scope, plain)
        if kind < 0.75:
            return self._update(target, name, scope, plain)
        return self._delete(target, name, scope, plain)

    def _inside(self, target, scope):
        return Expressions(self.chance, Scope(
            target.names() + scope.columns, scope.queries, scope.depth, scope.parameters, scope.calls))

    def _insert(self, target, name, scope, plain):
        chance = self.chance
        columns = target.written() or target.columns
        columns = chance.some(columns, 1, len(columns)) if chance.one_in(4) else columns
        names = [column.name for column in columns]
        verb = chance.pick(["INSERT ", "INSERT ", "INSERT ", "REPLACE "])
        if verb == "INSERT ":
            verb += chance.pick(_OR)
        if not plain and chance.one_in(30):
            return "%sINTO %s DEFAULT VALUES" % (verb, name)
        outside = Expressions(chance, Scope(
            scope.columns or ["1"], scope.queries, scope.depth if scope.columns else 0,
            scope.parameters, scope.calls))
        if chance.random() < 0.45:
            source = self._rows_from(scope, len(names), plain)
        else:
            source = "VALUES " + ", ".join(
                "(%s)" % ", ".join(outside.e(1) if chance.one_in(3) else outside.constant(0) for _ in names)
                for _ in range(chance.pick([1, 1, 2, 5])))
        text = "%sINTO %s(%s) %s" % (verb, name, ", ".join(names), source)
        if verb.strip() == "INSERT" and target.kind != "view" and chance.one_in(4):
            text += self._upsert(target, scope)
        return text

    def _rows_from(self, scope, width, plain):
        chance = self.chance
        text = self.queries.query(
            Scope(scope.columns, self.queries, max(scope.depth, 0), scope.parameters, scope.calls), width)
        return "SELECT * FROM (%s) WHERE true LIMIT %d" % (text, chance.pick([3, 10, 40]))

    def _upsert(self, target, scope):
        chance = self.chance
        words = " ON CONFLICT"
        if target.key and chance.random() < 0.8:
            words += " (%s)" % ", ".join(target.key)
        if chance.one_in(3):
            return words + " DO NOTHING"
        columns = target.names() + ["excluded." + column.name for column in target.columns]
        inside = Expressions(chance, Scope(columns, self.queries, 0, scope.parameters))
        words += " DO UPDATE SET %s = %s" % (chance.pick(target.columns).name, inside.e(1))
        return words + (" WHERE " + inside.b(1) if chance.one_in(3) else "")

    def _update(self, target, name, scope, plain):
        chance = self.chance
        inside = self._inside(target, scope)
        columns = [column.name for column in chance.some(target.written() or target.columns, 1, 2)]
        if len(columns) == 2 and chance.one_in(4):
            right = "(%s)" % self.queries.nested(inside.scope, 2, one_row=True) if scope.depth > 0 else \
                "(%s, %s)" % (inside.e(1), inside.e(1))
            changes = "(%s) = %s" % (", ".join(columns), right)
        else:
            changes = ", ".join("%s = %s" % (column, inside.e(chance.pick([0, 1, 2]))) for column in columns)
        text = "UPDATE %s%s SET %s" % (chance.pick(_OR), name, changes)
        if chance.one_in(8) and target.kind != "view":
            source = chance.pick(self.schema.sources())
            text += " FROM %s AS u WHERE u.%s = %s.%s" % (
                source.name.split(".")[-1] if plain else source.name, source.columns[0].name,
                name.split(".")[-1], target.columns[0].name)
        elif chance.random() < 0.85:
            text += " WHERE " + inside.b(chance.pick([0, 1, 2]))
            if not plain and chance.one_in(10):
                text += " ORDER BY %s LIMIT %d" % (inside.c(0), chance.randint(0, 5))
        return text

    def _delete(self, target, name, scope, plain):
        chance = self.chance
        inside = self._inside(target, scope)
        if not plain and chance.one_in(20):
            return "DELETE FROM " + name
        text = "DELETE FROM %s WHERE %s" % (name, inside.b(chance.pick([0, 0, 1, 2])))
        if chance.random() < 0.5:
            text += " AND %s" % inside.b(0)
        if not plain and chance.one_in(12):
            text += " ORDER BY %s LIMIT %d" % (inside.c(0), chance.randint(0, 4))
        return text


class Changes:
    """Makes the other statements that change a database. Args: as Writes, and writes, a Writes."""

    def __init__(self, chance, schema, queries, writes):
        self.chance = chance
        self.schema = schema
        self.queries = queries
        self.writes = writes

    def definition(self):
        """Statements that create, alter or drop something (list of str)."""
        chance, schema = self.chance, self.schema
        kind = chance.random()
        if kind < 0.2 and len(schema.tables) < 6:
            return schema.table()
        if kind < 0.4:
            return schema.index()
        if kind < 0.5:
            return schema.view(self.queries)
        if kind < 0.62:
            return schema.trigger(self.writes)
        if kind < 0.7 and schema.indexes:
            return ["DROP INDEX IF EXISTS " + schema.indexes.pop(chance.randrange(len(schema.indexes)))]
        if kind < 0.76 and schema.triggers:
            return ["DROP TRIGGER IF EXISTS " + schema.triggers.pop(chance.randrange(len(schema.triggers)))]
        if kind < 0.8 and schema.views:
            return ["DROP VIEW IF EXISTS " + schema.views.pop(chance.randrange(len(schema.views))).name]
        if kind < 0.83 and len(schema.tables) > 1:
            return ["DROP TABLE " + schema.tables.pop(chance.randrange(len(schema.tables))).name]
        return self._altered(chance.pick(schema.tables))

    def _altered(self, table):
        chance = self.chance
        kind = chance.random()
        if kind < 0.5:
            name = self.schema.new_name("c")
            declared = chance.pick(["", "INTEGER", "TEXT", "REAL", "NUMERIC"])
            default = " DEFAULT (%s)" % literals.constant(chance) if chance.random() < 0.7 else ""
            table.columns.append(type(table.columns[0])(name, declared))
            return ["ALTER TABLE %s ADD COLUMN %s %s%s" % (table.name, name, declared, default)]
        column = chance.pick(table.columns)
        if kind < 0.7:
            old, column.name = column.name, self.schema.new_name("c")
            table.key = [column.name if key == old else key for key in table.key]
            return ["ALTER TABLE %s RENAME COLUMN %s TO %s" % (table.name, old, column.name)]
        if kind < 0.85 and len(table.columns) > 1 and column.name not in table.key:
            table.columns.remove(column)
            return ["ALTER TABLE %s DROP COLUMN %s" % (table.name, column.name)]
        old, name = table.name, self.schema.new_name("t")
        table.name = name if table.schema == "main" else "%s.%s" % (table.schema, name)
        return ["ALTER TABLE %s RENAME TO %s" % (old, name)]

    def upkeep(self):
        """A statement about the whole file (str)."""
        chance = self.chance
        table = chance.pick(self.schema.tables)
        return chance.pick([
            "VACUUM", "VACUUM", "ANALYZE", "ANALYZE", "ANALYZE " + table.name, "REINDEX",
            "REINDEX " + table.name, "PRAGMA incremental_vacuum", "PRAGMA incremental_vacuum(2)",
            "PRAGMA integrity_check", "PRAGMA foreign_key_check", "PRAGMA optimize", "PRAGMA wal_checkpoint",
            "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA foreign_keys=%s" % chance.pick(["ON", "OFF"]),
            "PRAGMA cache_size=%d" % chance.pick([1, 3, 10, 2000, -40]), "PRAGMA shrink_memory",
            "PRAGMA recursive_triggers=%s" % chance.pick(["ON", "OFF"]), "PRAGMA count_changes=OFF",
            "PRAGMA reverse_unordered_selects=%s" % chance.pick(["ON", "OFF"]),
            "PRAGMA automatic_index=%s" % chance.pick(["ON", "OFF"]),
            "PRAGMA defer_foreign_keys=%s" % chance.pick(["ON", "OFF"]),
            "PRAGMA table_xinfo(%s)" % table.name.split(".")[-1], "PRAGMA index_list(%s)" %
            table.name.split(".")[-1], "PRAGMA quick_check", "PRAGMA user_version=%d" % chance.randint(0, 9),
            "PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA temp_store=%s" % chance.pick("012"),
            "PRAGMA journal_mode=%s" % chance.pick(["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"]),
            "PRAGMA page_size=%d" % chance.pick([512, 1024, 8192]), "PRAGMA secure_delete=OFF",
            "PRAGMA auto_vacuum=%d" % chance.randint(0, 2), "SELECT changes(), total_changes()",
            "SELECT last_insert_rowid()"])
