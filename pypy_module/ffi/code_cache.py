"""Functions made of generated source.

Compiling source takes PyPy half a millisecond a function, as long as a short script's queries, so
the compiled code of functions that every program needs is kept in files (`place.cache`), as `.pyc` files
keep that of modules. A file is used only if it holds the very same source and interpreter version.
"""

import marshal
import os
import sys
import types

from pypy_module.ffi import place
from pypy_module.ffi.library import switched_off

FOLDER = place.cache()


def define(source, title, names, keep=False):
    """Execute generated source and return the namespace (dict).

    The namespace is a module's: in a plain dict every use of a global or builtin name would be a
    dict lookup in PyPy's traces, in a module's it is a constant.

    Args:
        source: Python source (str).
        title: what tracebacks call it (str).
        names: what the source refers to (dict of str to object).
        keep: whether its code is kept on disk, under its title (bool), unless that is switched off.
    """
    namespace = types.ModuleType('pypy_module.' + title).__dict__
    namespace.update(names)
    keep = keep and not switched_off('code-cache')
    code = kept(source, title) if keep else compile(source, '<%s>' % title, 'exec')
    exec(code, namespace)
    return namespace


def kept(source, title):
    """Return the code of `source`, from the file of its title or, if it isn't there, compiled."""
    path = os.path.join(FOLDER, '%s.%s.code' % (title, sys.implementation.cache_tag))
    try:
        with open(path, 'rb') as file:
            version, known, code = marshal.loads(file.read())
        if version == sys.version and known == source:
            return code
    except (OSError, ValueError, EOFError, TypeError):
        pass    # not there, or not whole
    code = compile(source, '<%s>' % title, 'exec')

    def write(partial):
        with open(partial, 'wb') as file:
            file.write(marshal.dumps((sys.version, source, code)))
    try:
        place.put(path, write)
    except OSError:
        pass    # the folder can't be written to: it will be compiled again
    return code
