"""docs/explain.md has every reason for which a statement isn't run by the VM, and none that nothing says."""

import glob
import os
import re

from c_engine.build.build import ROOT, read
from pypy_module.dbapi import explain

PAGE = read(os.path.join(ROOT, 'docs', 'explain.md'))


def reasons(heading):
    """The first cells of the tables below a heading (list of str)."""
    part = PAGE[PAGE.index('## ' + heading):].partition('\n## ')[0]
    return [line.split(' | ')[0].strip('| ') for line in part.splitlines() if line.startswith('| ')]


def test_it_has_the_vms_reasons():
    found = [reason for reason in reasons('Why not in the VM') if reason != 'reason']
    assert sorted(found) == sorted(set(explain.REASONS.values()) - {explain.REASONS['HOT']})
    assert '`%s`' % explain.REASONS['HOT'] in PAGE


def test_something_says_what_it_has_of_the_inliners():
    source = ' '.join(read(path) for path in glob.glob(os.path.join(ROOT, 'pypy_module', 'inline', '**', '*.py'),
                                                      recursive=True)).replace("\\'", "'")
    found = [piece.strip(' ,') for reason in reasons("Why not in the program's loop")
             if reason not in ('reason', 'clause') for piece in re.split(r'\.\.\.|;', reason)]
    assert len(found) > 12
    assert [piece for piece in found if piece and piece not in source] == []
