"""A loop's machine code is the same in every process.

Where memory lies, and so which row PyPy's JIT begins to trace at, differs from process to process: with
the lengths of paths and of the environment, and with what else has been traced.  Here it is made to
differ: LAYOUTS processes have environments of different lengths, and loops that are hot a row earlier in
each, so that every row of a page is the one at least once (a page has 15).  See trace.py.
"""
import json
import os
import random
import subprocess
import sys

import pytest

from tests.jit_pypy import traces

pytestmark = pytest.mark.skipif(
    sys.implementation.name != 'pypy', reason='PyPy\'s traces; `make test` runs it on PyPy')

LAYOUTS = 20
ROWS, PASSES = 20000, 3
HOT = 0.1               # pieces that run for fewer rows aren't looked at
NAMES = ('select where joined texts expression function function_filters sliced filtered window_log aggregate '
         'fetchall point insert').split()
# The functions of generated classes whose loops these programs run in, too.
OTHERS = {'where': 'select', 'texts': 'select', 'aggregate': 'run', 'filtered': 'run'}


@pytest.fixture(scope='module')
def layouts(tmp_path_factory):
    """The pieces of machine code (list of Piece) of each process; the programs run one after the other."""
    log = tmp_path_factory.mktemp('layouts') / 'log'
    seed = random.randrange(10 ** 6)
    print('seed of the environments:', seed)
    padding = random.Random(seed)
    return [traces.run(log, ROWS, PASSES, shift, *NAMES, padding=padding.randrange(20000))
            for shift in range(LAYOUTS)]


def shape(pieces, name):
    """What runs for the rows of a program: the operations of each piece of its loops that is hot."""
    found = [piece for piece in pieces if piece.count > HOT * ROWS * PASSES
             and (name in piece.functions or piece.function in (name, OTHERS.get(name)))]
    return sorted((piece.function, tuple(piece.names)) for piece in found)


@pytest.mark.parametrize('name', NAMES)
def test_the_same_loop_in_every_layout(name, layouts):
    shapes = [shape(pieces, name) for pieces in layouts]
    assert shapes[0]
    different = [shift for shift in range(LAYOUTS) if shapes[shift] != shapes[0]]
    assert not different, (different, shapes[0], shapes[different[0]])


# Prints which modules are imported, and MARK where the module runs finalizers.
IMPORTS = '''
import _frozen_importlib, gc, json, runpy, sys
names = []
init, collect = _frozen_importlib._ModuleLock.__init__, gc.collect
_frozen_importlib._ModuleLock.__init__ = lambda self, name: (names.append(name), init(self, name))[1]
gc.collect = lambda: (names.append('MARK'), collect())[1]
runpy.run_path(sys.argv[0])
print(json.dumps(names))
'''


def test_nothing_is_imported_once_the_inliner_is_there():
    # Imports leave objects with finalizers. PyPy runs these at the end of an iteration of whatever loop is running: if
    # it is traced just then, they are a part of the loop.
    arguments = [traces.PROGRAM, str(ROWS), str(PASSES), '0', *NAMES]
    program = 'import sys; sys.argv = %r; exec(%r)' % (arguments, IMPORTS)
    environment = dict(os.environ, PYTHONPATH=traces.ROOT)
    names = json.loads(subprocess.run([sys.executable, '-c', program], check=True, env=environment,
                                      stdout=subprocess.PIPE).stdout)
    assert 'pypy_module.inline.manager' in names and 'MARK' in names
    last = len(names) - names[::-1].index('MARK')
    assert names[last:] == []
