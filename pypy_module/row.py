"""Rows that know their columns' names: a row factory."""

import collections.abc
from typing import Optional

from pypy_module.cursor import Cursor

LOWER = {code: code + 32 for code in range(ord('A'), ord('Z') + 1)}


class Row:
    """A row, indexed by position or by column name; ASCII upper and lower case are the same."""

    __slots__ = ('_data', '_description')
    _data: tuple
    _description: Optional[tuple]

    def __new__(cls, cursor, data, /):
        """Make a row of a Cursor's description and a tuple."""
        if not issubclass(type(cursor), Cursor):
            raise TypeError('Row() argument 1 must be sqlite3.Cursor, not '
                            + type(cursor).__name__)
        if not isinstance(data, tuple):
            raise TypeError('Row() argument 2 must be tuple, not ' + type(data).__name__)
        row = object.__new__(cls)
        row._data = data
        row._description = cursor.description
        return row

    def keys(self):
        """Return the names of the columns (list of str)."""
        return [column[0] for column in self._description or ()]

    def __getitem__(self, index):
        if isinstance(index, str):
            return self._data[self._find(index)]
        if isinstance(index, (int, slice)):
            return self._data[index]
        raise IndexError('Index must be int or string')

    def _find(self, name):
        """Return the position of the first column of this name; raises IndexError."""
        description = self._description or ()
        for i in range(len(description)):
            if description[i][0] == name:
                # An earlier column whose name differs in case only comes first.
                break
        else:
            i = len(description)
        folded = name.translate(LOWER)
        for j in range(i):
            if description[j][0].translate(LOWER) == folded:
                return j
        if i == len(description):
            raise IndexError('No item with that key')
        return i

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return iter(self._data)

    def __hash__(self):
        return hash(self._description) ^ hash(self._data)

    def __eq__(self, other):
        if isinstance(other, Row):
            return self._description == other._description and self._data == other._data
        return NotImplemented


collections.abc.Sequence.register(Row)
