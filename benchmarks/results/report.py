"""Shows configuration and results as tables (rich) and writes them as JSON."""

import json

from rich.markup import escape
from rich.table import Table

from benchmarks.results import estimate

SLOW = 0.95   # below this ratio an engine is marked as slower than its baseline


def seconds(value):
    """Return a time in a unit that leaves three digits before the comma at most."""
    return '%.3f s' % value if value >= 0.1 else '%.2f ms' % (value * 1000)


def marked(ratio, high, text):
    """Return `text` with a mark if `ratio` says slower, in colour where there is colour.

    Args:
        ratio: the engine's ratio to its baseline.
        high: the upper end of its interval: if that isn't slower, the mark has a question mark.
        text: what to mark.
    """
    if ratio < SLOW:
        return '[bold red]%s SLOWER%s[/]' % (text, '?' if high >= SLOW else '')
    return '[green]%s[/]' % text if ratio > 1 / SLOW else text


def flatten(value, path=''):
    """Yield (path, text) for every leaf of nested dicts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, '%s.%s' % (path, key) if path else key)
    elif isinstance(value, list):
        yield path, ' '.join(str(item) for item in value)
    else:
        yield path, str(value)


def show_configuration(console, configuration):
    """Print every entry of the configuration, those that all engines share only once."""
    def line(path, text):
        console.print('%-34s %s' % (path, text), markup=False, highlight=False, soft_wrap=True)

    engines = {name: dict(flatten(found)) for name, found in configuration['engines'].items()}
    shared = {}
    for path, text in (next(iter(engines.values())) if engines else {}).items():
        if all(found.get(path) == text for found in engines.values()):
            shared[path] = text
    console.print('[bold]Configuration[/]')
    for path, text in flatten(dict(configuration, engines={})):
        line(path, text)
    for path, text in shared.items():
        line('engines.' + path, text)
    for name, found in engines.items():
        for path, text in found.items():
            if path not in shared:
                line('engines.%s.%s' % (name, path), text)
    console.print()


def show_results(console, results, groups):
    """Print one row for each query and engine, and each engine's geometric means.

    Args:
        console: a rich console.
        results: the result objects.
        groups: dict of the name of a geometric mean to its queries; it is shown if all of them ran.
    """
    table = Table(title='Times and ratios to the baseline (above 1 is faster); means are geometric')
    for heading in ('query', 'engine', 'median', 'ratio (95 % interval)', 'first run',
                    'first ratio'):
        table.add_column(heading, no_wrap=True)
    ratios: dict = {}
    for row in results:
        if row['engine'] == row['baseline']:
            table.add_row(row['query'], row['engine'], seconds(row['median_s']), 'baseline',
                          seconds(row['first_run_s']), '')
            continue
        ratios.setdefault(row['engine'], {})[row['query']] = row['ratio']
        text = '%.2f (%.2f to %.2f)' % (row['ratio'], row['ratio_low'], row['ratio_high'])
        table.add_row(row['query'], row['engine'], seconds(row['median_s']),
                      marked(row['ratio'], row['ratio_high'], text), seconds(row['first_run_s']),
                      '%.2f' % row['first_ratio'])
    for title, queries in means(results, groups).items():
        for engine, found in ratios.items():
            mean = estimate.geometric_mean([found[query] for query in queries])
            table.add_row(title, engine, '', marked(mean, mean, '%.2f' % mean), '', '')
    console.print(table)


def means(results, groups):
    """Return the titles of geometric means and the queries of each (dict of str to tuple).

    Those of `groups` (see show_results) of which every query has results; without any, one of all
    queries, if there are two or more."""
    there = tuple(dict.fromkeys(row['query'] for row in results))
    found = {name: queries for name, queries in groups.items() if set(queries) <= set(there)}
    if not found and len(there) > 1:
        found = {'geometric mean': there}
    return found


def show_problems(console, problems):
    """Print what is wrong with the queries whose times are withheld."""
    for query, texts in problems.items():
        console.print('[bold red]%s: no times, for the answers differ or a process failed[/]'
                      % query)
        for text in texts[:5]:
            console.print('  ' + escape(text), highlight=False)
        if len(texts) > 5:
            console.print('  and %d more' % (len(texts) - 5))


def show(report, console, groups):
    """Print the results of a run and what was wrong; `groups` as in show_results."""
    if report.results:
        show_results(console, report.results, groups)
        console.print('The answers of all processes were compared and are the same, for %d of %d '
                      'queries.' % (len(report.answers),
                                    len(report.answers) + len(report.problems)))
    show_problems(console, report.problems)


def write_json(path, report, configuration):
    """Write `configuration`, `results` and `problems` to the file at `path`."""
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'configuration': configuration, 'results': report.results,
                   'problems': report.problems}, file, indent=1)
        file.write('\n')
