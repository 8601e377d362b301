"""Where the C library is, what is made of its headers, and what is kept from one process to the next.

A checkout has them in build/. An installed copy is one package, `sqpyte`, which has the library and the declarations;
it keeps nothing beside them, as it may be read only: what it keeps is in the user's cache folder.
"""

import os

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))      # the folder of this room
ROOT = os.path.dirname(HERE)        # of the checkout, or an installed copy's package
INSTALLED = __name__.startswith('sqpyte.')
BUILD = os.path.join(ROOT, 'build')
HEADERS = [os.path.join(BUILD, 'engine', 'sqlite3.h'),
           os.path.join(ROOT, 'c_engine', 'core', 'engine.h')]
HEADERS += [os.path.join(ROOT, 'c_engine', 'rows', name)
            for name in ('fused.h', 'page_batch.h', 'call_log.h')]

# Within an installed copy. The library's name is the one that programs linked to SQLite ask the loader for.
LIBRARY = os.path.join('lib', 'libsqlite3.so.0')
DECLARATIONS = 'declarations.py'

FOREIGN = "it isn't sqpyte's library"

_found: list = []       # what `found` has returned


def cache():
    """Return the folder (str) for what is kept from one process to the next; it need not be there."""
    if not INSTALLED:
        return os.path.join(BUILD, 'abi')
    home = os.environ.get('XDG_CACHE_HOME', '')
    if not os.path.isabs(home):     # as the XDG Base Directory Specification says
        home = os.path.expanduser('~')
        if not os.path.isabs(home):     # a user whom nobody knows has none: a folder where nothing can be kept
            home = os.devnull
        home = os.path.join(home, '.cache')
    return os.path.join(home, 'sqpyte', 'code')


def put(path, write):
    """Make a file, whole or not at all, and its folder.

    Args:
        path: the file's.
        write: called with the path of the file to write, which is then renamed.
    Raises:
        OSError: it can't be written.
    """
    partial = '%s.%d.part' % (path, os.getpid())
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(partial)
        os.replace(partial, path)
    except OSError:
        if os.path.lexists(partial):     # it may be a link
            os.remove(partial)
        raise


def found():
    """Return the library's path (str), the same in the whole process: see `find`."""
    if not _found:
        _found.append(find())
    return _found[0]


def find():
    """Return the path (str) of the library that is to be loaded.

    SQPYTE_LIBRARY in the environment comes first, then an installed copy's own; in a checkout build/libsqpyte.so
    (engine and VM) unless the engine was built again after it, then build/libsqpyte-engine.so.

    Raises:
        ImportError: there is none.
    Warns:
        RuntimeWarning: the engine was built again after the VM, which isn't used.
    """
    chosen = os.environ.get('SQPYTE_LIBRARY')
    if chosen:
        return os.path.abspath(chosen)
    if INSTALLED:
        return os.path.join(ROOT, LIBRARY)
    with_vm = os.path.join(BUILD, 'libsqpyte.so')
    engine = os.path.join(BUILD, 'libsqpyte-engine.so')
    has_vm, has_engine = os.path.exists(with_vm), os.path.exists(engine)
    if has_vm and not (has_engine and os.path.getmtime(engine) > os.path.getmtime(with_vm)):
        return with_vm
    if has_engine:
        if has_vm:
            import warnings
            warnings.warn('sqpyte: %s is older than the engine, so the engine is loaded, without a VM; run `make vm`'
                          % with_vm, RuntimeWarning, stacklevel=2)
        return engine
    raise ImportError("sqpyte's library isn't built: neither %s nor %s exists; `make` builds them, or "
                      'SQPYTE_LIBRARY names one' % (with_vm, engine))


def check():
    """Raise ImportError if there is no library where `found` says that it is."""
    if not os.path.exists(found()):
        fail(found(), 'there is no such file')


def fail(path, reason):
    """Raise the ImportError for a library that can't be used."""
    if os.environ.get('SQPYTE_LIBRARY'):
        remedy = 'SQPYTE_LIBRARY names it: correct that, or take it out of the environment'
    elif INSTALLED and not os.path.isdir(ROOT):
        remedy = 'no library is loaded from an archive: unpack it'
    else:
        remedy = 'install sqpyte again' if INSTALLED else '`make` builds it anew'
    raise ImportError('sqpyte: %s can\'t be used: %s; %s' % (path, reason, remedy)) from None
