"""Deprecation warnings as sqlite3 gives them; warnings are shown for the line of the user's that caused them."""

import sys
import warnings

from pypy_module.dbapi.versions import CALLS_WARNED_OF

OURS = __name__.partition('.')[0] + '.'      # pypy_module, and its folders


def is_ours(name):
    """Whether `name` (str) is the name of one of this package's modules, or a public one."""
    return name.startswith(OURS) or name in ('sqpyte', 'sqpyte.dbapi2')


def warn(message):
    """Issue a DeprecationWarning for the innermost frame that isn't this package's.

    Args:
        message: the text (str).
    """
    warnings.warn(message, DeprecationWarning, stacklevel=outside())


def outside():
    """Return the `stacklevel` (int), for the caller's warnings.warn, of the innermost frame that isn't this
    package's."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_globals.get('__name__', '')):
        frame = frame.f_back
        level += 1
    return level


def standing_in(stand_in, function):
    """Make one function look as another: its name, docstring and signature; return it."""
    # functools.wraps does the same, and takes a millisecond to load.
    for name in ('__module__', '__name__', '__qualname__', '__doc__'):
        setattr(stand_in, name, getattr(function, name))
    stand_in.__wrapped__ = function
    return stand_in


def one_positional(what, names, first=0, run=None):
    """Decorator: a call with more than one positional argument gives a warning.

    Args:
        what: the callable's name with parentheses, as the message has it (str).
        names: names of the parameters that will be keyword-only, as the message lists them (str).
        first: 1 if `self` comes before them (int).
        run: what is called in place of the function, which then only says how it is called.
    """
    message = ('Passing more than 1 positional argument to %s is deprecated. Parameters %s will become '
               'keyword-only parameters in Python 3.15.' % (what, names))

    def decorate(function):
        called = run or function

        def checked(*args, **keywords):
            if len(args) > first + 1 and CALLS_WARNED_OF:
                warn(message)
            return called(*args, **keywords)
        return standing_in(checked, function)
    return decorate


def by_position(*names):
    """Decorator for a method of Connection: passing one of these parameters by name gives a warning."""
    quoted = [repr(name) for name in names]
    listed = ' and '.join([', '.join(quoted[:-1])] * (len(names) > 1) + quoted[-1:])
    plural = 's' if len(names) > 1 else ''

    def decorate(function):
        message = ('Passing keyword argument%s %s to _sqlite3.Connection.%s() is deprecated. '
                   'Parameter%s %s will become positional-only in Python 3.15.'
                   % (plural, listed, function.__name__, plural, listed))
        if not CALLS_WARNED_OF:
            return function

        def checked(self, *args, **keywords):
            for name in names:
                if name in keywords:
                    warn(message)
                    break
            return function(self, *args, **keywords)
        return standing_in(checked, function)
    return decorate
