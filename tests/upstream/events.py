"""Reads what a test program reported of its cases.

The edited tester.tcl writes a line to standard error when a case begins and when it ends
(tests/upstream/tree/edits.py). Between them stands whatever the program itself writes there.
"""

import hashlib
import re

LINE = re.compile(rb'^\x1e(begin|ok|wrong|error)\t([^\t\n]*)\t([^\n]*)$', re.MULTILINE)
ESCAPE = re.compile(r'\\(.)')
MEANING = {'t': '\t', 'n': '\n', 'r': '\r', '\\': '\\'}
KEPT = 2000  # characters of a wrong result that are kept

OK = 'ok'
BEGUN = 'begun, not ended'


def plain(text):
    """Return a field of a report, bytes, as it was (str)."""
    return ESCAPE.sub(lambda match: MEANING.get(match.group(1), match.group(1)),
                      text.decode('utf-8', 'replace'))


def shorten(text):
    """Return `text`, or its beginning with a hash of the whole."""
    if len(text) <= KEPT:
        return text
    return '%s... (%d characters, sha256 %s)' % (
        text[:KEPT], len(text), hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16])


def outcomes(log, places=()):
    """Return what became of each case, in order.

    Args:
        log: what was written to standard error (bytes).
        places: (path, name) pairs: paths that differ from run to run, and what to call them.

    Returns:
        A dict from the case's name, with '#2' when it comes for the second time, to OK, BEGUN, or to
        'got ' and the result, or 'error ' and the message.
    """
    found = {}
    times = {}
    current = None
    for kind, name, text in LINE.findall(log):
        if kind == b'begin':
            current = plain(name)
            times[current] = times.get(current, 0) + 1
            if times[current] > 1:
                current = '%s#%d' % (current, times[current])
            found[current] = BEGUN
        elif current is not None:
            if kind == b'ok':
                found[current] = OK
            else:
                result = plain(text)
                for path, called in places:
                    result = result.replace(path, called)
                found[current] = ('error ' if kind == b'error' else 'got ') + shorten(result)
    return found


def rest(log):
    """Return what else was written to standard error (str), without the reports."""
    return LINE.sub(b'', log).decode('utf-8', 'replace')
