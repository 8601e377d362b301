"""Functions made of generated source."""

import types


def define(source, title, names):
    """Execute generated source and return the namespace (dict).

    The namespace is a module's: in a plain dict every use of a global or builtin name would be a
    dict lookup in PyPy's traces, in a module's it is a constant.

    Args:
        source: Python source (str).
        title: what tracebacks call it (str).
        names: what the source refers to (dict of str to object).
    """
    namespace = types.ModuleType('pypy_module.' + title).__dict__
    namespace.update(names)
    exec(compile(source, '<%s>' % title, 'exec'), namespace)
    return namespace
