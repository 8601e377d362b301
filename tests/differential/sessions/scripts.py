"""Scripts and transcripts: what the processes of the differential tests send one another.

Both are made of plain tuples, lists and strings, so that they can be pickled between different
Pythons and printed in a failure.  A script is a dict:

    image      the database file to start from (bytes), or None for an empty one
    storage    "memory", "file", "wal" (a file in WAL mode) or "shared" (a shared cache)
    pragmas    statements run first on each connection
    threshold  back-edges before a loop is hot, for tiers in hot mode
    actions    a list of tuples (verb, arguments...); the sessions' methods are the verbs

A transcript is a list with one entry (a list of strings) for each action, and one more for the
state at the end.
"""
import hashlib

CONNECTIONS = {"memory": 1, "file": 2, "wal": 2, "shared": 2}   # by storage
MOST_CALLS = 200        # of run(): a write ahead of a scan may keep it going for ever
_SHOWN = 60


def script(actions, image=None, storage="memory", pragmas=(), threshold=1):
    """A script; see the module's docstring."""
    return {"image": image, "storage": storage, "pragmas": list(pragmas),
            "threshold": threshold, "actions": list(actions)}


def render(value):
    """A value as a string that shows type and bits: 1, 0x1.8p+0, t'text', x'blob', NULL."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, str):
        return "t" + _shortened(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, bytes):
        return "x" + _shortened(value)
    return repr(value)


def digest(image):
    """The size and SHA-1 of a database file (bytes) as a string, but for the change counters in its header: a page that
    is written with what it held counts as a change, and tiers differ in how often that is."""
    image = image[:24] + image[28:92] + image[100:]
    return "%d bytes, sha1 %s" % (len(image), hashlib.sha1(image).hexdigest())


def _shortened(data):
    if len(data) <= _SHOWN:
        return repr(data)[1:]
    return "%r...(%d bytes, sha1 %s)" % (
        data[:_SHOWN], len(data), hashlib.sha1(data).hexdigest())


def render_row(row, sql=""):
    """A row of a statement as a string.

    Of a checkpoint, whether it was busy: how many pages a transaction has in the WAL depends on which a small cache
    spilled, thus on which a seek has looked at, and seeks begin at a leaf here where they can.
    """
    if sql.lower().startswith("pragma wal_checkpoint"):
        row = row[:1]
    return "(%s)" % ", ".join(render(value) for value in row)


def difference(actions, expected, actual):
    """The first difference of two transcripts in words (str), or None if they are equal."""
    if expected == actual:
        return None
    names = [repr(action) for action in actions] + ["the state at the end"]
    for i, name in enumerate(names):
        left = expected[i] if i < len(expected) else "nothing"
        right = actual[i] if i < len(actual) else "nothing"
        if left == right:
            continue
        lines = ["action %d: %s" % (i, name)]
        for row in range(max(len(left), len(right))):
            a = left[row] if row < len(left) else "nothing"
            b = right[row] if row < len(right) else "nothing"
            if a != b:
                lines += ["line %d of %d:" % (row, len(left)), "  stock: %s" % a, "  here:  %s" % b]
                break
        return "\n".join(lines)
    return "the transcripts differ in length"
