"""Medians, ratios and intervals on samples whose answers are known."""

import random

import pytest

from benchmarks.results import estimate


def noisy(level, rounds=5, runs=6, noise=0.01, seed=1):
    """Return samples around `level` seconds, `noise` being their relative deviation."""
    generator = random.Random(seed)
    return [[level * generator.gauss(1, noise) for _ in range(runs)] for _ in range(rounds)]


def test_median():
    assert estimate.median([3]) == 3
    assert estimate.median([9, 1, 2]) == 2
    assert estimate.median([4, 1, 2, 100]) == 3


def test_typical_is_the_median_of_processes_and_not_of_runs():
    one_process_with_many_slow_runs = [[1.0], [2.0], [9.0] * 100]
    assert estimate.typical(one_process_with_many_slow_runs) == 2.0


def test_ratio_above_one_is_faster():
    assert estimate.ratio([[2.0], [2.2], [1.8]], [[1.0], [1.1], [0.5]]) == 2.0


def test_interval_of_equal_samples_is_a_point():
    assert estimate.interval([[2.0, 2.0]] * 3, [[1.0, 1.0]] * 3) == (2.0, 2.0)


def test_interval_holds_the_true_ratio_and_the_estimate():
    baseline, engine = noisy(3.0, seed=1), noisy(1.0, seed=2)
    low, high = estimate.interval(baseline, engine)
    assert low <= estimate.ratio(baseline, engine) <= high
    assert low < 3.0 < high
    assert high - low < 0.2


def test_interval_covers_the_truth_about_as_often_as_it_says():
    trials = 60
    hits = 0
    for trial in range(trials):
        low, high = estimate.interval(noisy(1.0, rounds=7, seed=2 * trial),
                                      noisy(1.0, rounds=7, seed=2 * trial + 1), resamples=200)
        hits += low <= 1.0 <= high
    assert hits >= 0.85 * trials


def test_interval_widens_with_noise_between_processes():
    steady = estimate.interval(noisy(1.0, seed=1), noisy(1.0, seed=2))
    wild = estimate.interval(noisy(1.0, noise=0.2, seed=1), noisy(1.0, noise=0.2, seed=2))
    assert wild[1] - wild[0] > 3 * (steady[1] - steady[0])


def test_drift_that_hits_both_engines_leaves_the_interval_narrow():
    drift = [1.0, 1.2, 1.5, 2.0, 3.0]
    low, high = estimate.interval([[2.0 * d] * 3 for d in drift], [[1.0 * d] * 3 for d in drift])
    assert (low, high) == pytest.approx((2.0, 2.0))


def test_drift_within_a_round_cancels():
    """The machine gets three times as slow in the middle of each round."""
    drift = [1.0, 1.0, 1.0, 3.0, 3.0]
    left, right = [[[level * d for d in drift]] * 4 for level in (2.0, 1.0)]
    assert estimate.ratio(left, right) == pytest.approx(2.0)
    assert estimate.interval(left, right) == pytest.approx((2.0, 2.0))


def test_interval_is_reproducible():
    assert estimate.interval(noisy(2.0), noisy(1.0, seed=3)) == \
        estimate.interval(noisy(2.0), noisy(1.0, seed=3))


@pytest.mark.parametrize('left, right', [([[1.0]] * 3, [[1.0]] * 2), ([[1.0, 1.0]], [[1.0]])])
def test_interval_refuses_unequal_rounds(left, right):
    with pytest.raises(ValueError, match='rounds with .* against'):
        estimate.interval(left, right)


def test_geometric_mean():
    assert estimate.geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
