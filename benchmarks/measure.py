"""Runs the engines' processes in turns, checks their answers, and turns times into results."""

from benchmarks import answers, estimate
from benchmarks.engines import EngineFailure


def turns(names, rounds):
    """Yield (round, engine) so that every round has each engine once, each second one reversed.

    Args:
        names: the engines' names.
        rounds: number of processes for each engine.
    """
    for number in range(rounds):
        for name in (names if number % 2 == 0 else names[::-1]):
            yield number, name


def collect(engines, query, scale, database, settings, rounds, progress=None):
    """Run one query in `rounds` processes of every engine, taking turns.

    Args:
        engines: dict of name to engine (see engines.py).
        query: the query's name.
        scale: the database's scale factor (float).
        database: path of the database.
        settings: engines.Settings.
        rounds: number of processes for each engine.
        progress: None, or a function called with (engine's name, round) before each process.

    Returns:
        A dict of engine name to its list of Outcomes, in the order of `engines`.

    Raises:
        EngineFailure: a process failed.
    """
    outcomes: dict = {name: [] for name in engines}
    for number, name in turns(list(engines), rounds):
        if progress is not None:
            progress(name, number)
        outcomes[name].append(engines[name].run(query, scale, database, settings))
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
    base_first = estimate.median([outcome.first_run_s for outcome in outcomes[baseline]])
    rows = []
    for engine, processes in outcomes.items():
        samples = [outcome.samples_s for outcome in processes]
        first = estimate.median([outcome.first_run_s for outcome in processes])
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
            'first_run_s': first,
            'first_ratio': base_first / first,
            'startup_s': estimate.median([outcome.startup_s for outcome in processes]),
            'warmup_runs': [outcome.warmup_runs for outcome in processes],
            'first_runs_s': [outcome.first_run_s for outcome in processes],
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

    def add(self, suite, query, baseline, outcomes):
        """Check one query's answers; keep its results if all are the same."""
        wrong = answers.differences(outcomes, baseline)
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
        progress: None, or a function called with (query, engine, round) before each process.
    """
    report = Report()
    for query in names:
        def step(engine, number, query=query):
            if progress is not None:
                progress(query, engine, number)

        try:
            outcomes = collect(engines, query, scale, database, settings, rounds, step)
        except EngineFailure as error:
            report.problems[query] = [str(error)]
        else:
            report.add(suite, query, baseline, outcomes)
    return report
