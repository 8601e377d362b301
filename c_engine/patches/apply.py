"""The edits that turn upstream's sqlite3.c into the engine's: a short declared list.

Each edit replaces one text that must occur exactly once in the pinned file; an edit that
matches never or twice stops the build, which names all of them, so an upgrade of SQLite can't
slip past a changed spot.  Everything else of upstream stays as it is.

What they give engine.c is said, and done, by area: validity.py, tiers.py, sorter.py,
cursors.py, file_map.py, memoize.py, settings.py. Besides, sqlite3VdbeExec is there once more as
`sqpyteVdbeExecOne`, which stops before its second opcode: the VM runs single opcodes in it, and says which of
them upstream wouldn't count. (Asking in sqlite3VdbeExec itself whether to stop made programs of cheap
opcodes 6 % slower.)
"""
import os
import re

from c_engine.patches import cursors, edit, effects, file_map, memoize, settings, sorter, tiers, validity
from c_engine.patches.edit import Edit, EditError

_AREAS = (validity, tiers, sorter, cursors, file_map, memoize, settings)
EDITS = [one for area in _AREAS for one in area.EDITS]
# What the edited text depends on.
FILES = [__file__, edit.__file__] + [area.__file__ for area in _AREAS]
__all__ = ["EDITS", "FILES", "VISIBLE", "Edit", "EditError", "apply", "apply_each", "misfits"]


# sqlite3VdbeExec, from its head to the end of its file within the amalgamation.
_EXEC_HEAD = "SQLITE_PRIVATE int sqlite3VdbeExec(\n  Vdbe *p"
_EXEC_END = "\n/************** End of vdbe.c *"

_STOP = """
#undef SQPYTE_BEFORE_OPCODE
#undef SQPYTE_EXEC_LOCALS
#undef SQPYTE_UNCOUNT
#define SQPYTE_EXEC_LOCALS int sqpyteRan = 0;
#define SQPYTE_UNCOUNT(n) (void)(n)
#define SQPYTE_BEFORE_OPCODE \\
    if( sqpyteRan++ ){ \\
      p->pc = (int)(pOp - aOp); \\
      p->sqpyteCompare = iCompare; \\
      rc = SQPYTE_STOP; \\
      goto vdbe_return; \\
    } \\
    nVmStep -= p->sqpyteUncounted;
"""

_GO_ON = """
#define SQPYTE_EXEC_LOCALS
#define SQPYTE_BEFORE_OPCODE
#define SQPYTE_UNCOUNT(n) nVmStep -= MIN((u64)(n), nVmStep)
"""


def _file_of(name):
    """The file (str) of the edit with this name, as one would open it: edits of the checking build are
    in effects.py, and what belongs to no area is here."""
    for area in _AREAS + (effects,):
        if any(one.name == name for one in area.EDITS):
            return os.path.join("c_engine", "patches", area.__name__.split(".")[-1] + ".py")
    return os.path.join("c_engine", "patches", "apply.py")


class _Wrong:
    """What doesn't fit, of all edits: another version of SQLite is then adapted to in one go."""

    def __init__(self):
        self.lines = []

    def once(self, text, find, name):
        """Whether the text `find` occurs exactly once; noted if not."""
        count = text.count(find)
        if count != 1:
            self.lines.append("edit %r of %s matches %d times in sqlite3.c" % (name, _file_of(name), count))
        return count == 1

    def end(self):
        """Raise EditError if anything has been noted."""
        if self.lines:
            raise EditError(
                "%s\nEach must match exactly once: upstream changed there; read the new code and adapt "
                "c_engine/patches (%d of the edits don't fit)" % ("\n".join(self.lines), len(self.lines)))


# What is SQLite's own and called or read from elsewhere (engine.h); all else stays `static` as in
# upstream's amalgamation, for gcc puts a static function that is called once into its caller.
VISIBLE = [
    "sqlite3BtreeFirst",
    "sqlite3BtreeIntegerKey",
    "sqlite3BtreeNext",
    "sqlite3BtreePrevious",
    "sqlite3OpcodeName",        # what tests compare generated/opcodes.py with
    "sqlite3OpcodeProperty",    # the same
]


def _visible(text, name, wrong):
    """Make a static function visible: its declaration and its definition."""
    text, count = re.subn(r"^SQLITE_PRIVATE (?=[a-z0-9 ]+[ *]%s[(\[])" % name, "", text, flags=re.M)
    if count != 2:
        wrong.lines.append("%s, of VISIBLE (c_engine/patches/apply.py), stands %d times at a line's start in "
                           "sqlite3.c, not in a declaration and a definition" % (name, count))
    return text


def _apply_each(text, edits, wrong):
    """`apply_each`; what doesn't fit is noted and left out."""
    for one in edits:
        if wrong.once(text, one.find, one.name):
            text = text.replace(one.find, one.replace)
    return text


def apply_each(text, edits):
    """Apply these edits (list of Edit) to text (str), which is returned.

    Raises: EditError, naming all that don't match exactly once.
    """
    wrong = _Wrong()
    text = _apply_each(text, edits, wrong)
    wrong.end()
    return text


def _apply_all(text, wrong):
    """The edits, and VISIBLE; what doesn't fit is noted and left out."""
    text = _apply_each(text, EDITS, wrong)
    for name in VISIBLE:
        text = _visible(text, name, wrong)
    wrong.once(text, _EXEC_HEAD, "exec-twice (head)")
    wrong.once(text, _EXEC_END, "exec-twice (end)")
    return text


def misfits(text):
    """What of our edits, those of the checking build included, doesn't fit an amalgamation.

    Args: text, the content of a version's sqlite3.c (str).
    Returns: a line (str) for each that doesn't, with its file; an empty list if all fit.
    """
    wrong = _Wrong()
    _apply_each(_apply_all(text, wrong), effects.EDITS, wrong)
    return wrong.lines


def apply(text):
    """Apply all edits to upstream's amalgamation.

    Args: text, the content of sqlite3.c (str).
    Returns: the edited content (str).
    Raises: EditError naming all edits that don't match exactly once.
    """
    wrong = _Wrong()
    text = _apply_all(text, wrong)
    wrong.end()
    head = text.index(_EXEC_HEAD)
    end = text.index(_EXEC_END, head)
    function = text[head:end]
    once_more = function.replace("sqlite3VdbeExec(", "sqpyteVdbeExecOne(", 1)
    return "".join([text[:head], _GO_ON, function, _STOP, once_more, text[end:]])
