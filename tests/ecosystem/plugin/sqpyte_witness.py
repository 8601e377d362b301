"""A pytest plugin: writes what became of each test as soon as that is known, and which library has served.

A file of JSON lines, so that what was tested before a crash is kept. It is loaded from a folder that has nothing else,
and imports nothing of the checkout.
"""

import json
import os
import sys

import pytest

_file = open(os.environ['SQPYTE_ECOSYSTEM_RESULTS'], 'a')   # noqa: SIM115
_outcomes: dict = {}
WORST = ['passed', 'xfailed', 'skipped', 'xpassed', 'failed']


def write(**what):
    """Append a line."""
    _file.write(json.dumps(what) + '\n')
    _file.flush()


def outcome(report):
    """Return the word for one phase of a test (str)."""
    if hasattr(report, 'wasxfail'):
        return 'xfailed' if report.skipped else 'xpassed'
    return report.outcome


def witness():
    """Return which SQLite this process's sqlite3 calls (dict): asked of the library, not of a file's name."""
    import sqlite3
    connection = sqlite3.connect(':memory:')
    try:
        ours = connection.execute("SELECT sqpyte_configure('vm')").fetchone()[0]
    except sqlite3.OperationalError:
        ours = None
    finally:
        connection.close()
    backend = str(sys.modules['sqpyte'].backend) if 'sqpyte' in sys.modules else None
    return {'version': sqlite3.sqlite_version, 'vm': ours, 'backend': backend}


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    """Take hypothesis' limits of time away: what they find is a busy machine, or a JIT that compiles."""
    try:
        from hypothesis import HealthCheck, settings
    except ImportError:
        return
    settings.register_profile('sqpyte', deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile('sqpyte')


def pytest_runtest_logreport(report):
    before = _outcomes.get(report.nodeid, 'passed')
    _outcomes[report.nodeid] = max(before, outcome(report), key=WORST.index)
    if report.when == 'teardown':
        write(test=report.nodeid, outcome=_outcomes.pop(report.nodeid))


def pytest_collectreport(report):
    if report.failed:
        write(test=report.nodeid + ' (collection)', outcome='failed')


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    write(witness=witness(), exit=int(exitstatus))
