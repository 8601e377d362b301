"""Public functions say how they are called, as help() and editors show it."""
import inspect
import re
import sqlite3
import sys
import types

import pytest

import sqpyte

ARGUMENTS = ("(database, timeout=5.0, detect_types=0, isolation_level='', check_same_thread=True, "
             "factory=%r, cached_statements=128, uri=False, *, autocommit=-1)")


@pytest.mark.parametrize('function, signature', [
    (sqpyte.connect, ARGUMENTS % sqpyte.Connection),
    (sqpyte.Connection, ARGUMENTS % None),
    (sqpyte.Connection.create_function, '(self, name, narg, func, *, deterministic=False)'),
    (sqpyte.Connection.create_aggregate, '(self, name, n_arg, aggregate_class)'),
    (sqpyte.Connection.set_authorizer, '(self, authorizer_callback)'),
    (sqpyte.Connection.set_progress_handler, '(self, progress_handler, n)'),
    (sqpyte.Connection.set_trace_callback, '(self, trace_callback)'),
], ids=lambda value: getattr(value, '__qualname__', ''))
def test_signature(function, signature):
    assert str(inspect.signature(function)) == signature


def public():
    """All public functions and methods, as (name, function)."""
    for name in sorted(set(dir(sqpyte))):
        one = getattr(sqpyte, name)
        if one in (sqpyte.Connection, sqpyte.Cursor, sqpyte.Blob, sqpyte.Row):
            for inner in dir(one):
                if not inner.startswith('_') and isinstance(getattr(one, inner), types.FunctionType):
                    yield '%s.%s' % (name, inner), getattr(one, inner)
        elif not name.startswith('_') and isinstance(one, types.FunctionType):
            yield name, one


def test_no_public_function_takes_whatever_it_is_given():
    assert len(list(public())) > 40
    found = [name for name, function in public()
             for parameter in inspect.signature(function).parameters.values()
             if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)]
    assert not found


SIGNATURES = {
    'adapt': "(obj, proto=<class 'sqpyte.PrepareProtocol'>, alt=..., /)",
    'complete_statement': '(statement)',
    'enable_callback_tracebacks': '(enable, /)',
    'register_adapter': '(type, adapter, /)',
    'register_converter': '(typename, converter, /)',
    'Connection.__enter__': '(self)',
    'Connection.__exit__': '(self, type, value, traceback, /)',
    'Connection.backup': "(self, target, *, pages=-1, progress=None, name='main', sleep=0.25)",
    'Connection.blobopen': "(self, table, column, row, /, *, readonly=False, name='main')",
    'Connection.close': '(self)',
    'Connection.commit': '(self)',
    'Connection.create_collation': '(self, name, callback, /)',
    'Connection.create_window_function': '(self, name, num_params, aggregate_class, /)',
    'Connection.cursor': "(self, factory=<class 'sqpyte.Cursor'>)",
    'Connection.deserialize': "(self, data, /, *, name='main')",
    'Connection.enable_load_extension': '(self, enable, /)',
    'Connection.execute': '(self, sql, parameters=(), /)',
    'Connection.executemany': '(self, sql, parameters, /)',
    'Connection.executescript': '(self, sql_script, /)',
    'Connection.getconfig': '(self, op, /)',
    'Connection.getlimit': '(self, category, /)',
    'Connection.interrupt': '(self)',
    'Connection.iterdump': '(self, *, filter=None)',
    'Connection.load_extension': '(self, name, /, *, entrypoint=None)',
    'Connection.rollback': '(self)',
    'Connection.serialize': "(self, *, name='main')",
    'Connection.setconfig': '(self, op, enable=True, /)',
    'Connection.setlimit': '(self, category, limit, /)',
    'Cursor': '(connection, /)',
    'Cursor.close': '(self)',
    'Cursor.execute': '(self, sql, parameters=(), /)',
    'Cursor.executemany': '(self, sql, seq_of_parameters, /)',
    'Cursor.executescript': '(self, sql_script, /)',
    'Cursor.fetchall': '(self)',
    'Cursor.fetchmany': '(self, size=1)',
    'Cursor.fetchone': '(self)',
    'Cursor.setinputsizes': '(self, sizes, /)',
    'Cursor.setoutputsize': '(self, size, column=None, /)',
    'Blob.__enter__': '(self)',
    'Blob.__exit__': '(self, type, val, tb, /)',
    'Blob.close': '(self)',
    'Blob.read': '(self, length=-1, /)',
    'Blob.seek': '(self, offset, origin=0, /)',
    'Blob.tell': '(self)',
    'Blob.write': '(self, data, /)',
    'Row': '(cursor, data, /)',
    'Row.keys': '(self)',
}


def named(module, name):
    """What a module has under a name with dots."""
    for part in name.split('.'):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize('name', SIGNATURES)
def test_other_signatures(name):
    shown = str(inspect.signature(named(sqpyte, name)))
    assert re.sub('<object object at .*?>', '...', shown) == SIGNATURES[name]
    if sys.version_info >= (3, 13):
        try:
            theirs = str(inspect.signature(named(sqlite3, name)))
        except (AttributeError, ValueError):
            return      # not built in, or sqlite3 can't tell
        assert shown == theirs.replace('(self, /', '(self')


def test_every_signature_is_listed():
    listed = {name for name, _ in public()} - {
        'connect', 'DateFromTicks', 'TimeFromTicks', 'TimestampFromTicks', 'explain', 'configure', 'install', 'status',
        'enable_shared_cache',
        'Connection.create_function', 'Connection.create_aggregate', 'Connection.set_authorizer',
        'Connection.set_progress_handler', 'Connection.set_trace_callback'}
    assert listed <= set(SIGNATURES)


def test_a_factory_gets_what_is_given_and_nothing_else():
    seen = []

    class Made(sqpyte.Connection):
        def __init__(self, *args, **keywords):
            seen.append((args, sorted(keywords)))
            super().__init__(*args, **keywords)
    sqpyte.connect(':memory:', factory=Made, timeout=1).close()
    assert seen == [((':memory:',), ['factory', 'timeout'])]
