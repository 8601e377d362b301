"""Medians, ratios of medians, and their confidence intervals from interleaved processes.

A benchmark's samples come in two levels: processes, and runs within a process. Runs of one process
resemble each other (memory layout, what the JIT happened to compile), so the interval comes from a
hierarchical bootstrap that resamples processes first and runs within them second (T. Kalibera,
R. Jones: Rigorous benchmarking in reasonable time, ISMM 2013). The processes of a round ran one
after the other, so a round is resampled as a whole: drift of the machine hits both sides alike.
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
    """Return the median (seconds) over processes of each process's median.

    Args:
        processes: a list of lists of seconds, one for each process.
    """
    return median([median(samples) for samples in processes])


def ratio(baseline, engine):
    """Return how many times as fast as the baseline the engine is (float, above 1 is faster)."""
    return typical(baseline) / typical(engine)


def interval(baseline, engine, confidence=0.95, resamples=RESAMPLES):
    """Return the bootstrap confidence interval (low, high) of `ratio`.

    Args:
        baseline: a list of lists of seconds, one for each process, by round.
        engine: the same of the other engine, with as many rounds.
        confidence: share of the resampled ratios within the interval (0 to 1).
        resamples: how many times to resample.

    Raises:
        ValueError: the two have different numbers of rounds.
    """
    if len(baseline) != len(engine):
        raise ValueError('%d rounds against %d' % (len(baseline), len(engine)))
    generator = random.Random(SEED)
    rounds = range(len(baseline))
    ratios = []
    for _ in range(resamples):
        chosen = generator.choices(rounds, k=len(rounds))
        ratios.append(ratio(
            [generator.choices(baseline[i], k=len(baseline[i])) for i in chosen],
            [generator.choices(engine[i], k=len(engine[i])) for i in chosen]))
    ratios.sort()
    cut = int((1 - confidence) / 2 * len(ratios))
    centre = ratio(baseline, engine)
    return min(ratios[cut], centre), max(ratios[-1 - cut], centre)


def geometric_mean(values):
    """Return the geometric mean (float) of a non-empty sequence of positive numbers."""
    product = 1.0
    for value in values:
        product *= value ** (1.0 / len(values))
    return product
