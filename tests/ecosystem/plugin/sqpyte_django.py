"""`python -m sqpyte_django tests/runtests.py ARGUMENT...`: Django's own tests, on interpreters of another kind too."""

import gc
import os
import runpy
import sys

if not hasattr(gc, 'set_threshold'):        # PyPy's collector has none; the runner sets it to save time
    gc.set_threshold = lambda *thresholds: None     # type: ignore[attr-defined]

if __name__ == '__main__':
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name='__main__')
