"""Generated transactions over fixed tables: what writers of one file do, by number, always the same."""
from tests.fuzz.generate.chance import Chance

SCHEMA = [
    "CREATE TABLE a(id INTEGER PRIMARY KEY, n INT, t TEXT, b BLOB)",
    "CREATE INDEX an ON a(n, t)",
    "CREATE TABLE w(k TEXT PRIMARY KEY, v, n INT) WITHOUT ROWID",
    "CREATE TABLE log(what TEXT, id INT)",
    "CREATE TRIGGER ad AFTER DELETE ON a WHEN old.n % 3 = 0 "
    "BEGIN INSERT INTO log VALUES('gone', old.id); END",
]
CHECKS = ["SELECT id, n, t, length(b) FROM a", "SELECT * FROM w", "SELECT count(*), total(id) FROM log",
          "SELECT n, count(*) FROM a GROUP BY n"]
_JOURNALS = ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"]
_STATEMENTS = [
    "INSERT INTO a(n, t, b) WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {m}) "
    "SELECT i % 7, 't' || ({s} + i) % 31, zeroblob({z}) FROM r",
    "INSERT INTO a(n, t) VALUES ({s}, 'one')",
    "UPDATE a SET t = t || 'x', n = n + 1 WHERE id % {d} = {r}",
    "UPDATE a SET b = zeroblob({z}) WHERE n = {r}",
    "UPDATE a SET n = (SELECT count(*) FROM a AS x WHERE x.n = a.n) WHERE id < {s}",
    "DELETE FROM a WHERE id % {d} = {r}",
    "DELETE FROM a WHERE id > (SELECT max(id) FROM a) - {m}",
    "DELETE FROM a WHERE (SELECT count(*) FROM a) > 400 AND id % 2",
    "INSERT OR REPLACE INTO w SELECT 'k' || (id % 97), t, n FROM a WHERE n > {r}",
    "UPDATE w SET v = v || {s}, n = n * 2 WHERE n % {d} = 1 AND length(v) < 200",
    "DELETE FROM w WHERE k LIKE '%{r}'",
    "DELETE FROM log",
    "CREATE INDEX IF NOT EXISTS later ON a(t, n DESC)",
    "DROP INDEX IF EXISTS later",
]
_ALONE = ["VACUUM", "PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)",
          "PRAGMA incremental_vacuum(3)", "PRAGMA incremental_vacuum", "ANALYZE", "REINDEX"]


def statement(chance):
    """A statement that writes (str). Args: chance, a Chance."""
    return chance.pick(_STATEMENTS).format(
        m=chance.pick([1, 5, 20, 60]), s=chance.randint(1, 300), z=chance.pick([0, 3, 90, 700, 5000]),
        d=chance.randint(2, 9), r=chance.randint(0, 6))


def transaction(seed, number, rollback=True):
    """The statements of a transaction (list of str).

    Args: seed (str); number, of the transaction (int); rollback, whether it may be rolled back.
    """
    chance = Chance("%s/%d" % (seed, number))
    if chance.one_in(9):
        return [chance.pick(_ALONE)]
    if chance.one_in(6):
        return [statement(chance)]
    texts = [chance.pick(["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])]
    for _ in range(chance.randint(1, 5)):
        texts.append(statement(chance))
        if rollback and chance.one_in(8):
            texts += ["SAVEPOINT s", statement(chance), statement(chance), "ROLLBACK TO s", "RELEASE s"]
    texts.append("ROLLBACK" if rollback and chance.one_in(8) else "COMMIT")
    return texts


def journal(chance):
    """A journal mode (str)."""
    return chance.pick(_JOURNALS)
