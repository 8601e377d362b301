"""Deprecation warnings as sqlite3 gives them, shown for the line of the user's that caused them."""

import sys
import warnings

OURS = __name__.rpartition('.')[0] + '.'


# Uses that sqlite3 warns of since Python 3.12, and that are common: elsewhere a warning for each
# would cost more than the statement.
SINCE_312 = sys.version_info >= (3, 12)


def is_ours(name):
    """Whether `name` (str) is the name of one of this package's modules, or the public one."""
    return name.startswith(OURS) or name == 'sqpyte'


def warn(message):
    """Issue a DeprecationWarning for the innermost frame that isn't this package's.

    Args:
        message: the text (str).
    """
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and is_ours(frame.f_globals.get('__name__', '')):
        frame = frame.f_back
        level += 1
    warnings.warn(message, DeprecationWarning, stacklevel=level)


def warn_positional(what, names, allowed, given):
    """Warn if more than `allowed` of the `given` positional arguments are passed.

    Args:
        what: the callable's name with parentheses (str).
        names: names of the parameters that will be keyword-only, as the message lists them (str).
        allowed: how many positional arguments remain (int).
        given: how many there are (int).
    """
    if given > allowed:
        warn('Passing more than %d positional argument%s to %s is deprecated. Parameters %s will '
             'become keyword-only parameters in Python 3.15.'
             % (allowed, '' if allowed == 1 else 's', what, names))


def warn_keywords(what, names, keywords):
    """Warn if any of the `keywords` (a dict) is passed by name; `names` is the message's list."""
    if keywords:
        plural = 's' if ' and ' in names else ''
        warn('Passing keyword argument%s %s to %s is deprecated. Parameter%s %s will become '
             'positional-only in Python 3.15.' % (plural, names, what, plural, names))
