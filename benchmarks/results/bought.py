"""What each mechanism buys: `python -m benchmarks bought FILE...` makes a table of results that suites have written
with `--json`, with engines that lack one mechanism each (ablations.py).

A number is the time without the mechanism over the time with it, so above 1 it buys something: the geometric mean of a
suite's queries with its interval, and the two queries that need it most. A mechanism earns its place by 3 % of a
suite's mean or by 10 % of two queries.
"""

import json
import random

from benchmarks.results import estimate

WHOLE = {'vm': 'vm-no-', 'sqpyte-pypy': 'sqpyte-pypy-no-'}      # an engine, and those that lack something
RESAMPLES = 500
MEAN, QUERY, QUERIES = 1.03, 1.10, 2


class Bought:
    """What one mechanism buys in one suite.

    Attributes:
        suite, mechanism: their names (str).
        mean, low, high: the geometric mean of the queries' ratios, and its interval (float).
        queries: ratio (float) by query.
    """

    def __init__(self, suite, mechanism, rounds):
        """Take by query the ratios of runs that took turns: a list for each round (dict of lists of lists)."""
        self.suite = suite
        self.mechanism = mechanism
        self.queries = {query: estimate.typical(found) for query, found in rounds.items()}
        self.mean = estimate.geometric_mean(list(self.queries.values()))
        generator = random.Random(estimate.SEED)
        means = [estimate.geometric_mean([estimate.typical(estimate.resampled(found, generator))
                                          for found in rounds.values()])
                 for _ in range(RESAMPLES)]
        self.low, self.high = estimate.bounds(means, self.mean)

    def earns(self):
        """Whether it earns its place here (bool)."""
        return self.mean >= MEAN or sum(ratio >= QUERY for ratio in self.queries.values()) >= QUERIES

    def most(self):
        """The two queries that need it most (list of (ratio, query))."""
        return sorted(((ratio, query) for query, ratio in self.queries.items()), reverse=True)[:QUERIES]


def read(path):
    """Return what a file of results says (list of Bought), in the order of its engines."""
    with open(path, encoding='utf-8') as file:
        rows = json.load(file)['results']
    samples: dict = {}
    for row in rows:
        samples.setdefault(row['engine'], {})[row['query']] = row['samples_s']
    found = []
    for engine, queries in samples.items():
        for whole, prefix in WHOLE.items():
            if engine.startswith(prefix) and whole in samples:
                rounds = {query: estimate.pairs(times, samples[whole][query]) for query, times in queries.items()}
                found.append(Bought(rows[0]['suite'], engine[len(prefix):], rounds))
    return found


def table(found):
    """Return a table in Markdown (str) of a list of Bought."""
    lines = ['| without | suite | mean (95 % interval) | most for | |', '|---|---|---|---|---|']
    for one in sorted(found, key=lambda one: (one.suite, -one.mean)):
        most = ', '.join('%s %.2f' % (query, ratio) for ratio, query in one.most())
        lines.append('| %s | %s | %.3f (%.3f to %.3f) | %s | %s |' % (
            one.mechanism, one.suite, one.mean, one.low, one.high, most, 'earns its place' if one.earns() else ''))
    return '\n'.join(lines)
