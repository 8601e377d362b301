"""Public functions say how they are called, as help() and editors show it."""
import inspect
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
        if isinstance(one, type):
            for inner, method in vars(one).items():
                if not inner.startswith('_') and isinstance(method, types.FunctionType):
                    yield '%s.%s' % (name, inner), method
        elif not name.startswith('_') and isinstance(one, types.FunctionType):
            yield name, one


def test_no_public_function_takes_whatever_it_is_given():
    assert len(list(public())) > 15
    found = [name for name, function in public()
             for parameter in inspect.signature(function).parameters.values()
             if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)]
    assert not found


def test_a_factory_gets_what_is_given_and_nothing_else():
    seen = []

    class Made(sqpyte.Connection):
        def __init__(self, *args, **keywords):
            seen.append((args, sorted(keywords)))
            super().__init__(*args, **keywords)
    sqpyte.connect(':memory:', factory=Made, timeout=1).close()
    assert seen == [((':memory:',), ['factory', 'timeout'])]
