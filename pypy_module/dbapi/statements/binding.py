"""Binds parameters by packing them into a statement's buffer, for one C call to take over.

A parameter is a cell of two words (see c_engine/rows/fused.h). For each number of parameters there is a
function generated with one branch per parameter: a loop would be a trace of its own for PyPy's JIT,
entered anew for every execution. Where the types vary too much for that, there is a loop (variety.py). The function
takes values of plain types, whose packing runs no code of the user's; the rest goes the general way, adapters included.
"""


from types import MappingProxyType

from pypy_module.dbapi.adapters import PrepareProtocol, adapt, needs_adapter, registry
from pypy_module.dbapi.deprecation import warn
from pypy_module.dbapi import versions
from pypy_module.dbapi.statements import variety
from pypy_module.dbapi.errors import InterfaceError, ProgrammingError, c_name, out_of_range
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.code_cache import define
from pypy_module.ffi.library import bytes_of, ffi, lib, text

INTEGER, FLOAT, TEXT, BLOB, NULL = range(1, 6)
UNROLLED = 16  # most parameters that a generated function handles
LONGEST = 2 ** 31 - 1


class Arena:
    """A growing buffer in C memory for the texts and blobs of one execution."""

    def __init__(self):
        self.size = -1
        self.pointer = ffi.NULL
        self.view: Any = None

    def grow(self, size):
        """Make room for `size` bytes, keeping what is there."""
        if size > LONGEST:
            raise OverflowError('string longer than INT_MAX bytes')
        pointer = ffi.new('char[]', max(size, 2 * self.size, 256))
        if self.size > 0:
            ffi.memmove(pointer, self.pointer, self.size)
        self.pointer = pointer
        self.size = len(pointer)
        self.view = ffi.buffer(pointer)


def put_bytes(statement, data, offset):
    """Copy `data` to the arena at `offset`; return the offset behind it."""
    arena = statement.arena
    end = offset + len(data)
    if end > arena.size:
        arena.grow(end)
    arena.view[offset:end] = data
    return end


def pack_value(statement, position, value, offset, name=None):
    """Pack a parameter of any type, adapters included.

    Args:
        statement: the Statement.
        position: index of the parameter, from 0 (int).
        value: the parameter.
        offset: where the arena is free (int).
        name: of the parameter, with its colon (str), if it was given by name.
    Returns:
        where the arena is free afterwards (int).
    Raises:
        ProgrammingError, InterfaceError: the value's type can't be stored.
        OverflowError: it is too large.
    """
    if needs_adapter(value):
        value = adapt(value, PrepareProtocol, value)
    cells = statement.cells_in
    index = 2 * position
    if value is None:
        cells[index] = NULL
    elif issubclass(type(value), int):      # a subclass's value, whatever its __int__ and __class__ say
        cells[index] = INTEGER
        try:
            cells[index + 1] = int.__add__(value, 0)
        except OverflowError:
            raise out_of_range() from None
    elif issubclass(type(value), float):
        cells[index] = FLOAT
        statement.doubles_in[index + 1] = float.__mul__(value, 1.0)
    elif issubclass(type(value), str):
        data = str.encode(value)
        cells[index] = TEXT | len(data) << 3
        cells[index + 1] = offset
        offset = put_bytes(statement, data, offset)
    else:
        if type(value) is not bytes:
            value = blob_bytes(value, position, name)
        cells[index] = BLOB | len(value) << 3
        cells[index + 1] = offset
        offset = put_bytes(statement, value, offset)
    return offset


def blob_bytes(value, position, name=None):
    """Return the bytes of an object that exports a buffer; see `pack_value`."""
    problem: Any = None
    try:
        data = bytes_of(value)
    except TypeError:
        if versions.UNSUPPORTED_VALUE:
            problem = ProgrammingError("Error binding parameter %d: type '%s' is not supported"
                                       % (position + 1, c_name(type(value))))
        else:
            problem = InterfaceError('Error binding parameter %s - probably unsupported type.'
                                     % (position if name is None else name))
    except BufferError:
        if versions.BLOB_IN_PIECES:
            raise
        problem = ValueError('could not convert BLOB to buffer')
    if problem is not None:
        raise problem       # here, and it has no `__context__`
    if len(data) > LONGEST:
        raise OverflowError('BLOB longer than INT_MAX bytes')
    return data


def wrong_count(statement, count):
    """Return the exception for a wrong number of parameters."""
    return ProgrammingError('Incorrect number of bindings supplied. The current statement uses '
                            '%d, and there are %d supplied.' % (statement.parameters, count))


def pack_any(statement, parameters):
    """Pack all parameters, given as a tuple, a list, another sequence, or a dict for named ones.

    Raises:
        ProgrammingError: they don't fit the statement, or a value's type can't be stored.
    """
    offset = 0
    if isinstance(parameters, dict):
        for position in range(statement.parameters):
            name = statement.names[position] if statement.names else None
            if name is None:
                raise ProgrammingError('Binding %d has no name, but you supplied a dictionary '
                                       '(which has only names).' % (position + 1))
            try:
                value = parameters[name[1:]]
            except LookupError:
                if versions.NAMED_VALUE_MISSING:
                    message = 'You did not supply a value for binding parameter :%s.' % name[1:]
                else:
                    message = 'You did not supply a value for binding %d.' % (position + 1)
                raise ProgrammingError(message) from None
            offset = pack_value(statement, position, value, offset, ':' + name[1:])
        return
    if not hasattr(type(parameters), '__getitem__') or type(parameters) is MappingProxyType:
        refusal = ProgrammingError if versions.PARAMETERS_TYPE else ValueError
        raise refusal('parameters are of unsupported type')
    count = len(parameters)
    if count != statement.parameters:
        raise wrong_count(statement, count)
    for position in range(count):
        if not statement.nameless and statement.names[position] is not None \
                and not statement.names[position].startswith('?'):
            warn("Binding %d ('%s') is a named parameter, but you supplied a sequence which "
                 "requires nameless (qmark) placeholders. Starting with Python 3.14 an "
                 "sqlite3.ProgrammingError will be raised."
                 % (position + 1, statement.names[position]))
        offset = pack_value(statement, position, parameters[position], offset)


def parameter_names(pointer, count):
    """Return the names of a statement's parameters, with their prefixes (list of str or None)."""
    return [text(lib.sqlite3_bind_parameter_name(pointer, i + 1)) for i in range(count)]


def generate(count):
    """Return the source of the function that packs `count` positional parameters of plain types."""
    lines = [
        'def pack(statement, parameters):',
        '    kind = type(parameters)',
        '    if kind is not tuple and kind is not list:',
        '        return False',
        '    if len(parameters) != %d or not statement.nameless or not registry.plain:' % count,
        '        return False',
        '    cells = statement.cells_in',
        '    if cells[%d] > %d:' % (2 * count + 1, variety.MOST),
        '        return pack_in_loop(statement, parameters)',
        '    offset = kinds = 0']
    for i in range(count):
        tag, word = 2 * i, 2 * i + 1
        lines += [
            '    value = parameters[%d]' % i,
            '    kind = type(value)',
            '    if kind is int:',
            '        cells[%s] = 1' % tag,
            '        try:',
            '            cells[%s] = value' % word,
            '        except OverflowError:',
            '            return False',
            '    elif kind is float:',
            '        cells[%s] = 2' % tag,
            '        statement.doubles_in[%s] = value' % word,
            '        kinds += %d' % variety.weight(i, FLOAT),
            '    elif kind is str or kind is bytes:',
            '        if kind is str:',
            '            value = value.encode()',
            '            cells[%s] = 3 | len(value) << 3' % tag,
            '            kinds += %d' % variety.weight(i, TEXT),
            '        else:',
            '            cells[%s] = 4 | len(value) << 3' % tag,
            '            kinds += %d' % variety.weight(i, BLOB),
            '        cells[%s] = offset' % word,
            '        end = offset + len(value)',
            '        if end > statement.arena.size:',
            '            statement.arena.grow(end)',
            '        statement.arena.view[offset:end] = value',
            '        offset = end',
            '    elif value is None:',
            '        cells[%s] = 5' % tag,
            '        kinds += %d' % variety.weight(i, NULL),
            '    else:',
            '        return False']
    lines += ['    ' + line for line in variety.noting('cells[%d]' % (2 * count), 'cells[%d]' % (2 * count + 1))]
    return '\n'.join(lines + ['    return True']) + '\n'


def pack_in_loop(statement, parameters):
    """Pack positional parameters, as many as the statement has, for `pack`, whose paths would be too many."""
    cells = statement.cells_in
    offset = 0
    for position in range(len(parameters)):
        value = parameters[position]
        kind = type(value)
        if kind is int or kind is float or kind is str or kind is bytes:
            try:
                offset = pack_value(statement, position, value, offset)
            except OverflowError:
                return False
        elif value is None:
            cells[2 * position] = NULL
        else:
            return False
    return True


def refuse(statement, parameters):
    """Stand in for a generated function where there are too many parameters."""
    return False


_functions: dict = {}


def packer(count):
    """Return the function that packs `count` parameters if they are of plain types.

    It is called as `pack(statement, parameters)`, and returns whether it has; if not, `pack_any` is to do it.
    """
    if count > UNROLLED:
        return refuse
    function = _functions.get(count)
    if function is None:
        namespace = define(generate(count), 'pack_%d' % count, {'registry': registry, 'pack_in_loop': pack_in_loop},
                           keep=True)
        function = _functions[count] = namespace['pack']
    return function
