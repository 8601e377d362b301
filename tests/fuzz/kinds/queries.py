"""Queries that call Python's functions, aggregates and window functions, under PyPy with the inliner.

CPython's sqlite3 on the stock library says what must come of them: query_session.py has what is compared.
"""
import contextlib

from tests.fuzz.generate.calling import Queries as Generator
from tests.fuzz.generate.chance import Chance
from tests.fuzz.kinds import query_session
from tests.fuzz.kinds.kinds import Beside
from tests.fuzz.shrink import without_runs

AROUND = 90             # characters that are shown on each side of a difference
ODD = [0, .02, .1, .3]  # shares of functions that do what functions seldom do


def drawn(seed):
    """What query_session.py runs (dict), of a seed (str)."""
    chance = Chance(seed)
    generator = Generator("queries " + seed, chance.pick(ODD))
    case = {name: chance.pick(choices) for name, choices in query_session.SETTINGS.items()}
    case["queries"] = [generator.query(), generator.query()]
    if case["column_names"]:
        case["queries"] = [query.replace(" FROM", ' AS "q [noted]" FROM', 1) for query in case["queries"]]
    return case


def child(name, parameters):
    """A runner for worker.py. Args: as child.imported."""
    from tests.fuzz.kinds.child import imported
    module, version = imported(name, parameters)

    def run(case, directory):
        with planned(case["planner"] if name == "sqpyte" else None):
            return query_session.run(module, case, directory)
    return version, run


@contextlib.contextmanager
def planned(settings):
    """Within it the inliner takes loops over as SETTINGS of query_session.py says; None: as ever."""
    if settings is None:
        yield
        return
    from pypy_module.dbapi.statements import tiers, variety
    from pypy_module.inline import policy
    before = tiers.planner, policy.SHORTEST, variety.ANOTHER_KIND
    tier_up, policy.SHORTEST, worth = settings
    tiers.planner, variety.ANOTHER_KIND = policy.Planner(tier_up, worth), worth
    try:
        yield
    finally:
        tiers.planner, policy.SHORTEST, variety.ANOTHER_KIND = before


class Queries(Beside):
    """Such queries. A kind, see kinds.py."""

    name = "queries"
    child = "tests.fuzz.kinds.queries:child"

    def case(self, seed):
        """See kinds.py."""
        return dict(drawn(seed), kind=self.name, seed=seed, way=self.next_way(seed))

    def check(self, case):
        """See kinds.py."""
        expected = self.oracle.run(case)
        actual, crash = self.run(case)
        if crash or actual == expected:
            return crash
        place = next((i for i, (one, other) in enumerate(zip(expected, actual)) if one != other),
                     min(len(expected), len(actual)))
        stock, here = (text[max(place - AROUND, 0):place + AROUND] for text in (expected, actual))
        return "%s\n  stock: %s\n  here:  %s" % ("; ".join(case["queries"]), stock, here)

    def smaller(self, case):
        """See kinds.py."""
        for fewer in without_runs(case["queries"]):
            if fewer:
                yield dict(case, queries=fewer)
        for name, choices in query_session.SETTINGS.items():
            if case[name] != choices[0]:
                yield dict(case, **{name: choices[0]})
