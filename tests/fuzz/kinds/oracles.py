"""Oracles that need no second engine: what one query says follows from what others say.

TLP, ternary logic partitioning: every row of a query satisfies a condition, or its negation, or the
condition is NULL; so three queries together give the rows of the one without it.
NoREC: as many rows pass a condition in WHERE, where indexes serve, as those of which it is true when it
is computed for each row.
PQS, pivoted query synthesis: a condition that is true of one row, alone in a table without indexes,
finds this row in the whole table.

Each oracle is a pair: the queries (a list of str) for a FROM clause and a condition, and what their rows
(lists of str, as tests/differential renders them) show to be wrong.
"""
from collections import Counter

PIVOT = "one"       # the table of the pivot's row


class Unfit(Exception):
    """A query of an oracle fails; where depends on how rows are found, so nothing follows."""


def _parts(condition):
    return ["(%s)" % condition, "NOT (%s)" % condition, "(%s) IS NULL" % condition]


def partitions(sources, columns, condition):
    """TLP's queries. Args: sources, a FROM clause's text; columns, those that are shown (list of str);
    condition, a condition's text."""
    shown = ", ".join("quote(%s)" % column for column in columns)
    key = "quote(%s)" % columns[0]
    queries = []
    for items, end in ((shown, ""), ("DISTINCT " + key, ""), (key + ", count(*)", " GROUP BY 1"),
                       ("count(*), max(%s), min(%s)" % (key, key), "")):
        start = "SELECT %s FROM %s" % (items, sources)
        queries += [start + end] + ["%s WHERE %s%s" % (start, part, end) for part in _parts(condition)]
    start = "SELECT %s FROM %s" % (shown, sources)
    return queries + [" UNION ALL ".join("%s WHERE %s" % (start, part) for part in _parts(condition))]


def partitions_differ(answers):
    """What TLP's answers show to be wrong (str), or None. Raises: Unfit."""
    _fit(answers)
    whole, first, second, third = answers[:4]
    if Counter(whole) != Counter(first + second + third):
        return "the parts' rows aren't those of the whole: %s" % _odd(whole, first + second + third)
    if set(answers[4]) != set(answers[5] + answers[6] + answers[7]):
        return "DISTINCT: the parts' rows aren't those of the whole"
    counts = Counter()
    for row in answers[9] + answers[10] + answers[11]:
        key, count = row[1:-1].rsplit(", ", 1)
        counts[key] += int(count)
    if counts != Counter(dict((key, int(count)) for key, count in (
            row[1:-1].rsplit(", ", 1) for row in answers[8]))):
        return "GROUP BY: the parts' counts aren't those of the whole"
    total = sum(int(rows[0][1:].split(",")[0]) for rows in answers[13:16])
    if total != int(answers[12][0][1:].split(",")[0]) or total != len(whole):
        return "count(*): the parts' counts aren't that of the whole"
    if Counter(answers[16]) != Counter(whole):
        return "UNION ALL of the parts isn't the whole: %s" % _odd(whole, answers[16])
    return None


def counts(sources, columns, condition):
    """NoREC's queries. Args: as `partitions`."""
    return ["SELECT count(*) FROM %s WHERE %s" % (sources, condition),
            "SELECT count(CASE WHEN (%s) THEN 1 END) FROM %s" % (condition, sources),
            "SELECT count(*) FROM (SELECT (%s) AS x FROM %s) WHERE x IS TRUE" % (condition, sources)]


def counts_differ(answers):
    """What NoREC's answers show to be wrong (str), or None. Raises: Unfit."""
    _fit(answers)
    found = [rows[0] for rows in answers]
    return None if len(set(found)) == 1 else "as many rows by WHERE, by CASE and by IS TRUE: %s" % found


def pivots(sources, columns, condition):
    """PQS's queries; `sources` and the same with PIVOT for each table. Args: as `partitions`; sources, a
    pair of FROM clauses."""
    shown = ", ".join("quote(%s)" % column for column in columns)
    whole, pivot = sources
    queries = ["SELECT %s FROM %s" % (shown, pivot)]
    for part in _parts(condition):
        queries.append("SELECT (%s) IS TRUE FROM %s" % (part, pivot))
        queries.append("SELECT %s FROM %s WHERE %s" % (shown, whole, part))
    return queries


def pivots_missing(answers):
    """What PQS's answers show to be wrong (str), or None. Raises: Unfit."""
    _fit(answers)
    if len(answers[0]) != 1:
        raise Unfit("there is no row")
    row = answers[0][0]
    for part in (0, 1, 2):
        if answers[1 + 2 * part] == ["(1)"] and row not in answers[2 + 2 * part]:
            return "part %d of the condition is true of %s, and doesn't find it" % (part, row)
    return None


def _fit(answers):
    for rows in answers:
        # A text that isn't UTF-8 is no parameter of the module's: only some of the queries have parameters.
        if any(row.startswith(("error", "OperationalError", "DataError", "UnicodeEncodeError")) for row in rows):
            raise Unfit(rows[-1])


def _odd(left, right):
    difference = Counter(left)
    difference.subtract(Counter(right))
    return [row for row in difference if difference[row]][:4]


ORACLES = {"tlp": (partitions, partitions_differ), "norec": (counts, counts_differ),
           "pqs": (pivots, pivots_missing)}
