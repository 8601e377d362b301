"""The differences from stock that are meant, each with its reason. This list may only shrink.

An entry that no longer occurs in a run of its file in its configuration fails the run until it is
removed. What belongs here: counters, sizes and times that say how a result was come by. What doesn't:
results.
"""

import collections
import re

# `case` is a regular expression of the whole name; `configurations` are names, separated by blanks. `steady`:
# it has to occur; not so where a busy machine alone decides.
Meant = collections.namedtuple('Meant', 'file case configurations reason steady', defaults=(True,))

_ALL = 'c always always-eager hot hot-1'
_AND_EFFECTS = _ALL + ' effects'
_AND_CHECKED = _AND_EFFECTS + ' sanitized'

_MISUSE = 'SQLite\'s tests read a connection after it is closed here; OMIT_MISUSE leaves that out (running.MISUSES)'

MEANT = [
    Meant('test/savepoint4.test', r'savepoint4-2\.\d+\.1\.\d+(\.integrity)?', _AND_CHECKED,
          'how many crashes there are follows random(): mapped pages aren\'t in the page cache, so it spills less, '
          'and each journal header takes a number of the generator. Stock has these cases with PRAGMA mmap_size'),
    Meant('ext/session/sessionmem.test', r'sessionmem-1\.2\.[2-9]\.\(mu=\d+\)', 'sanitized',
          'the names of cases have sizes of allocations in them, which an address sanitizer doesn\'t round up'),
    Meant('test/capi3c.test', r'capi3c-(.*-misuse|6\.4)', 'sanitized', _MISUSE),
    Meant('test/misc7.test', r'misc7-.*-misuse.*', 'sanitized', _MISUSE),
    Meant('test/selectG.test', r'selectG-100', 'hot-1',
          'an INSERT of 100 000 VALUES is to take less than 10 s: with a threshold of 1 its loop is asked about at '
          'each back-edge, which takes 7 s, and more on a busy machine', steady=False),
    Meant('test/select9.test', r'select9-3\.3', 'always always-eager',
          'sqlite_sort_count, which SQLite keeps for its tests alone: the VM has Sort and doesn\'t keep it'),
    Meant('test/trace3.test', r'trace3-4\.3', _ALL + ' sanitized',
          'the profile of a query is to be less than 10 ms of the wall clock', steady=False),
]


def find(file, case, configuration, entries=None):
    """Return the entry for a difference, or None.

    Args:
        file, case, configuration: where the difference is.
        entries: to look in; None: MEANT.
    """
    for one in MEANT if entries is None else entries:
        if one.file == file and configuration in one.configurations.split() and re.fullmatch(one.case, case):
            return one
    return None


def expected(file, configuration, entries=None):
    """Return the entries that a run of `file` in `configuration` must meet."""
    return [one for one in (MEANT if entries is None else entries)
            if one.steady and one.file == file and configuration in one.configurations.split()]
