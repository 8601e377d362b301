"""Two engines side by side: each one's ratio to the baseline, and the time of one over that of the other."""

from rich.table import Table

from benchmarks.results import estimate


def times(results, first, second):
    """Return by query the time of one engine over that of another (dict of str to (ratio, low, high)).

    Args:
        results: the result objects (measure.results).
        first, second: the engines' names.
    """
    samples: dict = {}
    for row in results:
        samples.setdefault(row['query'], {})[row['engine']] = row['samples_s']
    return {query: (estimate.ratio(found[first], found[second]),) + estimate.interval(found[first], found[second])
            for query, found in samples.items()}


def show(console, results, first, second):
    """Print the table, the geometric mean, and the queries that `first` is ahead in; arguments as of `times`."""
    ratios = {(row['query'], row['engine']): row['ratio'] for row in results}
    found = times(results, first, second)
    table = Table('query', '%s over baseline' % first, '%s over baseline' % second,
                  'time of %s / time of %s' % (first, second), title='%s beside %s' % (first, second))
    for query, (ratio, low, high) in found.items():
        table.add_row(query, *['%.2f' % ratios[query, engine] for engine in (first, second)],
                      '%.2f (%.2f to %.2f)' % (ratio, low, high))
    console.print(table)
    if found:
        ahead = [query for query, (ratio, _, _) in found.items() if ratio < 1]
        console.print('Geometric mean of the time of %s over that of %s: %.2f. %s is ahead in %d of %d queries%s' % (
            first, second, estimate.geometric_mean([ratio for ratio, _, _ in found.values()]), first, len(ahead),
            len(found), ': %s.' % ', '.join(ahead) if ahead else '.'), highlight=False)
