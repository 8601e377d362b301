"""`sqpyte.configure`: settings of the process, for programs that have no say in their environment.

What C reads is in C (c_engine/core/settings.c), whichever language has set it.
"""

import _thread
import sys

from pypy_module.dbapi import errors
from pypy_module.dbapi.statements import execution, result_set, tiers
from pypy_module.ffi.library import NUMBERS, ffi, lib, switched_off
from pypy_module.inline import policy

MODES = {'off': NUMBERS['SQPYTE_MODE_OFF'], 'hot': NUMBERS['SQPYTE_MODE_HOT'],
         'always': NUMBERS['SQPYTE_MODE_ALWAYS']}
KEEP, MISUSE = NUMBERS['SQPYTE_KEEP'], NUMBERS['SQLITE_MISUSE']
LIMIT = NUMBERS['SQPYTE_MEMORY_LIMIT']
MESSAGE = 4096          # bytes of a message, or of all names
FUSED_CALLS, STEADY_TRACES = 'fused-calls', 'steady-traces'
TRACE = 'pypy_module.inline.runtime.trace'

_lock = _thread.allocate_lock()


def without_names():
    """What is switched off (tuple of str)."""
    names = ffi.new('char[]', MESSAGE)
    lib.sqpyte_without(names, MESSAGE)
    return tuple(ffi.string(names).decode().split(',')) if names[0] != b'\0' else ()


def in_force():
    """The settings as they are (dict)."""
    modes = {number: name for name, number in MODES.items()}
    return {'vm': modes[lib.sqpyte_mode()], 'threshold': lib.sqpyte_threshold(),
            'memory': lib.sqpyte_memory(LIMIT) >> 20, 'inline': policy.setting(), 'without': without_names()}


def wrong(error, name, takes, value):
    """Return the exception (class `error`) for a value that a setting doesn't take."""
    return error('configure(): %s takes %s, not %r' % (name, takes, value))


def checked_number(name, value, least, takes):
    """Return an int that C is to check, KEEP for None; raises TypeError or ValueError."""
    if value is None:
        return KEEP
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(TypeError, name, takes, value)
    if not least <= value < 1 << 31:
        raise wrong(ValueError, name, takes, value)
    return value


def checked_choice(name, value, choices):
    """Raise TypeError or ValueError if a value (None: it isn't given) is none of `choices`."""
    if value is None or any(value is choice or type(value) is str and value == choice for choice in choices):
        return
    takes = ' or '.join([', '.join(repr(choice) for choice in choices[:-1]), repr(choices[-1])])
    raise wrong(ValueError if isinstance(value, (str, bool)) else TypeError, name, takes, value)


def checked_names(without):
    """Return the names of `without` as bytes, NULL for None; raises TypeError or ValueError."""
    if without is None:
        return ffi.NULL
    takes = 'names, in a str with commas between them or in an iterable'
    if isinstance(without, str):
        words = without.split(',')
    else:
        try:
            words = list(without)
        except TypeError:
            raise wrong(TypeError, 'without', takes, without) from None
        if not all([isinstance(word, str) for word in words]):
            raise wrong(TypeError, 'without', takes, without)
        for word in words:
            if ',' in word or not word.strip():
                raise wrong(ValueError, 'without', takes, without)
    words = [word.strip() for word in words if word.strip()]
    if any(['\0' in word for word in words]):
        raise wrong(ValueError, 'without', takes, without)
    if TRACE in sys.modules and (STEADY_TRACES in words) != switched_off(STEADY_TRACES):
        raise errors.ProgrammingError('configure(): without: it is too late for "%s": the inliner has read it when it '
                                      'was loaded; set it before the first loop, or in SQPYTE_WITHOUT' % STEADY_TRACES)
    return ','.join(words).encode('utf-8', 'backslashreplace')


def configure(*, vm=None, threshold=None, memory=None, inline=None, without=None):
    """Change settings of the process, all that are given or, if one is wrong, none.

    Args:
        vm: when statements enter the VM: 'off', 'hot' (hot loops do) or 'always'. From the next step on.
        threshold: rounds of a loop before it counts as hot (int); with the default, 3000, what is left of the loop
            matters, too. From the next step on.
        memory: what the VM's programs and machine code may take, in MiB (int).
        inline: whether queries become part of the program's loops: True, False or 'always', as soon as possible. For
            statements that are prepared afterwards; with False, no loop is taken over any more.
        without: what is switched off, all else being on: names (a wrong one's message lists them) in a str with commas
            between them, or an iterable of str. For what comes afterwards; what the VM reads only before it starts.
    Returns:
        the settings in force (dict, by these names).
    Raises:
        TypeError, ValueError: a value that the setting doesn't take; the message says which it takes.
        ProgrammingError: it is too late: the VM has started, or the inliner is loaded, and has read a name of
            `without` that has changed.
    """
    with _lock:
        checked_choice('vm', vm, tuple(MODES))
        checked_choice('inline', inline, (True, False, 'always'))
        rounds = checked_number('threshold', threshold, 1, 'a number of rounds, from 1 to 2147483647')
        size = checked_number('memory', memory, 0, 'MiB, from 0 to 1048576')
        names = checked_names(without)
        message = ffi.new('char[]', MESSAGE)
        rc = lib.sqpyte_configure(KEEP if vm is None else MODES[vm], rounds, size, names, message, MESSAGE)
        if rc:
            error = errors.ProgrammingError if rc == MISUSE else ValueError
            raise error('configure(): ' + ffi.string(message).decode('utf-8', 'replace'))
        if inline is not None:
            tiers.planner = policy.planner_for(inline)
        if without is not None:
            take_over()
        return in_force()


def take_over():
    """Have the DB-API do what it does without the mechanisms that are switched off."""
    fused = not switched_off(FUSED_CALLS)
    if fused != (execution.fused_execute is lib.sqpyte_execute):
        from pypy_module.dbapi.statements import unfused
        execution.fused_execute = lib.sqpyte_execute if fused else unfused.execute
        result_set.step = lib.sqpyte_step if fused else unfused.step
