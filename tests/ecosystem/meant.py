"""The tests that may pass with sqlite3 and fail with sqpyte, each with its reason. This list may only shrink: an entry
whose test passes fails the run until it is removed."""

import collections

from tests.ecosystem.projects import PYPY

# project: its name. host: of projects.SIDES. sides: names of that host's, separated by blanks. test: pytest's node id,
# or unittest's. reason: why it isn't a defect (all str).
Meant = collections.namedtuple('Meant', 'project host sides test reason')

MEANT = [
    Meant('aiosqlite', PYPY, 'sqpyte sqpyte-always', 'aiosqlite/tests/smoke.py::SmokeTest::test_connection_properties',
          "it asks for a private function of PyPy's _sqlite3 as the default text_factory; ours is str, as in CPython"),
]


def of(project, side):
    """Return the entries (list of Meant) for a side (str) of a projects.Project."""
    return [one for one in MEANT
            if (one.project, one.host) == (project.name, project.host) and side in one.sides.split()]
