"""Adapters (Python values into SQLite's types) and converters (declared types into Python's).

Both registries belong to the process, as in sqlite3.
"""

import datetime

from pypy_module.dbapi.arguments import checked_text
from pypy_module.dbapi.deprecation import warn
from pypy_module.dbapi.versions import USES_WARNED_OF
from pypy_module.dbapi.errors import ProgrammingError


class PrepareProtocol:
    """What an object's `__conform__` method is asked for."""


adapters: dict = {}
converters: dict = {}


class Registry:
    """Whether values of SQLite's own types have no adapters, so that they are bound as they are."""

    plain = True


registry = Registry()
# Without an adapter a value of exactly one of these types is bound directly.
NATIVE = (int, float, str, bytes, bytearray, bool, type(None))


def register_adapter(type, adapter, /):
    """Have values of exactly `type` bound as `adapter(value)`.

    Args:
        type: a class.
        adapter: callable of one argument that returns a value SQLite can store.
    """
    if type in NATIVE:
        registry.plain = False
    adapters[type, PrepareProtocol] = adapter


def register_converter(typename, converter, /):
    """Have `converter(bytes)` make the Python values of columns declared as `typename`.

    Args:
        typename: name of the SQL type (str); upper and lower case are the same.
        converter: callable of one argument (bytes).
    """
    converters[checked_text(typename, 'register_converter() argument 1').upper()] = converter


_NONE = object()


def adapt(obj, proto=PrepareProtocol, alt=_NONE, /):
    """Return `obj` in a form that SQLite can store.

    Args:
        obj: the value.
        proto: the protocol to adapt to; sqlite3's own unless given.
        alt: returned when nothing adapts `obj`, if given.
    Raises:
        ProgrammingError: nothing adapts `obj`, and there is no `alt`.
    """
    adapter = adapters.get((type(obj), proto))
    if adapter is not None:
        return adapter(obj)
    for holder, name, argument in ((proto, '__adapt__', obj), (obj, '__conform__', proto)):
        method = getattr(holder, name, None)
        if method is None:
            continue
        try:
            adapted = method(argument)
        except TypeError:
            continue
        if adapted is not None:
            return adapted
    if alt is not _NONE:
        return alt
    raise ProgrammingError("can't adapt")


def needs_adapter(value):
    """Whether binding `value` has to ask the adapters first; cheap for SQLite's own types."""
    kind = type(value)
    if kind in (int, float, str, bytearray):
        return not registry.plain
    return True


Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = memoryview


def DateFromTicks(ticks):
    """Return the local date (datetime.date) at `ticks` seconds since the epoch."""
    return Date.fromtimestamp(ticks)


def TimeFromTicks(ticks):
    """Return the local time (datetime.time, whole seconds) at `ticks` seconds since the epoch."""
    return TimestampFromTicks(ticks).time()


def TimestampFromTicks(ticks):
    """Return the local datetime (whole seconds) at `ticks` seconds since the epoch."""
    return Timestamp.fromtimestamp(int(ticks // 1))


def _deprecated(what):
    if USES_WARNED_OF:
        warn('The default %s is deprecated as of Python 3.12; see the sqlite3 documentation for '
             'suggested replacement recipes' % what)


def _adapt_date(value):
    _deprecated('date adapter')
    return value.isoformat()


def _adapt_datetime(value):
    _deprecated('datetime adapter')
    return value.isoformat(' ')


def _convert_date(value):
    _deprecated('date converter')
    return datetime.date(*map(int, value.split(b'-')))


def _convert_timestamp(value):
    _deprecated('timestamp converter')
    date, time = value.split(b' ')
    year, month, day = map(int, date.split(b'-'))
    whole, *fractions = time.split(b'.')
    hour, minute, second = map(int, whole.split(b':'))
    microsecond = int(fractions[0].decode()[:6].ljust(6, '0')) if len(fractions) == 1 else 0
    return datetime.datetime(year, month, day, hour, minute, second, microsecond)


register_adapter(datetime.date, _adapt_date)
register_adapter(datetime.datetime, _adapt_datetime)
register_converter('date', _convert_date)
register_converter('timestamp', _convert_timestamp)
