"""Arithmetic and comparison of values against stock SQLite's own answers."""
import itertools

import pytest

from sqpyte.vm import host
from sqpyte.vm.base import capi, mem
from sqpyte.vm.values import arith, compare
from sqpyte.vm.values.values import NULL, W_Int, W_Null, W_Real

NUMBERS = [0, 1, -1, 2, 7, -7, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -2**63, -2**63 + 1,
           0.0, 0.5, -2.5, 7.0, 1e18, 9007199254740993.0, 1e19, -1e19, 1e308, -1e308,
           float('inf'), None]
OPERATORS = [('+', arith.add), ('-', arith.subtract), ('*', arith.multiply),
             ('/', arith.divide), ('%', arith.remainder)]


@pytest.fixture(scope='module', autouse=True)
def engine():
    if capi.library is None:
        host.install(mode=host.MODE_OFF)


def wrap(value):
    if value is None:
        return NULL
    return W_Int(value) if isinstance(value, int) else W_Real(value)


def unwrap(w):
    if isinstance(w, W_Null):
        return None
    return w.intval if isinstance(w, W_Int) else w.floatval


@pytest.mark.parametrize('operator,function', OPERATORS, ids=[o for o, _ in OPERATORS])
def test_arithmetic_as_stock(stock_sql, operator, function):
    pairs = list(itertools.product(NUMBERS, NUMBERS))
    expected = stock_sql('SELECT ?1 %s ?2' % operator, pairs)
    for (left, right), (answer,) in zip(pairs, expected):
        ours = unwrap(function(wrap(right), wrap(left)))     # r[P2] op r[P1]
        assert (type(ours), ours) == (type(answer), answer), (left, right)


def test_comparison_as_stock(stock_sql):
    pairs = [(a, b) for a, b in itertools.product(NUMBERS, NUMBERS) if None not in (a, b)]
    expected = stock_sql('SELECT (?1 > ?2) - (?1 < ?2)', pairs)
    for (left, right), (answer,) in zip(pairs, expected):
        order = compare.compare(wrap(left), wrap(right), compare.BINARY)
        assert (order > 0) - (order < 0) == answer, (left, right)


def test_text_operands_are_left_to_c():
    from sqpyte.vm.values.values import CONSTANT, W_Text
    text = W_Text(mem.scratch.address, 1, CONSTANT)
    assert arith.add(text, W_Int(1)) is None
    assert isinstance(arith.add(text, NULL), W_Null)
