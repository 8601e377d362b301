"""A Python program in this interpreter, as `python PROGRAM` runs it.

It has a `__main__` of its own, which stays when the program has ended: threads and what is called at exit may still
look for its classes there. What it raises is shown without the frames of this command.
"""

import builtins
import importlib.machinery
import importlib.util
import os
import pkgutil
import sys
import types

# The modules whose frames come before a program's first, by the first part of their names.
BEFORE = {'importlib', '_frozen_importlib', '_frozen_importlib_external', 'zipimport', 'pkgutil'}


class Mistake(Exception):
    """There is no such program.

    Args:
        message: why not, as `python` says it (str).
        code: the exit code that `python` has then (int).
    """

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def look_first_in(folder, asked=False):
    """Have Python look for modules in a folder first, in place of this command's own.

    Args:
        folder: its path (str), or an archive's.
        asked: whether also if Python was told to look in no folder of a program's (bool), by -I or -P.
    """
    own = 0 if getattr(sys.flags, 'safe_path', sys.flags.isolated) else 1
    if own or asked:
        sys.path[:own] = [folder]


_kept = []      # modules


def new_main():
    """Put a new module `__main__` in the place of this command's; return it.

    The old one stays: CPython still uses its names, without a reference, when a program has ended with an exception.
    """
    _kept.append(sys.modules['__main__'])
    module = types.ModuleType('__main__')
    module.__dict__.update(__annotations__={}, __builtins__=builtins)
    sys.modules['__main__'] = module
    return module


def of_spec(spec):
    """Return the names (dict) that a module has which is run by its ModuleSpec."""
    return dict(__file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent,
                __spec__=spec)


def code_of(spec):
    """Return the code of the module that a ModuleSpec has found; raises Mistake if it has none."""
    if spec.loader is None:
        raise Mistake('%r is a namespace package and cannot be executed' % spec.name)
    try:
        code = spec.loader.get_code(spec.name)
    except ImportError as error:
        raise Mistake(str(error)) from error
    if code is None:
        raise Mistake('No code object available for %s' % spec.name)
    return code


def import_parent(name):
    """Import the package of a module (name, str), if it has one; one that isn't there is left to who looks for it."""
    parent = name.rpartition('.')[0]
    if not parent:
        return
    try:
        importlib.import_module(parent)
    except ImportError as error:
        if error.name is None or not (parent + '.').startswith(error.name + '.'):
            raise
    if name in sys.modules and not hasattr(sys.modules[name], '__path__'):
        import warnings
        warnings.warn('%r found in sys.modules after import of package %r, but prior to execution of %r; this may '
                      'result in unpredictable behaviour' % (name, parent, name), RuntimeWarning, stacklevel=2)


def find_module(name):
    """Return the ModuleSpec for `-m name` (str), of a package that of its `__main__`; raises Mistake."""
    if name.startswith('.'):
        raise Mistake('Relative module names not supported')
    import_parent(name)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        hint = ". Try using '%s' instead of '%s' as the module name." % (name[:-3], name)
        raise Mistake('Error while finding module specification for %r (%s: %s)%s' % (
            name, type(error).__name__, error, hint if name.endswith('.py') else '')) from error
    if spec is None:
        raise Mistake('No module named ' + name)
    if spec.submodule_search_locations is None:
        return spec
    if name.endswith('.__main__'):
        raise Mistake('Cannot use package as __main__ module')
    try:
        return find_module(name + '.__main__')
    except Mistake as mistake:
        if name not in sys.modules:
            raise
        raise Mistake('%s; %r is a package and cannot be directly executed' % (mistake, name)) from mistake


def load_module(arguments):
    """Return (code, names) for `-m`; see `load`."""
    sys.argv = ['-m'] + arguments[1:]
    look_first_in(os.getcwd())
    spec = find_module(arguments[0])
    code = code_of(spec)
    sys.argv[0] = spec.origin
    return code, of_spec(spec)


def load_command(arguments):
    """Return (code, names) for `-c`; see `load`."""
    sys.argv = ['-c'] + arguments[1:]
    look_first_in('')
    names = dict(__loader__=importlib.machinery.BuiltinImporter, __package__=None, __spec__=None)
    return compile(arguments[0], '<string>', 'exec', dont_inherit=True), names


def load_file(arguments):
    """Return (code, names) for a file, or a folder or an archive with a `__main__`; see `load`."""
    sys.argv = arguments
    # Not normalized: `link/..` may be elsewhere.
    path = os.path.join(os.getcwd(), arguments[0])
    if pkgutil.get_importer(path) is not None:
        look_first_in(path, asked=True)
        spec = importlib.machinery.PathFinder.find_spec('__main__', [path])
        if spec is None:
            raise Mistake("can't find '__main__' module in %r" % path)
        return code_of(spec), of_spec(spec)
    look_first_in(os.path.dirname(os.path.realpath(path)))
    loader = importlib.machinery.SourceFileLoader('__main__', path)
    try:
        data = loader.get_data(path)
    except OSError as error:
        raise Mistake("can't open file %r: [Errno %s] %s" % (path, error.errno, error.strerror), 2) from error
    names = dict(__file__=path, __cached__=None, __loader__=loader, __package__=None, __spec__=None)
    if path.endswith('.pyc') or data.startswith(importlib.util.MAGIC_NUMBER):
        compiled = importlib.machinery.SourcelessFileLoader('__main__', path)
        return compiled.get_code('__main__'), dict(names, __loader__=compiled)
    return loader.source_to_code(data, path), names


def load(arguments):
    """Find a program, and set sys.argv and sys.path for it.

    Args:
        arguments: those that `python` would be given (list of str).
    Returns:
        its code, and the names (dict) that its `__main__` begins with.
    Raises:
        Mistake: there is none.
        Exception: it can't be compiled, or a package that it is in raises this.
    """
    if arguments[0] == '-m':
        return load_module(arguments[1:])
    if arguments[0] == '-c':
        return load_command(arguments[1:])
    return load_file(arguments)


def frames_of_program(traceback):
    """Return the part of a traceback that begins with the program's first frame, or None: it has none."""
    while traceback is not None:
        name = traceback.tb_frame.f_globals.get('__name__') or ''
        if name != __name__ and name.partition('.')[0] not in BEFORE:
            break
        traceback = traceback.tb_next
    return traceback


def hide_frames_of_ours(error):
    """Have the interpreter show an exception that ends it as it would show it of a program without this command.

    It shows it by sys.excepthook, which the program may have set.
    """
    traceback, hook = frames_of_program(error.__traceback__), sys.excepthook

    def excepthook(kind, value, found):
        sys.excepthook = hook
        if value is error:
            found = sys.last_traceback = error.__traceback__ = traceback
        hook(kind, value, found)
    sys.excepthook = excepthook


def run(arguments, name):
    """Run a Python program, as `python ARGUMENT...` would.

    Args:
        arguments: see `load`.
        name: what this command is called, for its messages (str).
    Returns:
        the exit code (int).
    Raises:
        BaseException: what the program raises and doesn't catch; the interpreter then ends as it would without us.
    """
    module = new_main()
    try:
        try:
            code, names = load(arguments)
        except Mistake as mistake:
            print('%s: %s' % (name, mistake), file=sys.stderr)
            return mistake.code
        module.__dict__.update(names)
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        hide_frames_of_ours(error)
        raise
    return 0
