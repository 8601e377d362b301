"""Medians, ratios of runs that took turns, and the ratios' confidence intervals.

A benchmark's samples come in two levels: rounds, each with one process of every engine, and runs
within a round, in turns (turns.py). Runs of one process resemble each other (memory layout, what the
JIT happened to compile), so the interval comes from a hierarchical bootstrap that resamples rounds
first and turns within them second (T. Kalibera, R. Jones: Rigorous benchmarking in reasonable time,
ISMM 2013). A turn is resampled as a whole: drift of the machine hits both sides alike.
"""

import random

RESAMPLES = 2000
SEED = 20160718   # fixed: the same samples give the same interval


def median(values):
    """Return the median (float) of a non-empty sequence of numbers."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def typical(processes):
    """Return the median over processes of each process's median.

    Args:
        processes: a list of lists of seconds or ratios, one for each process.
    """
    return median([median(samples) for samples in processes])


def pairs(baseline, engine):
    """Return the ratios of the runs that took turns: a list of lists of floats, one for each round.

    Args:
        baseline: a list of lists of seconds, one for each round.
        engine: the same of the other engine.

    Raises:
        ValueError: the two have different numbers of rounds, or of runs in a round.
    """
    if [len(samples) for samples in baseline] != [len(samples) for samples in engine]:
        raise ValueError('rounds with %s runs against %s' % (
            [len(samples) for samples in baseline], [len(samples) for samples in engine]))
    return [[a / b for a, b in zip(left, right)] for left, right in zip(baseline, engine)]


def ratio(baseline, engine):
    """Return how many times as fast as the baseline the engine is (float, above 1 is faster): the
    median over rounds of the median of a round's ratios."""
    return typical(pairs(baseline, engine))


def interval(baseline, engine, confidence=0.95, resamples=RESAMPLES):
    """Return the bootstrap confidence interval (low, high) of `ratio`.

    Args:
        baseline: a list of lists of seconds, one for each round.
        engine: the same of the other engine, with as many rounds and runs.
        confidence: share of the resampled ratios within the interval (0 to 1).
        resamples: how many times to resample.

    Raises:
        ValueError: the two have different numbers of rounds or runs.
    """
    rounds = pairs(baseline, engine)
    generator = random.Random(SEED)
    return bounds([typical(resampled(rounds, generator)) for _ in range(resamples)], typical(rounds), confidence)


def resampled(rounds, generator):
    """Return rounds (list of lists) with some of them, and of the turns within each, drawn anew by a random.Random."""
    return [generator.choices(turns, k=len(turns)) for turns in generator.choices(rounds, k=len(rounds))]


def bounds(values, centre, confidence=0.95):
    """Return the interval (low, high) that holds a share (0 to 1) of resampled values, and `centre`."""
    values = sorted(values)
    cut = int((1 - confidence) / 2 * len(values))
    return min(values[cut], centre), max(values[-1 - cut], centre)


def geometric_mean(values):
    """Return the geometric mean (float) of a non-empty sequence of positive numbers."""
    product = 1.0
    for value in values:
        product *= value ** (1.0 / len(values))
    return product
