"""Tests that switch mechanisms off for a while."""

import contextlib


@contextlib.contextmanager
def without(module, names):
    """Within it `module`, sqpyte or what is like it, does without the mechanisms of these names (list of str) alone."""
    before = module.status()['without']
    module.configure(without=names)
    try:
        yield
    finally:
        module.configure(without=before)
