"""The engines: how a process that runs one query on one of them is started, and what it returns."""

import collections
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from typing import Callable

from benchmarks import ablations, places
from benchmarks.data import databases, duckdb_copy
from benchmarks.run import answers, driver, worker
from benchmarks.suites import duckdb_text, queries, ssb, tatp

# How often and how long a process runs its query. Runs go on until both the number and the time
# (seconds) are reached; with `runs` 'turns' the process is asked for each (turns.py). `cache_size` and
# `mmap_size` are as in the PRAGMAs (None: SQLite's default), `nursery` goes to PYPY_GC_NURSERY, `timeout` is
# in seconds, `clock` is a name in worker.CLOCKS. `layouts` is the seed of the layouts (None: all alike), of
# which measure.py chooses one for each round: `padding` is how many bytes longer the environment is.
Settings = collections.namedtuple(
    'Settings', 'warmup_runs warmup_seconds runs seconds cache_size nursery timeout clock layouts padding mmap_size',
    defaults=(None, 0, None))

# What one process measured; times in seconds. `answers` holds the distinct answers of its runs,
# `configuration` what it ran on.
Outcome = collections.namedtuple(
    'Outcome', 'configuration startup_s first_run_s samples_s warmup_runs answers checksums')


class EngineFailure(Exception):
    """A process of an engine failed; the message says which and how."""


def run_process(name, command, environment, timeout):
    """Return what a process prints, as text; its text needn't be UTF-8.

    Raises:
        EngineFailure: it exits with another code than 0, or takes longer than `timeout` seconds.
    """
    try:
        process = subprocess.run(command, cwd=places.ROOT, env=environment, timeout=timeout,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired as error:
        raise EngineFailure('%s: no end within %g s' % (name, timeout)) from error
    if process.returncode != 0:
        errors = process.stderr.decode('utf-8', 'replace').strip()
        raise EngineFailure('%s: exit code %d\n%s' % (name, process.returncode, errors[-4000:]))
    return process.stdout.decode('utf-8', 'surrogateescape')


def outcome(name, text):
    """Return the Outcome that a process printed as JSON. Raises EngineFailure."""
    try:
        return Outcome(**dict({'checksums': []}, **json.loads(text)))
    except (ValueError, TypeError) as error:
        raise EngineFailure('%s: cannot read what it printed (%s): %.200s'
                            % (name, error, text)) from error


def clean_environment(settings=None, **more):
    """Return the environment of a measured process: ours, with nothing that swaps libraries, and as long as
    `settings` (None: no longer than it is) want it."""
    kept = {key: value for key, value in os.environ.items()
            if key not in ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'PYTHONPATH', 'PYTHONHOME')}
    kept.update(more)
    if settings is not None and settings.padding:
        kept['SQPYTE_BENCHMARK_PADDING'] = 'x' * settings.padding
    return kept


def pragmas(settings):
    """Return the pragmas that a connection is given before anything else (list of str, `name=value`)."""
    given = {'cache_size': settings.cache_size, 'mmap_size': settings.mmap_size}
    return ['%s=%d' % (name, value) for name, value in given.items() if value is not None]


class Engine:
    """What the engines have in common: a process that harness.h or worker.py describes.

    A subclass has a `name`, and a method `command` that returns the command line (list of str) and the
    environment (dict) of a process that runs a query.
    """

    name: str
    command: Callable
    in_turns = True   # its processes run when they are asked to (turns.py)

    def read(self, found):
        """Return the Outcome of what a process printed."""
        return found

    @contextlib.contextmanager
    def own(self, database):
        """Give the database (path) that one process of this engine uses, while it runs: that of all, as long as
        nobody writes to it."""
        yield database

    def agrees(self, query, expected, found):
        """Return whether an answer to a query (its name) is the expected one."""
        return answers.same(expected, found)

    def configuration(self, nothing, database, settings):
        """Return the configuration that a process prints which runs `nothing`. Raises EngineFailure."""
        command, environment = self.command(nothing, None, database, settings)
        return json.loads(run_process(self.name, command, environment,
                                      settings.timeout))['configuration']

    def run(self, query, scale, database, settings):
        """Run one query in a process of its own; return its Outcome. Raises EngineFailure."""
        with self.own(database) as path:
            command, environment = self.command(query, scale, path, settings)
            return self.read(outcome(self.name, run_process(self.name, command, environment,
                                                            settings.timeout)))


class PythonEngine(Engine):
    """A DB-API module under an interpreter; runs the micro-benchmarks and examples/figure3.py.

    Args:
        name: the engine's name.
        interpreter: function that returns the interpreter's path.
        module: the DB-API module's name.
        on_stock: whether that module is to be given our stock build of SQLite.
        make: the command that builds what the module needs, for messages.
        switches: environment variables of its processes (dict).
    """

    def __init__(self, name, interpreter, module, on_stock, make, switches=None):
        self.name = name
        self.interpreter = interpreter
        self.module = module
        self.on_stock = on_stock
        self.make = make
        self.switches = switches or {}

    def environment(self, settings):
        """Return the environment (dict) of this engine's processes."""
        more = dict(self.switches, PYTHONPATH=places.ROOT)
        if settings.nursery:
            more['PYPY_GC_NURSERY'] = settings.nursery
        if self.on_stock:
            more['LD_LIBRARY_PATH'] = places.stock_loader_folder()
        return clean_environment(settings, **more)

    def command(self, benchmark, scale, database, settings):
        """Return the command line (list of str) and the environment (dict) of a process that runs
        `benchmark` (a name, or None for no more than its configuration)."""
        request = {'module': self.module, 'database': database, 'benchmark': benchmark,
                   'pragmas': pragmas(settings), 'warmup_runs': settings.warmup_runs,
                   'warmup_seconds': settings.warmup_seconds, 'runs': settings.runs,
                   'seconds': settings.seconds, 'clock': settings.clock,
                   'extension': driver.extension() if benchmark == 'cfunction' else None}
        command = [self.interpreter(), '-m', 'benchmarks.run.worker', json.dumps(request)]
        return command, self.environment(settings)

    def check(self, database, settings):
        """Return the configuration of a process of this engine, checking that it can run.

        Raises:
            places.Missing: it can't; says what to type.
        """
        try:
            found = self.configuration(None, database, settings)
        except EngineFailure as error:
            raise places.Missing('%s\nThe engine can\'t run yet: type `%s`, or choose others with '
                                 '`--engines`' % (error, self.make)) from error
        if self.on_stock:
            expected = os.path.realpath(places.stock_library())
            if [os.path.realpath(path) for path in found['libraries']] != [expected]:
                raise places.Missing(
                    '%s: the sqlite3 module of %s does not take its SQLite from LD_LIBRARY_PATH '
                    '(%s instead of %s): name another interpreter in SQPYTE_PYPY or SQPYTE_CPYTHON'
                    % (self.name, found['executable'], found['libraries'], expected))
        return found


class InstalledEngine(PythonEngine):
    """`import sqpyte` as an installed copy has it, from the tree that `make wheel` has made the wheel of."""

    # As `-m benchmarks.run.worker`, without the checkout, whose `sqpyte` would come first.
    WORKER = ("import runpy, sys; sys.path.remove(''); "
              "runpy.run_module('benchmarks.run.worker', run_name='__main__', alter_sys=True)")

    def __init__(self, name, interpreter):
        super().__init__(name, interpreter, 'sqpyte', False, 'make wheel')

    def environment(self, settings):
        """Return the environment (dict) of this engine's processes."""
        found = super().environment(settings)
        return dict(found, PYTHONPATH=os.pathsep.join([places.installed(), places.ROOT]))

    def command(self, benchmark, scale, database, settings):
        """See PythonEngine."""
        command, environment = super().command(benchmark, scale, database, settings)
        return [command[0], '-c', self.WORKER, command[-1]], environment

    def check(self, database, settings):
        """See PythonEngine. Raises places.Missing also if another library serves, or another one beside it."""
        found = super().check(database, settings)
        expected = os.path.join(places.installed(), 'sqpyte', 'lib', 'libsqlite3.so.0')
        if found['libraries'] != [expected]:
            raise places.Missing('%s: the sqlite3 module of %s does not take its SQLite from %s (but from %s): name '
                                 'another interpreter in SQPYTE_CPYTHON' % (
                                     self.name, found['executable'], expected, ', '.join(found['libraries'])))
        return found


def c_command(program, library, what, database, settings):
    """Return the command line (list of str) of one of the harness's C programs (see harness.h)."""
    return [program, library, database, what, str(settings.warmup_runs),
            repr(settings.warmup_seconds), str(settings.runs), repr(settings.seconds),
            settings.clock] + pragmas(settings)


class ProgramEngine(Engine):
    """The micro-benchmarks written in C against the C API of a library (micro.c): what is left of
    the border's cost when there is no Python.

    Args:
        name: the engine's name.
        library: function that returns the library's path.
    """

    def __init__(self, name, library):
        self.name = name
        self.library = library

    def command(self, benchmark, scale, database, settings):
        """Return the command line (list of str) and the environment (dict) of a process that runs
        `benchmark` (a name, or '' for no more than its configuration)."""
        return c_command(driver.build(driver.MICRO), self.library(), benchmark, database,
                         settings), clean_environment(settings)

    def read(self, found):
        """Return the Outcome of what a process printed, with answers as Python's."""
        return found._replace(answers=[worker.summary(as_python(answer)) for answer in found.answers])

    def check(self, database, settings):
        """Return the configuration of a process of this engine. Raises places.Missing."""
        return self.configuration('', database, settings)


def as_python(answer):
    """Return the answer of a micro-benchmark in C as Python's would be: with tuples for rows."""
    if isinstance(answer, list):
        if answer and isinstance(answer[0], list):
            return [tuple(row) for row in answer]
        return tuple(answer)
    return answer


class LibraryEngine(Engine):
    """A library with the sqlite3 C API, run by driver.c; runs TPC-H's or SSB's queries.

    Args:
        name: the engine's name.
        library: function that returns the library's path.
        text: function that returns the SQL of a query from its name and the scale.
        environment: what its processes have in their environment beside ours (dict).
    """

    def __init__(self, name, library, text=queries.text, environment=None):
        self.name = name
        self.library = library
        self.text = text
        self.environment = environment or {}

    def check(self, database, settings):
        """Return the configuration of a process of this engine. Raises places.Missing."""
        once = settings._replace(warmup_runs=0, warmup_seconds=0.0, runs=1, seconds=0.0)
        return self.run_sql('SELECT 1', database, once).configuration

    def command(self, query, scale, database, settings):
        """Return the command line (list of str) and the environment (dict) of a process that runs
        the query of this name."""
        return self.sql_command(self.text(query, scale), database, settings)

    def sql_command(self, sql, database, settings, more=None):
        """Return the same of a process that runs a statement, with `more` (a dict) in its environment."""
        return (c_command(driver.build(), self.library(), sql, database, settings),
                clean_environment(settings, **dict(self.environment, **more or {})))

    def run_sql(self, sql, database, settings, more=None):
        """Run one statement in a process of its own, with `more` (a dict) in its environment; return
        its Outcome. Raises EngineFailure."""
        command, environment = self.sql_command(sql, database, settings, more)
        return outcome(self.name, run_process(self.name, command, environment, settings.timeout))

    def run(self, query, scale, database, settings, more=None):
        """Run the query of this name as run_sql does."""
        return self.run_sql(self.text(query, scale), database, settings, more)


class TransactionEngine(Engine):
    """A library with the sqlite3 C API, whose processes (tatp.c) each have a database of their own; runs TATP.

    Args:
        name: the engine's name.
        library: function that returns the library's path.
        environment: what its processes have in their environment beside ours (dict).
    """

    def __init__(self, name, library, environment):
        self.name = name
        self.library = library
        self.environment = environment

    @contextlib.contextmanager
    def own(self, database):
        """Give a copy of the database (path), beside it, of which nothing is left afterwards."""
        if database == ':memory:':
            yield database
            return
        with tempfile.TemporaryDirectory(prefix='tatp-', dir=os.path.dirname(database)) as folder:
            yield shutil.copy(database, folder)

    def command(self, transaction, scale, database, settings):
        """Return the command line (list of str) and the environment (dict) of a process that runs a list of
        transactions (their name, or '' for no more than its configuration) on a copy of the database of `scale`."""
        command = c_command(driver.build(driver.TATP), self.library(), transaction, database, settings)
        original = databases.TATP.path_of(scale) if transaction else database
        return command + [*tatp.PRAGMAS, original], clean_environment(settings, **self.environment)

    def check(self, database, settings):
        """Return the configuration of a process of this engine. Raises places.Missing."""
        with self.own(database) as path:
            return self.configuration('', path, settings)


class DuckDBEngine(Engine):
    """DuckDB with one thread, on a copy of the database in its own format; runs TPC-H's queries in its dialect."""

    name = 'duckdb'

    def command(self, query, scale, database, settings):
        """Return the command line (list of str) and the environment (dict) of a process that runs the query of this
        name (None: no more than its configuration)."""
        request = {'database': database if database == ':memory:' else duckdb_copy.path_of(database),
                   'sql': query and duckdb_text.text(query, scale), 'warmup_runs': settings.warmup_runs,
                   'warmup_seconds': settings.warmup_seconds, 'runs': settings.runs, 'seconds': settings.seconds,
                   'clock': settings.clock}
        command = [places.duckdb_python(), '-m', 'benchmarks.run.duckdb_worker', json.dumps(request)]
        return command, clean_environment(settings, PYTHONPATH=places.ROOT)

    def agrees(self, query, expected, found):
        """See Engine; DuckDB adds in an order of its own."""
        return answers.near_rows(expected, found, duckdb_text.TIES.get(query, ()))

    def check(self, database, settings):
        """Return the configuration of a process of this engine, making its copy of the database first. Raises
        places.Missing."""
        if database != ':memory:':
            duckdb_copy.ensure(database)
        return self.configuration(None, database, settings)


MICRO = {engine.name: engine for engine in (
    PythonEngine('stock-pypy', places.pypy, 'sqlite3', True, 'make'),
    PythonEngine('stock-cpython', places.cpython, 'sqlite3', True, 'make'),
    PythonEngine('sqpyte-pypy', places.pypy, 'sqpyte', False, 'make'),
    ProgramEngine('c-api', places.stock_library),
    *[PythonEngine(name, places.pypy, 'sqpyte', False, 'make', environment)
      for name, environment in ablations.MODULE.items()],
)}
CALLS = {'stock-cpython': MICRO['stock-cpython'],
         'installed-cpython': InstalledEngine('installed-cpython', places.cpython)}
LIBRARIES: list = [('stock', places.stock_library, {}), ('vm', places.vm_library, {}),
             ('engine', places.engine_library, {})] + [
    (name, places.vm_library, environment) for name, environment in ablations.LIBRARY.items()]
TPCH: dict = {name: LibraryEngine(name, library, queries.text, environment)
        for name, library, environment in LIBRARIES}
TPCH['duckdb'] = DuckDBEngine()
TATP = {name: TransactionEngine(name, library, environment) for name, library, environment in LIBRARIES}
SSB = {name: LibraryEngine(name, library, ssb.text, environment)
       for name, library, environment in LIBRARIES}
