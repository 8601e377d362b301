"""TLP, NoREC and PQS (oracles.py) on generated tables, in the library and in the module."""
import pytest
from hypothesis import given

from tests.differential.budget import examples
from tests.fuzz.kinds import oracle_cases, oracles


@pytest.fixture(scope="module", params=oracle_cases.TIERS)
def tier(request):
    """A tier of ours; its name is the parameter."""
    made = oracle_cases.started(request.param)
    yield made
    made.worker.stop()


@examples(20)
@given(case=oracle_cases.cases())
def test_partitions(tier, case):
    oracle_cases.check(tier, case, "tlp")


@examples(20)
@given(case=oracle_cases.cases())
def test_counts(tier, case):
    oracle_cases.check(tier, case, "norec")


@examples(20)
@given(case=oracle_cases.cases())
def test_pivots(tier, case):
    oracle_cases.check(tier, case, "pqs")


def rows(*numbers):
    return ["('%d', 1)" % number for number in numbers]


def test_what_the_oracles_see():
    whole = [rows(1, 2, 3), rows(1), rows(2), rows(3)]
    keys = [["(%d)" % n for n in (1, 2, 3)], ["(1)"], ["(2)"], ["(3)"]]
    totals = [["(%d, 1, 1)" % n] for n in (3, 1, 1, 1)]
    good = whole + keys + whole + totals + [rows(3, 2, 1)]
    assert oracles.partitions_differ(good) is None
    for place in range(len(good)):
        fewer = [list(answer) for answer in good]
        fewer[place] = ["(7, 1, 1)"] if 12 <= place < 16 else fewer[place][:-1]
        assert oracles.partitions_differ(fewer), place
    assert oracles.counts_differ([["(2)"], ["(2)"], ["(2)"]]) is None
    assert oracles.counts_differ([["(2)"], ["(2)"], ["(3)"]])
    found = [["(1, 2)"], ["(0)"], [], ["(1)"], ["(0, 0)", "(1, 2)"], ["(0)"], []]
    assert oracles.pivots_missing(found) is None
    assert oracles.pivots_missing(found[:4] + [["(0, 0)"]] + found[5:])
    for judge in (oracles.partitions_differ, oracles.counts_differ, oracles.pivots_missing):
        with pytest.raises(oracles.Unfit):
            judge([["error 1: no"]] * 17)
