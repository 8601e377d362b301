"""The columns of a result: their names, and where a name is found."""

from pypy_module.dbapi.arguments import folded
from pypy_module.dbapi.mixin import Any


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
            name: str; ASCII upper and lower case are the same.
        Raises:
            IndexError: there is none.
        """
        position = self._positions.get(name)
        if position is None:
            names = [folded(other) for other in self.names()]
            if folded(name) not in names:
                raise IndexError('No item with that key')
            position = self._positions[name] = names.index(folded(name))
        return position


NONE = Columns([])
