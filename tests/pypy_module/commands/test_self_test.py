"""`python -m sqpyte --self-test`: what it says of an installation."""

import re

from pypy_module import version


def test_what_it_says_without_a_vm(shell):
    """The engine alone; tests/wheel has it with a VM."""
    ended = shell('--self-test')
    assert (ended.code, ended.err) == (0, '')
    assert re.match(r'\w+ 3\.\S+, sqpyte %s in /' % re.escape(version.sqpyte()), ended.out)
    assert ended.out.endswith("\nthe VM didn't run: sqpyte's library has no VM\nself-test: passed\n")
