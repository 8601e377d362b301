"""How many examples: HYPOTHESIS_PROFILE=ci (a few minutes in all, the default) or deep.

SQPYTE_EXAMPLES=factor multiplies the number of any profile.  The backend is hypothesis's plain
random one: the usual one spends most of its examples on small changes of the one before.
"""
import os

from hypothesis import HealthCheck, settings

_FACTORS = {"ci": 1, "deep": 20}


def examples(count):
    """Settings for a test that runs count examples in the profile ci."""
    factor = _FACTORS[os.environ.get("HYPOTHESIS_PROFILE", "ci")]
    factor *= float(os.environ.get("SQPYTE_EXAMPLES", "1"))
    return settings(
        max_examples=max(1, int(count * factor)), backend="hypothesis-urandom", deadline=None,
        print_blob=True, suppress_health_check=list(HealthCheck))
