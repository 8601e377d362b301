"""create_window_function for PyPy's sqlite3, which has none: what the baseline of `window` needs.

PyPy's module reaches SQLite through cffi; this registers callbacks through the same cffi library in
the way in which its create_aggregate does.
"""

import importlib
import itertools
import typing


def create_window_function(connection, name, arguments, window_class):
    """Register a window function, as sqlite3.Connection.create_window_function does.

    Args:
        connection: a connection of PyPy's sqlite3.
        name: the function's name (str).
        arguments: how many arguments it takes.
        window_class: a class with the methods step, inverse, value and finalize.

    Raises:
        RuntimeError: SQLite refuses.
    """
    from cffi import FFI

    _sqlite3: typing.Any = importlib.import_module('_sqlite3')   # PyPy's: others lack these names
    ffi, lib = _sqlite3._ffi, _sqlite3._lib
    instances: dict = {}
    numbers = itertools.count(1)

    def instance(context):
        """Return (number, instance) of an aggregation."""
        memory = ffi.cast('size_t *', lib.sqlite3_aggregate_context(context, ffi.sizeof('size_t')))
        if not memory[0]:
            memory[0] = next(numbers)
            instances[memory[0]] = window_class()
        return memory[0], instances[memory[0]]

    @ffi.callback('void(sqlite3_context*, int, sqlite3_value**)')
    def step(context, count, values):
        instance(context)[1].step(*_sqlite3._convert_params(context, count, values))

    @ffi.callback('void(sqlite3_context*, int, sqlite3_value**)')
    def inverse(context, count, values):
        instance(context)[1].inverse(*_sqlite3._convert_params(context, count, values))

    @ffi.callback('void(sqlite3_context*)')
    def value(context):
        _sqlite3._convert_result(context, instance(context)[1].value())

    @ffi.callback('void(sqlite3_context*)')
    def finalize(context):
        number, found = instance(context)
        _sqlite3._convert_result(context, found.finalize())
        del instances[number]

    own = FFI()
    own.cdef('int sqlite3_create_window_function(void *, const char *, int, int, void *, void *, '
             'void *, void *, void *, void *);')

    def address(pointer):
        return own.cast('void *', int(ffi.cast('size_t', pointer)))

    library = own.dlopen('libsqlite3.so.0')     # the one that the module has loaded
    code = library.sqlite3_create_window_function(
        address(connection._db), name.encode(), arguments, lib.SQLITE_UTF8, own.NULL, address(step),
        address(finalize), address(value), address(inverse), own.NULL)
    if code != lib.SQLITE_OK:
        raise RuntimeError('sqlite3_create_window_function: error %d' % code)
    kept_alive.append((step, inverse, value, finalize))


kept_alive: list = []    # callbacks that SQLite may call until the process ends
