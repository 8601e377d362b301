"""Buffers that runners give back and take again.

A list of them may be every thread's, and threads may change between any two instructions: so nobody looks whether it
has one before it is taken.
"""

from pypy_module.ffi.library import ffi


def taken(free, words):
    """Return a buffer of at least so many words (int), out of a list of buffers if it has one."""
    try:
        buffer = free.pop()
    except IndexError:
        buffer = None
    if buffer is None or len(buffer) < words:
        buffer = ffi.new('int64_t[]', words)
    return buffer
