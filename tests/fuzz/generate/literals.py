"""Constants for generated scripts: mostly plain ones, so that statements meet rows, and the edges."""
from tests.differential.generate.values import EDGE_INTEGERS, EDGE_REALS, NUMBER_LIKE, SHORT_BLOBS, WORDS, literal

PLAIN_WORDS = ["a", "b", "ab", "abc", "A", "B", "Abc", "x", "y", "z ", "", "é", "10", "2", "2.5", "1e2", "0"]
DATES = ["2024-02-29", "1995-01-01", "2000-12-31 23:59:59", "12:30", "2451545.0", "2024-02-29T10:00Z",
         "0000-01-01", "1969-07-20 20:17:40.5", "9999-12-31", "-4713-11-24 12:00:00", "2023-13-45"]
MODIFIERS = ["+1 day", "-3 months", "start of month", "weekday 2", "start of year", "unixepoch", "julianday",
             "+1.5 hours", "-1 year", "auto", "subsec", "ceiling", "floor", "+0001-02-03"]
FORMATS = ["%Y", "%Y-%m-%d", "%j", "%s", "%H:%M:%f", "%w%W", "%G-%V", "%e %I %p", "%J", "%%"]
JSONS = ['{"a":1,"b":[1,2.5,"x"]}', "[1,2,3]", '{"a":{"b":null}}', "[]", "null", '"text"', "17", "{a:1}",
         '[true,false,[1,[2]]]', '{"é":"\\u00e9","x":1e3}', "[1,", "{'a':5,}"]
PATHS = ["$", "$.a", "$.b[1]", "$[0]", "$[#-1]", "$.a.b", "$.x.y", "$[9]"]
PATTERNS = ["a%", "%b%", "%", "_", "A_", "%1%", "", "a%b%", "é%", "[a-c]%", "%\\%"]
GLOBS = ["a*", "*1*", "?", "[a-c]*", "*", "*a*b", "[^a]*", ""]
PRINTFS = ["%d", "%s", "%5.2f", "%x", "%08d", "%-6s|", "%g", "%q", "%Q", "%.3s", "%c", "%,d", "%+d%%", "%w"]


def value(chance):
    """A value that a cell or a parameter takes: None, int, float, str or bytes."""
    kind = chance.random()
    if kind < 0.42:
        return chance.randint(-3, 12)
    if kind < 0.62:
        return chance.pick(PLAIN_WORDS)
    if kind < 0.70:
        return None
    if kind < 0.79:
        return chance.randint(-40, 40) / 4.0
    if kind < 0.83:
        return chance.pick(EDGE_INTEGERS)
    if kind < 0.86:
        return chance.pick(EDGE_REALS)
    if kind < 0.89:
        return chance.pick(NUMBER_LIKE)
    if kind < 0.92:
        return chance.pick(WORDS)
    if kind < 0.95:
        return chance.pick(SHORT_BLOBS)
    if kind < 0.965:
        return chance.pick(DATES)
    if kind < 0.98:
        return chance.pick(JSONS)
    return long_value(chance)


def long_value(chance):
    """A text or blob that makes a record's header grow, or its cell overflow a small page."""
    size = chance.pick([57, 58, 100, 127, 128, 450, 480, 510, 900, 1500, 4100, 8250, 20000])
    unit = chance.pick(["x", "ab", "é", "1", " ", "\U0001f600"])
    text = (unit * (size // len(unit) + 1))[:size] + chance.pick(["", "a", "b"])
    return text.encode() if chance.one_in(4) else text


def values_of(chance, affinity):
    """A pool of values for a column of that affinity (list): a few, so that many are equal."""
    if affinity in ("INTEGER", "INT") and not chance.one_in(4):
        pool = [chance.randint(-5, 40) for _ in range(8)]
        if chance.one_in(3):
            pool += [chance.pick(EDGE_INTEGERS), None]
        return pool
    if affinity == "REAL" and not chance.one_in(4):
        return [chance.randint(-40, 40) / 8.0 for _ in range(6)] + [None, chance.pick(EDGE_REALS)]
    if affinity == "TEXT" and not chance.one_in(3):
        return [chance.pick(PLAIN_WORDS) for _ in range(6)] + [chance.pick(WORDS), None]
    return [value(chance) for _ in range(8)]


def quoted(text):
    """A text as an SQL literal (str)."""
    return "'%s'" % text.replace("'", "''")


def constant(chance):
    """An SQL literal of a value that isn't long."""
    while True:
        drawn = value(chance)
        if not isinstance(drawn, (str, bytes)) or len(drawn) < 60:
            return literal(drawn)
