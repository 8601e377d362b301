"""Blobs opened as files: `Connection.blobopen`."""

import operator
import sys

from pypy_module.dbapi import errors, open_databases
from pypy_module.dbapi.arguments import c_int
from pypy_module.dbapi.mixin import Any, exclusive     # noqa: F401 - in type comments
from pypy_module.ffi.library import NULL, bytes_of, ffi, lib

LONGEST = 2 ** 31 - 1


class Handle:
    """What a blob is to C.

    Attributes:
        pointer: the `sqlite3_blob *`, NULL when it is closed.
        session: the Session, which looks for dropped blobs as for dropped cursors as long as it is open.
        readonly: whether it is for reading alone (bool).
    """

    def __init__(self, pointer, session, readonly):
        """Take what the attributes say."""
        self.pointer = pointer
        self.session = session
        self.readonly = readonly
        session.hold()

    def release(self):
        """Close the blob in C, if it is open."""
        pointer, self.pointer = self.pointer, NULL
        if pointer:
            self.session.hold_no_more()
            lib.sqlite3_blob_close(pointer)


class Blob:
    """An open blob; read, written and indexed like a file and like bytes of a fixed length."""

    __module__ = 'sqpyte'       # as repr() says

    # Not as annotations, which help() shows.
    _connection_ = None      # type: Any
    _session_ = None         # type: Any
    _handle = None          # type: Any
    _offset = 0

    def __new__(cls, *args, **keywords):
        raise TypeError("cannot create '%s.%s' instances" % (cls.__module__, cls.__name__))

    def __init_subclass__(cls, **keywords):
        raise TypeError("type 'sqlite3.Blob' is not an acceptable base type")

    __reduce_ex__ = errors.not_copied('Blob')

    def __del__(self):
        session, handle = self._session_, self._handle
        if handle is not None and handle.pointer and session.db and not session.left_by_fork():
            # A runner may be in the middle of a row: this runs at any time.
            if session.runners or open_databases.calling(but=session):
                session.dropped.append(handle)
            else:
                handle.release()
                session.reclaimed += 1

    def _check(self):
        self._check_connection()
        if not self._handle.pointer:
            raise errors.ProgrammingError('Cannot operate on a closed blob.')

    def _check_connection(self):
        self._connection_._session_.check_open()
        self._connection_._session_.check_thread()

    def _length(self):
        """Return how many bytes it has (int): 0 where its row has changed, which ends it."""
        return lib.sqlite3_blob_bytes(self._handle.pointer)

    def _read(self, size, offset):
        """Return `size` bytes from `offset` on; raises SQLite's error."""
        self._check()       # an index may have closed it
        buffer = ffi.new('char[]', max(size, 1))
        if lib.sqlite3_blob_read(self._handle.pointer, buffer, size, offset):
            raise errors.from_database(self._session_.db)
        return ffi.unpack(buffer, size)

    def _write(self, data, offset):
        """Write `data` (bytes) at `offset`; raises SQLite's error."""
        self._check()
        self._session_.before_c_call_that_may_write()
        if lib.sqlite3_blob_write(self._handle.pointer, data, len(data), offset):
            raise errors.from_database(self._session_.db)

    @exclusive
    def close(self):
        """Close the blob, which may end a transaction."""
        self._check_connection()
        self._end()

    @exclusive
    def __len__(self):
        self._check()
        return self._length()

    @exclusive
    def read(self, length=-1, /):
        """Return up to `length` bytes from the present offset on, all if it is negative."""
        length = c_int(length)
        self._check()
        left = max(self._length() - self._offset, 0)
        size = left if length < 0 or length > left else length
        if not size:
            return b''
        data = self._read(size, self._offset)
        self._offset += size
        return data

    @exclusive
    def write(self, data, /):
        """Write bytes at the present offset; raises ValueError beyond the blob's end."""
        self._check()
        data = bytes_of(data)
        if len(data) > self._length() - self._offset:
            raise ValueError('data longer than blob length')
        self._write(data, self._offset)
        self._offset += len(data)

    @exclusive
    def seek(self, offset, origin=0, /):
        """Move to `offset` from the start (origin 0), from here (1) or from the end (2)."""
        offset, origin = c_int(offset), c_int(origin)
        self._check()
        if origin not in (0, 1, 2):
            raise ValueError("'origin' should be os.SEEK_SET, os.SEEK_CUR, or os.SEEK_END")
        length = self._length()
        base = (0, self._offset, length)[origin]
        if offset > LONGEST - base:
            raise OverflowError('seek offset results in overflow')
        if not 0 <= base + offset <= length:
            raise ValueError('offset out of blob range')
        self._offset = base + offset

    def tell(self):
        """Return the present offset (int)."""
        self._check()
        return self._offset

    def __enter__(self):
        self._check()
        return self

    @exclusive
    def __exit__(self, type, val, tb, /):
        self._check()
        self._end()
        return False

    def _end(self):
        """Close the blob; what it has written is committed, if nothing else keeps its transaction open."""
        if not self._handle.readonly:
            self._session_.before_c_call_that_may_write()
        self._handle.release()

    def _position(self, index):
        """Return an index counted from the start; raises IndexError."""
        try:
            position = operator.index(index)
        except TypeError:
            raise TypeError('Blob indices must be integers') from None
        if not -sys.maxsize - 1 <= position <= sys.maxsize:
            raise IndexError("cannot fit '%s' into an index-sized integer"
                             % type(index).__name__)
        length = self._length()
        if position < 0:
            position += length
        if not 0 <= position < length:
            raise IndexError('Blob index out of range')
        return position

    @exclusive
    def __getitem__(self, index):
        self._check()
        if not isinstance(index, slice):
            return self._read(1, self._position(index))[0]
        places = range(*index.indices(self._length()))
        if places.step == 1:
            return self._read(len(places), places.start)
        if not places:
            return b''
        low = min(places[0], places[-1])
        high = max(places[0], places[-1]) + 1
        data = self._read(high - low, low)
        return bytes([data[place - low] for place in places])

    @exclusive
    def __setitem__(self, index, value):
        self._check()
        if not isinstance(index, slice):
            position = self._position(index)
            if not isinstance(value, int):
                raise TypeError("'%s' object cannot be interpreted as an integer"
                                % type(value).__name__)
            if not 0 <= value <= 255:
                raise ValueError('byte must be in range(0, 256)')
            self._write(bytes([value]), position)
            return
        places = range(*index.indices(self._length()))
        data = bytes_of(value)
        if not places:
            return
        if len(data) != len(places):
            raise IndexError('Blob slice assignment is wrong size')
        if places.step == 1:
            self._write(data, places.start)
            return
        low = min(places[0], places[-1])
        high = max(places[0], places[-1]) + 1
        whole = bytearray(self._read(high - low, low))
        for place, byte in zip(places, data):
            whole[place - low] = byte
        self._write(bytes(whole), low)

    __iter__ = None

    def __delitem__(self, index):
        self._check()
        if isinstance(index, slice):
            raise TypeError("Blob doesn't support slice deletion")
        raise TypeError("Blob doesn't support item deletion")


def blob_of(connection, session, handle):
    """Return the Blob of a Connection, which is open as long as the blob is there, its Session, and a Handle."""
    blob = object.__new__(Blob)
    blob._connection_ = connection
    blob._session_ = session
    blob._handle = handle
    blob._offset = 0
    return blob
