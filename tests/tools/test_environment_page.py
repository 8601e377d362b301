"""docs/environment.md has every environment variable that is read, and no other."""
import glob
import os
import re

from c_engine.build.build import ROOT, read

# os.environ.get('X'), os.environ['X'], getenv("X"); not what a test or tool sets.
READ = re.compile(r'''environ(?:\.get\(|\[)\s*["'](\w+)["'](?!\]\s*=[^=])|getenv\("(\w+)"\)''')
# What one of our programs says to another.
INTERNAL = {'SQPYTE_SAMPLES', 'SQPYTE_PHASE', 'SQPYTE_TEST_SOURCE_ID'}
ROOMS = ['sqpyte', 'pypy_module', 'c_engine', 'tools', 'benchmarks', 'tests']


def variables():
    """Names of the variables that the sources read (set)."""
    found = {'CC'}      # the Makefile's
    for room in ROOMS:
        for ending in ('py', 'c'):
            for path in glob.glob(os.path.join(ROOT, room, '**', '*.' + ending), recursive=True):
                if 'generated' not in path and path != __file__:
                    found |= {a or b for a, b in READ.findall(read(path))}
    return found - INTERNAL


def described():
    """Names in the first columns of the page's tables (set)."""
    page = read(os.path.join(ROOT, 'docs', 'environment.md'))
    return {name for line in page.splitlines() if line.startswith('| `')
            for name in re.findall(r'`([A-Z_0-9]+)`', line.split('|')[1])}


def test_the_page_has_what_is_read():
    assert described() == variables()
