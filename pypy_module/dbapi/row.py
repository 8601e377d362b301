"""Rows that know their columns' names: a row factory."""

from _collections_abc import Sequence

from pypy_module.dbapi import errors
from pypy_module.dbapi.columns import NONE, Columns
from pypy_module.dbapi.cursor import Cursor, columns_of
from pypy_module.dbapi.mixin import TYPE_CHECKING


class Row:
    """A row, indexed by position or by column name; ASCII upper and lower case are the same."""

    __slots__ = ('_data_', '_columns_')
    if TYPE_CHECKING:
        _data_: tuple
        _columns_: Columns

    def __new__(cls, cursor, data, /):
        """Make a row of a Cursor's columns and a tuple."""
        if not issubclass(type(cursor), Cursor):
            raise TypeError('Row() argument 1 must be sqlite3.Cursor, not ' + errors.kind(cursor))
        if not isinstance(data, tuple):
            raise TypeError('Row() argument 2 must be tuple, not ' + errors.kind(data))
        row = object.__new__(cls)
        if cls is Row:
            row._data_ = data
            row._columns_ = columns_of(cursor) or NONE
        else:       # which may have a `__setattr__` of its own
            object.__setattr__(row, '_data_', data)
            object.__setattr__(row, '_columns_', columns_of(cursor) or NONE)
        return row

    __reduce_ex__ = errors.not_copied('Row')

    def keys(self):
        """Return the names of the columns (list of str)."""
        return self._columns_.names()

    def __getitem__(self, index):
        if isinstance(index, str):
            return self._data_[self._columns_.position(index)]
        if isinstance(index, (int, slice)):
            return self._data_[index]
        raise IndexError('Index must be int or string')

    def __len__(self):
        return len(self._data_)

    def __iter__(self):
        return iter(self._data_)

    def __hash__(self):
        return hash(self._columns_.description) ^ hash(self._data_)

    def __eq__(self, other):
        if isinstance(other, Row):
            return (self._columns_.description == other._columns_.description
                    and self._data_ == other._data_)
        return NotImplemented


Sequence.register(Row)
