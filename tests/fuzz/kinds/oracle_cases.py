"""The oracles (oracles.py) on generated tables: what hypothesis draws, the check, and the kind of it."""
import os
import zlib

import hypothesis
from hypothesis import strategies as st

from tests.differential import tiers
from tests.differential.generate.expressions import conditions
from tests.differential.generate.queries import parameters
from tests.differential.generate.tables import tables
from tests.differential.sessions.scripts import script
from tests.differential.sessions.worker import Crash
from tests.fuzz import ways
from tests.fuzz.generate.chance import Chance
from tests.fuzz.kinds import oracles

TIERS = ["translated-always", "translated-hot", "engine", "module-inline"]
# The columns come as a and b, the table twice.
_JOINS = ["{0} AS a JOIN {0} AS b ON a.c0 = b.c0", "{0} AS a, {0} AS b",
          "{0} AS a LEFT JOIN {0} AS b ON a.c0 < b.c0"]


@st.composite
def cases(draw):
    """(tables.Table, FROM clause with {0} for the table, columns, a condition, parameters)."""
    joined = draw(st.integers(0, 2)) == 0
    table = draw(tables(max_rows=12 if joined else 120))
    columns = tuple(table.column_names())
    if joined:
        columns = tuple("%s.%s" % (alias, name) for alias in "ab" for name in columns)
    sources = draw(st.sampled_from(_JOINS)) if joined else "{0}"
    return table, sources, columns, draw(conditions(columns, 2)), draw(parameters)


def started(name):
    """A tier (tiers.Tier) by its name."""
    tier = tiers.module_tier(name) if name in tiers.MODULES else tiers.capi_tier(name)
    tier.worker.patience = ways.PATIENCE
    return tier


def answers(tier, table, queries, values):
    """The rows of queries over a table, in a tier (list of lists of str)."""
    pivot = [("run", 0, table.create().replace("CREATE TABLE t(", "CREATE TABLE one(", 1))]
    pivot += [("run", 0, "ALTER TABLE one ADD COLUMN " + column.declaration()) for column in table.later]
    pivot.append(("run", 0, "INSERT INTO one SELECT * FROM t LIMIT 1 OFFSET %d" % (table.seed % 40)))
    actions = table.statements() + pivot
    transcript = tier.worker.run(script(actions + [("run", 0, sql) + values for sql in queries]))
    found = transcript[len(actions):-1]
    return [[row for row in rows if not row.startswith("columns ")] for rows in found]


def check(tier, case, name):
    """Fails if the oracle of that name says that something is wrong."""
    table, sources, columns, condition, values = case
    queries, wrong = oracles.ORACLES[name]
    if name == "pqs":       # a row of one outer join need not be a row of a larger one
        sources = sources.replace(" LEFT JOIN ", " JOIN ")
    sources = sources.format("t"), sources.format(oracles.PIVOT)
    texts = queries(sources if name == "pqs" else sources[0], columns, condition)
    try:
        words = wrong(answers(tier, table, texts, values))
    except oracles.Unfit:
        return
    assert not words, "%s\n%s" % (words, "\n".join([repr(table.statements()), *texts]))


EXAMPLES = 6


class Oracles:
    """Some examples of an oracle in a tier. A kind, see kinds.py; hypothesis makes them small."""

    name = "oracles"

    def __init__(self):
        self.tiers = {}

    def case(self, seed):
        """See kinds.py."""
        chance = Chance(seed)
        names = [name for name in TIERS
                 if os.path.exists(ways.TRANSLATED) or not name.startswith("translated")]
        return {"kind": self.name, "seed": seed, "tier": chance.pick(names),
                "oracle": chance.pick(sorted(oracles.ORACLES))}

    def check(self, case):
        """See kinds.py."""
        tier = self.tiers.setdefault(case["tier"], None) or started(case["tier"])
        self.tiers[case["tier"]] = tier

        @hypothesis.seed(zlib.crc32(case["seed"].encode()))
        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None,
                             suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(cases())
        def run(drawn):
            check(tier, drawn, case["oracle"])
        try:
            run()
        except (AssertionError, Crash) as error:
            return "%s in %s\n%s" % (case["oracle"], case["tier"], error)
        return None

    def with_history(self, case):
        """See kinds.py."""
        return case

    def fresh(self):
        """See kinds.py."""
        self.stop()

    def smaller(self, case):
        """See kinds.py: hypothesis has done it."""
        return ()

    def stop(self):
        """See kinds.py."""
        for tier in self.tiers.values():
            tier.worker.stop()
        self.tiers.clear()
