"""Runs examples/figure3.py on `sqpyte` and, beside it, on `sqlite3` with the stock build."""

import re

from benchmarks.run.engines import MICRO, Engine, EngineFailure, Outcome, run_process

QUERY = 'figure3'
LINE = re.compile(r'quantity (\S+), base price (\S+), discounted price (\S+): (\S+) s')


def parse(name, text, warmup_runs):
    """Return the Outcome of what the example printed, one line a run.

    Args:
        name: the engine's name.
        text: the example's output.
        warmup_runs: how many runs after the first one are not measured.

    Raises:
        EngineFailure: the lines aren't the example's.
    """
    found = LINE.findall(text)
    if len(found) < warmup_runs + 2:
        raise EngineFailure('%s: examples/figure3.py printed %r' % (name, text))
    answers = []
    for line in found:
        answer = [int(line[0]), float(line[1]), float(line[2])]
        if answer not in answers:
            answers.append(answer)
    times = [float(line[3]) for line in found]
    return Outcome({}, 0.0, times[0], times[1 + warmup_runs:], warmup_runs, answers, [])


class ExampleEngine(Engine):
    """The example's program on one of the engines of the micro-benchmarks."""

    in_turns = False   # the example repeats its query itself

    def __init__(self, engine):
        self.name = engine.name
        self.engine = engine

    def check(self, database, settings):
        """Return the configuration of a process of the engine. Raises places.Missing."""
        return self.engine.check(database, settings)

    def run(self, query, scale, database, settings):
        """Run the example in a process of its own; return its Outcome. Raises EngineFailure."""
        runs = 1 + settings.warmup_runs + settings.runs
        command = [self.engine.interpreter(), 'examples/figure3.py', database,
                   '--module', self.engine.module, '--runs', str(runs)]
        environment = self.engine.environment(settings)
        text = run_process(self.name, command, environment, settings.timeout)
        return parse(self.name, text, settings.warmup_runs)


ENGINES = {name: ExampleEngine(MICRO[name]) for name in ('stock-pypy', 'sqpyte-pypy')}


def show_sums(console, report, configuration):
    """Print what was run on what, and the sums that every engine found."""
    lines = configuration['data']['rows']['lineitem']
    console.print('examples/figure3.py, TPC-H scale %g (%d rows of lineitem)'
                  % (configuration['data']['scale'], lines), highlight=False)
    for name, found in configuration['engines'].items():
        console.print('%-12s import %s, %s, SQLite %s' % (
            name, ENGINES[name].engine.module, ' '.join(found['python'].split()[:2]),
            found['sqlite_version']), highlight=False)
    for quantity, base_price, disc_price in report.answers.values():
        console.print('[bold]quantity %d, base price %.2f, discounted price %.2f[/]'
                      % (quantity, base_price, disc_price))
