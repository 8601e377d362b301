"""Parses a script into records, each with the number of its line.

Records are separated by blank lines; lines that begin with # are comments. Conditions
(`skipif ENGINE`, `onlyif ENGINE`) stand in the lines before the record that they are about.
"""

import collections
import re

ENGINE = 'sqlite'   # what we are to skipif and onlyif
SORTS = ('nosort', 'rowsort', 'valuesort')

# `line` is that of the record's first word, `conditions` a list of ('skipif' or 'onlyif', engine).
# Statement.ok: whether it must succeed. Query.types: a letter of T, I, R for each column;
# Query.label: None, or queries with the same label must give the same values; Query.expected: the
# lines after ----, or None if there is no ----: the query must run, its values don't matter.
Statement = collections.namedtuple('Statement', 'line conditions ok sql')
Query = collections.namedtuple('Query', 'line conditions types sort label sql expected')
Halt = collections.namedtuple('Halt', 'line conditions')
HashThreshold = collections.namedtuple('HashThreshold', 'line conditions values')


class FormatError(Exception):
    """A line of a script that isn't in the format; the message says which."""


def applies(record):
    """Return whether the conditions of a record leave it to SQLite."""
    return all((engine == ENGINE) == (word == 'onlyif') for word, engine in record.conditions)


def paragraphs(lines):
    """Yield (number of the first line, its lines) for the groups of lines between blank ones.

    Trailing whitespace is dropped, and so are comments outside of a record's own lines.
    """
    group, start = [], 0
    for number, line in enumerate(lines, 1):
        line = line.rstrip()
        if not line:
            if group:
                yield start, group
            group = []
        elif group or not line.startswith('#'):
            if not group:
                start = number
            group.append(line)
    if group:
        yield start, group


def words_of(line):
    """Return the words of a record's line, without what follows a # of its own."""
    words = line.split()
    return words[:words.index('#')] if '#' in words else words


def statement(line, conditions, words, body):
    """Return the Statement of a `statement ok|error` line and the lines below it."""
    if words not in (['statement', 'ok'], ['statement', 'error']):
        raise FormatError('line %d: `statement` takes ok or error' % line)
    if not body:
        raise FormatError('line %d: a statement without SQL' % line)
    return Statement(line, conditions, words[1] == 'ok', '\n'.join(body))


def query(line, conditions, words, body):
    """Return the Query of a `query TYPES [SORT [LABEL]]` line and the lines below it."""
    types = words[1] if len(words) > 1 else ''
    sort = words[2] if len(words) > 2 else 'nosort'
    label = words[3] if len(words) > 3 else None
    if not re.match('^[TIR]+$', types):
        raise FormatError('line %d: `query` takes types of the letters T, I, R' % line)
    if sort not in SORTS or len(words) > 4:
        raise FormatError('line %d: after its types, `query` takes nosort, rowsort or valuesort and '
                          'a label' % line)
    expected = None
    if '----' in body:
        cut = body.index('----')
        body, expected = body[:cut], body[cut + 1:]
    if not body:
        raise FormatError('line %d: a query without SQL' % line)
    return Query(line, conditions, types, sort, label, '\n'.join(body), expected)


def parse(lines):
    """Yield the records of a script.

    Args:
        lines: the script's lines (iterable of str), with or without their ends.

    Raises:
        FormatError: a line isn't in the format.
    """
    conditions = []
    for start, group in paragraphs(lines):
        number = start
        while group:
            words = words_of(group[0])
            kind = words[0] if words else ''
            body = group[1:]
            if kind in ('skipif', 'onlyif'):
                if len(words) != 2:
                    raise FormatError('line %d: `%s` takes an engine' % (number, kind))
                conditions.append((kind, words[1]))
            elif group[0].startswith('#'):
                pass
            elif kind == 'statement':
                yield statement(number, conditions, words, body)
                body, conditions = [], []
            elif kind == 'query':
                yield query(number, conditions, words, body)
                body, conditions = [], []
            elif words == ['halt']:
                yield Halt(number, conditions)
                conditions = []
            elif kind == 'hash-threshold':
                if len(words) != 2 or not words[1].isdigit():
                    raise FormatError('line %d: `hash-threshold` takes a number' % number)
                yield HashThreshold(number, conditions, int(words[1]))
                conditions = []
            else:
                raise FormatError('line %d: no record begins with "%s"' % (number, kind))
            group, number = body, number + 1


def read(path):
    """Return the records (list) of the script at `path`. Raises FormatError, OSError."""
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        try:
            return list(parse(file))
        except FormatError as error:
            raise FormatError('%s, %s' % (path, error)) from None
