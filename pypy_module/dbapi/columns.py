"""The columns of a result: their names, and where a name is found."""

from pypy_module.dbapi.arguments import folded
from pypy_module.dbapi.mixin import Any


def same(name, other):
    """Whether two names (str) are one to a Row."""
    return name == other or name.isascii() and other.isascii() and folded(name) == folded(other)


class Columns:
    """The columns of a statement, shared by its cursors and their rows."""

    def __init__(self, names):
        """Take the columns' names (list of str)."""
        self._names = names
        self._description: Any = None
        self._positions: dict = {}

    @property
    def description(self):
        """Per column its name and six None, as the DB-API wants it (tuple of tuples)."""
        if self._description is None:
            self._description = tuple([(name, None, None, None, None, None, None)
                                       for name in self._names])
        return self._description

    def names(self):
        """Return the names (list of str)."""
        return list(self._names)

    def position(self, name):
        """Return where the first column of this name is (int).

        Args:
            name: str; if both are ASCII, upper and lower case are the same.
        Raises:
            IndexError: there is none.
        """
        position = self._positions.get(name)
        if position is None:
            position = next((number for number, other in enumerate(self._names) if same(name, other)), None)
            if position is None:
                raise IndexError('No item with that key')
            self._positions[name] = position
        return position


NONE = Columns([])
