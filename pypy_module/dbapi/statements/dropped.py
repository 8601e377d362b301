"""Which statements' cursors are garbage, found so that nobody's rows are taken away who may still ask for them.

A cursor in the middle of its rows keeps its statement, and with it a read transaction. When it is garbage, its
statement is reset. A weak reference doesn't tell: garbage that a finalizer has to do with, such as a generator that is
to be closed, is used once more, after its weak references are dead. What tells is

* where objects count references, a `Token` that the cursor's ResultSet holds. It holds an object that CPython's garbage
  collector doesn't know, so that goes when the ResultSet is freed, after all finalizers;
* under PyPy the finalizer of a `Sentinel` that the ResultSet holds: PyPy runs it when no other finalizer leads to it.
  That takes a major collection. A minor one keeps alive whatever a finalizer leads to, so a ResultSet that goes in a
  minor one is garbage, too: `find_gone` finds those, as long as it can tell that no major one has come (`Era`). See
  `_minor_collection` and `deal_with_objects_with_finalizers` in RPython's memory/gc/incminimark.py.
"""

import gc
import sys
from _weakref import ref     # `weakref` has it from there, and takes 2 ms of an import's 33 more

from pypy_module.ffi.library import ffi

REFERENCE_COUNTS = sys.implementation.name == 'cpython'
# A minor collection, with a step of a major one.
collect_step = getattr(gc, 'collect_step', gc.collect)

# Sessions with cursors in the middle of their rows, as far as is known, by their identity: only
# where dropped cursors aren't freed at once. A lock that SQLite meets may be one of theirs.
watching: dict = {}


def nobody():
    """Stands in a statement for the weak reference to its owner, when that is known to be garbage: returns None."""
    return None


def abandoned(statement):
    """Whether the cursor that was in the middle of the statement's rows is garbage, and its ResultSet with it."""
    return statement.owner is nobody


def about_to_be_abandoned(statement):
    """Whether the cursor that was in the middle of the statement's rows is garbage, and finalizers follow."""
    owner = statement.owner
    return owner is not None and owner is not nobody and owner() is None


class AliveAgain(ref):
    """A weak reference to what a finalizer of garbage uses, when weak references to it are dead. Under PyPy `ref` gives
    the dead one once more."""

    __slots__ = ()


class Token:
    """Held by a ResultSet in the middle of its rows, and by nobody else, where objects count references."""

    def __init__(self, statement):
        self.kept = ffi.new('char *')
        statement.token = ref(self.kept, statement.abandon)

    def give_back(self, result):
        """The rows of the ResultSet, which holds it, have ended."""
        result.sentinel = None


class Sentinel:
    """Held by a ResultSet in the middle of its rows, and by nobody else: finalised when PyPy collects its cursor.

    PyPy runs finalizers at the end of an iteration of whatever loop is running. Tracing allocates more than
    the program around, so a collection often ends while a loop is traced; a finalizer is a part of that loop
    then, and every other iteration leaves it by a guard. So a program that drops no cursor in the middle of
    its rows must cause none: a cursor gives its sentinel back when its rows end, and the next one takes it.

    Attributes:
        statement, owner: whose rows they are (Statement), and the weak reference to the ResultSet that the statement
            has meanwhile; None while no cursor holds it.
    """

    def __init__(self, cache, statement=None, owner=None):
        self.cache = ref(cache)
        self.statement = statement
        self.owner = owner

    def give_back(self, result):
        """The rows of the ResultSet, which holds it, have ended."""
        result.sentinel = None
        cache = self.cache()
        if cache is not None:
            cache.unwatch(self)

    def __del__(self):
        statement = self.statement
        if statement is not None and statement.owner is self.owner:
            statement.owner = nobody
        cache = self.cache()
        if cache is not None:
            cache.cursor_dropped(statement)
        else:
            for key, reference in list(watching.items()):
                if reference() is None:
                    watching.pop(key, None)


class Canary:
    """Garbage as soon as it is made. It has a finalizer, so minor collections keep it, and the first one that ends the
    marking of a major one kills weak references to it, with those to all that finalizers lead to."""

    def __del__(self):
        pass


class Era:
    """The time in which weak references have died in minor collections alone.

    Attributes:
        number: how many eras there have been (int); a statement has that in which its owner was last seen.
        canaries: weak references to two: one that a collection finds while it is made survives the next marking.
    """

    number = 0
    canaries: list = []

    @classmethod
    def lasts(cls):
        """Whether no marking has ended since it began."""
        return bool(cls.canaries) and all(canary() is not None for canary in cls.canaries)

    @classmethod
    def go_on(cls, statements=()):
        """Begin a new one, unless it lasts: these statements (list) have owners in it that aren't garbage yet."""
        if cls.lasts() or REFERENCE_COUNTS:
            return
        cls.canaries = [ref(Canary()), ref(Canary())]
        cls.number += 1
        for statement in statements:
            owner = statement.owner
            if owner is not None and owner() is not None:
                statement.era = cls.number


def find_gone(statements):
    """Find garbage that minor collections have freed: those of some statements (list) whose cursors went in this era
    are `abandoned` then. What went in other ways has a finalizer, which follows."""
    Era.go_on(statements)
    gone = []
    for statement in statements:
        owner = statement.owner
        if owner is not None and statement.era == Era.number and owner() is None:
            gone.append((statement, owner))
    if Era.lasts():
        for statement, owner in gone:
            if statement.owner is owner:
                statement.owner = nobody


def find_young(statements):
    """`find_gone` after a minor collection."""
    Era.go_on(statements)
    collect_step()
    find_gone(statements)
