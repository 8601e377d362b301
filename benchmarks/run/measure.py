"""Runs the engines in turns, checks their answers, and turns times into results."""

import functools
import random

from benchmarks.results import estimate
from benchmarks.run import answers, turns
from benchmarks.run.engines import EngineFailure

LONGEST_PADDING = 20000     # bytes


def layouts(seed, query, rounds):
    """Return by how many bytes the environments of a query's processes are to be longer, by round.

    Where a process has its memory depends on how long its environment is, and with that, which addresses
    share a cache line and which hashes of them collide: two processes of one layout say less about a
    program than two of different ones (T. Mytkowicz et al.: Producing wrong data without doing anything
    obviously wrong!, ASPLOS 2009).

    Args:
        seed: of the numbers (int), or None: all environments are as they are.
        query: the query's name.
        rounds: how many (int).
    """
    if seed is None:
        return [0] * rounds
    numbers = random.Random('%d %s' % (seed, query))
    return [numbers.randrange(LONGEST_PADDING) for _ in range(rounds)]


def collect(engines, query, scale, database, settings, rounds, progress=None):
    """Run one query in `rounds` processes of every engine, run by run in turns; every second round
    with the engines in reverse.

    Args:
        engines: dict of name to engine (see engines.py).
        query: the query's name.
        scale: the database's scale factor (float).
        database: path of the database.
        settings: engines.Settings.
        rounds: number of processes for each engine.
        progress: None, or a function called with the round before each.

    The processes of a round have environments of one length, which is another one in each round, by the
    seed `settings.layouts`.

    Returns:
        A dict of engine name to its list of Outcomes, in the order of `engines`.

    Raises:
        EngineFailure: a process failed.
    """
    outcomes: dict = {name: [] for name in engines}
    for number, padding in enumerate(layouts(settings.layouts, query, rounds)):
        if progress is not None:
            progress(number)
        order = list(engines) if number % 2 == 0 else list(engines)[::-1]
        found = turns.outcomes([engines[name] for name in order], query, scale, database,
                               settings._replace(padding=padding))
        for name, outcome in zip(order, found):
            outcomes[name].append(outcome)
    return outcomes


def results(suite, query, baseline, outcomes):
    """Return the result objects (list of dicts) of one query, one for each engine.

    Args:
        suite: 'micro', 'tpch' or 'figure3'.
        query: the query's name.
        baseline: the engine that the ratios refer to.
        outcomes: dict of engine name to its Outcomes.
    """
    base = [outcome.samples_s for outcome in outcomes[baseline]]
    base_first = [outcome.first_run_s for outcome in outcomes[baseline]]
    rows = []
    for engine, processes in outcomes.items():
        samples = [outcome.samples_s for outcome in processes]
        first = [outcome.first_run_s for outcome in processes]
        low, high = (1.0, 1.0) if engine == baseline else estimate.interval(base, samples)
        rows.append({
            'suite': suite,
            'query': query,
            'engine': engine,
            'baseline': baseline,
            'median_s': estimate.typical(samples),
            'ratio': estimate.ratio(base, samples),
            'ratio_low': low,
            'ratio_high': high,
            'first_run_s': estimate.median(first),
            'first_ratio': estimate.median([a / b for a, b in zip(base_first, first)]),
            'startup_s': estimate.median([outcome.startup_s for outcome in processes]),
            'warmup_runs': [outcome.warmup_runs for outcome in processes],
            'first_runs_s': first,
            'samples_s': samples,
        })
    return rows


class Report:
    """What a run of the harness found: results, wrong answers, failures, engines' configurations.

    `results` is a list of dicts, `problems` a dict of query to what is wrong with its answers or
    why it has none (list of str), `answers` a dict of query to the answer all engines gave.
    """

    def __init__(self):
        self.results = []
        self.problems = {}
        self.answers = {}

    def add(self, suite, query, baseline, outcomes, agree=None):
        """Check one query's answers, with `agree` as in answers.differences; keep its results if all are the same."""
        wrong = answers.differences(outcomes, baseline, agree)
        if wrong:
            self.problems[query] = wrong
            return
        self.answers[query] = outcomes[baseline][0].answers[0]
        self.results += results(suite, query, baseline, outcomes)


def run(suite, engines, baseline, names, scale, database, settings, rounds, progress=None):
    """Run a suite; return its Report.

    Args:
        suite: the suite's name, for the results.
        engines: dict of name to engine, the baseline among them.
        baseline: the baseline's name.
        names: the queries' names.
        scale, database, settings, rounds: as in `collect`.
        progress: None, or a function called with (query, round) before each round.
    """
    report = Report()
    for query in names:
        def step(number, query=query):
            if progress is not None:
                progress(query, number)

        try:
            outcomes = collect(engines, query, scale, database, settings, rounds, step)
        except EngineFailure as error:
            report.problems[query] = [str(error)]
        else:
            report.add(suite, query, baseline, outcomes, {
                name: functools.partial(engine.agrees, query) for name, engine in engines.items()})
    return report
