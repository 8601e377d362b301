"""Where the time of TPC-H's or SSB's queries goes: `python -m benchmarks profile`.

Each query runs in a process of each engine under a sampling timer (sampler.c), as in the suites:
a first run, then warm ones.  The table has the share of each part (origins.PARTS); over all queries
it is weighted by what a run takes, so that it says where the time of the whole suite goes.
"""

import json
import os
import tempfile

from rich.table import Table

from benchmarks import places
from benchmarks.results import origins
from benchmarks.run import driver, engines

SAMPLER = os.path.join(driver.HERE, 'sampler.c')


class Profile:
    """What was found of one query on one engine: seconds of a run, samples by part (dict)."""

    def __init__(self, query, engine, seconds, samples):
        self.query = query
        self.engine = engine
        self.seconds = seconds
        self.samples = samples

    def share(self, part):
        """Return the share (0 to 1) of a part."""
        return self.samples[part] / (sum(self.samples.values()) or 1)


def sample(engine, query, scale, database, settings, phase, found):
    """Run one query under the timer; return its Profile.

    Args:
        engine: engines.LibraryEngine.
        query, scale, database, settings: as LibraryEngine.run's.
        phase: 'first' or 'warm'.
        found: origins.Origins.

    Raises:
        engines.EngineFailure: the process failed.
        places.Missing: no C compiler.
    """
    sampler = driver.build(SAMPLER, ('-shared', '-fPIC', '-lrt'))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'samples')
        more = {'LD_PRELOAD': sampler, 'SQPYTE_SAMPLES': path, 'SQPYTE_PHASE': phase}
        outcome = engine.run(query, scale, database, settings, more)
        with open(path, encoding='utf-8') as file:
            samples = found.count(file)
    seconds = (outcome.first_run_s if phase == 'first'
               else sum(outcome.samples_s) / len(outcome.samples_s))
    return Profile(query, engine.name, seconds, samples)


def total(profiles, name):
    """Return the Profile of several queries on one engine, each weighted by what a run takes."""
    samples = {part: sum(profile.seconds * profile.share(part) for profile in profiles)
               for part, _ in origins.PARTS}
    return Profile(name, profiles[0].engine, sum(profile.seconds for profile in profiles), samples)


def table(profiles, title):
    """Return a rich Table: a line for each Profile, a column for each part that is anywhere at least
    half a percent."""
    parts = [part for part, _ in origins.PARTS
             if any(profile.share(part) >= 0.005 for profile in profiles)]
    made = Table(title=title)
    for heading in ['query', 'engine', 'ms'] + parts:
        made.add_column(heading, justify='left' if heading in ('query', 'engine') else 'right',
                        no_wrap=heading in ('query', 'engine', 'ms'))
    for profile in profiles:
        made.add_row(profile.query, profile.engine, '%.1f' % (profile.seconds * 1e3),
                     *('%.0f' % (100 * profile.share(part)) for part in parts))
    return made


def markdown(profiles):
    """Return a table for docs/performance.md: a line for each part, a column for each Profile, in
    milliseconds and percent."""
    head = ['part'] + ['%s, %s' % (profile.query, profile.engine) for profile in profiles]
    lines = ['| %s |' % ' | '.join(head), '|%s' % ('---|' * len(head))]
    lines.append('| milliseconds | %s |' % ' | '.join(
        '%.0f' % (profile.seconds * 1e3) for profile in profiles))
    for part, text in origins.PARTS:
        if any(profile.share(part) >= 0.005 for profile in profiles):
            lines.append('| %s: %s | %s |' % (part, text, ' | '.join(
                '%.0f %%' % (100 * profile.share(part)) for profile in profiles)))
    return '\n'.join(lines)


def run(names, engines_used, scale, database, options, progress):
    """Profile the queries of these names on these engines; return a list of Profiles.

    Args:
        names, engines_used: of the suite; engines_used is a dict of name to LibraryEngine.
        scale, database: of the data.
        options: with `phase`, `seconds` (of measured runs), `cache_size` and `mmap_size`.
        progress: called with (query, engine) before each process.
    """
    places.product(os.path.join(places.build_folder(), 'sqlite', 'sqlite3.c'), 'make engine')
    first = options.phase == 'first'
    settings = engines.Settings(0 if first else 3, 0.0 if first else 0.5, 1 if first else 3,
                                0.0 if first else options.seconds, options.cache_size, '',
                                options.timeout, 'wall', mmap_size=options.mmap_size)
    found = origins.Origins()
    profiles = []
    for query in names:
        for name, engine in engines_used.items():
            progress(query, name)
            profiles.append(sample(engine, query, scale, database, settings, options.phase, found))
    return profiles


def show(profiles, engines_used, console, title):
    """Print the tables; the last lines are all queries together."""
    sums = [total([profile for profile in profiles if profile.engine == name], 'all')
            for name in engines_used]
    console.print(table(profiles + sums, title))
    console.print()
    console.print(markdown(sums), markup=False, soft_wrap=True, highlight=False)


def write_json(path, profiles):
    """Write the Profiles to a file."""
    with open(path, 'w', encoding='utf-8') as file:
        json.dump([vars(profile) for profile in profiles], file, indent=1)
