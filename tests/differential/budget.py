"""How many examples: HYPOTHESIS_PROFILE=ci (a few minutes in all, the default) or deep.

SQPYTE_EXAMPLES=factor multiplies the number of any profile.  The backend is hypothesis's plain
random one: the usual one spends most of its examples on small changes of the one before.  With
CI in the environment the examples are the same in every run: a change is judged by what it
changes, and new examples are looked for by hand and by `make test-all`.
"""
import os

from hypothesis import HealthCheck, settings

_FACTORS = {"ci": 1, "deep": 20}


def examples(count):
    """Settings for a test that runs count examples in the profile ci."""
    factor = _FACTORS[os.environ.get("HYPOTHESIS_PROFILE", "ci")]
    factor *= float(os.environ.get("SQPYTE_EXAMPLES", "1"))
    same = bool(os.environ.get("CI"))
    return settings(
        max_examples=max(1, int(count * factor)), deadline=None, derandomize=same,
        backend="hypothesis" if same else "hypothesis-urandom", print_blob=True,
        suppress_health_check=list(HealthCheck))
