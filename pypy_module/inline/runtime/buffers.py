"""Buffers that runners give back and take again.

A list of them may be every thread's, and threads may change between any two instructions: so nobody looks whether it
has one before it is taken.
"""


def taken(free):
    """Take a buffer out of a list; returns it, or None if there is none."""
    try:
        return free.pop()
    except IndexError:
        return None
