"""Rows from the buffer that a fused call has filled, as tuples.

Values are read by the functions of cell_values.py. With another text factory, or converters, there are two: one takes
the row's values, the other makes of them what the program is given.
"""

from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.statements import cell_values, variety
from pypy_module.dbapi.statements.cell_values import BLOB, FLOAT, NULL, TEXT, unpack
from pypy_module.ffi.code_cache import define
from pypy_module.ffi.library import NUMBERS, address_of, ffi, lib, text

CELLS, KINDS, VARIETY = [NUMBERS['SQPYTE_ROW_' + name] for name in ('CELLS', 'KINDS', 'VARIETY')]
UNROLLED = 50  # most columns that a generated function handles

_functions: dict = {}


def decoder(count):
    """Return the function that decodes rows of `count` columns with texts as str.

    It is called as `decode(cells, doubles, texts)`, three views of the row buffer, and raises
    UnicodeDecodeError for a text that isn't UTF-8.
    """
    function = _functions.get(count)
    if function is None:
        function = (cell_values.loop(count, CELLS) if count > UNROLLED
                    else cell_values.reader('row', count, CELLS, KINDS, VARIETY))
        _functions[count] = function
    return function


def decoded(statement):
    """Return the row in a Statement's buffer (tuple), or None if a text isn't UTF-8. No exception is being handled
    when that is told of: sqlite3's error has none as its context."""
    try:
        return statement.decode(statement.cells, statement.doubles, statement.texts)
    except UnicodeDecodeError:
        return None


def converted(session, statement, make, raw, columns):
    """Return the row (tuple) of what `taken` has returned, `make` and `raw`; raises what factories and converters
    raise, or OperationalError if a text isn't UTF-8. `columns`: the Columns of then."""
    try:
        return session.outside_lock(make, raw)
    except NotUTF8:
        pass
    raise errors.OperationalError(undecodable_taken(statement, raw, columns))


def undecodable(statement):
    """Return sqlite3's message (str) for the first text of the present row that isn't UTF-8; it has no converters."""
    return undecodable_taken(statement, taken(statement, str, None)[1], statement.description)


def undecodable_taken(statement, raw, columns):
    """Return the same for what `taken` returned second, with the Columns of then. A converter may have closed the
    connection since, or run the statement anew."""
    flat = [item for pair in raw for item in pair] if type(raw) is list else raw
    for i in range(0, len(flat), 2):
        if flat[i] is made_str:
            try:
                flat[i + 1].decode()
            except UnicodeDecodeError:
                name = statement.pointer and lib.sqlite3_column_name(statement.pointer, i // 2)
                return undecodable_text(ffi.string(name) if name else columns.names()[i // 2].encode(), flat[i + 1])
    return 'Could not decode to UTF-8'


def undecodable_text(name, data):
    """Return the same for the text `data` in a column called `name` (bytes)."""
    message = (b"Could not decode to UTF-8 column '" + name + b"' with text '"
               + data.partition(b'\0')[0] + b"'")
    return message[:198].decode('ascii', 'replace')


class Undecodable:
    """A row, decoded by `execute`, with a text that isn't UTF-8.

    Attributes:
        message: of the error that fetching it raises (str).
        values: the row (tuple), with such texts decoded by `surrogateescape`.
    """

    def __init__(self, message, values):
        self.message = message
        self.values = values

    @classmethod
    def of(cls, statement):
        """The present row of a statement."""
        return cls(undecodable(statement), convert(
            statement, lambda data: data.decode('utf-8', 'surrogateescape'), None))


def convert(statement, text_factory, converters):
    """Return the present row as a tuple, with a text factory and converters: see `taken`."""
    make, raw = taken(statement, text_factory, converters)
    return make(raw)


def taken(statement, text_factory, converters):
    """Take the present row out of C memory, before user code, which may run the statement's connection.

    Args:
        statement: the Statement.
        text_factory: what makes a value of a text: `str`, or called with bytes.
        converters: per column a callable of bytes, or None (list), or None for no column.
    Returns:
        what makes the row, a tuple, when it is called with what is returned second. It raises NotUTF8 where a text
        isn't and the text factory is `str`.
    """
    count = statement.cells[1]
    functions = _raw_functions.get(count)
    if functions is None:
        functions = _raw_functions[count] = raw_functions(count)
    take, make, no_converters = functions
    return make, take(statement, statement.cells, statement.doubles, statement.texts, text_maker(text_factory),
                      converters or no_converters)


def generate_raw(count):
    """Return the source of the functions that take and make rows of `count` columns.

    A row that was taken has two items for each column: what makes its value, or None, and of what.
    """
    # 20 000 rows of four columns, one with a converter, take 28 ms in a program's first run, and 3.6 ms later; with
    # loops over the columns, each a trace of its own, they took 39 and 6.7 ms.
    lines = ['def take(statement, cells, doubles, texts, text, converters):',
             '    if cells[%d] > %d:' % (VARIETY, variety.MOST),
             '        return varied(statement, cells, doubles, texts, text, converters)',
             '    kinds = 0']
    for i in range(count):
        tag = CELLS + 2 * i
        lines += [
            '    f%d = None' % i,
            '    t = cells[%d]' % tag,
            '    if t == 5:',
            '        v%d = None' % i,
            '        kinds += %d' % variety.weight(i, NULL),
            '    elif converters[%d] is not None:' % i,
            '        v%d = converter_bytes(statement, %d)' % (i, i),
            '        if v%d:' % i,
            '            f%d = converters[%d]' % (i, i),
            '        else:',
            '            v%d = None' % i,
            '    elif t == 1:',
            '        v%d = cells[%d]' % (i, tag + 1),
            '    elif t == 2:',
            '        v%d = doubles[%d]' % (i, tag + 1),
            '        kinds += %d' % variety.weight(i, FLOAT),
            '    else:',
            '        v%d = unpack(texts[%d], t >> 3)' % (i, tag + 1),
            '        kinds += %d' % variety.weight(i, BLOB),
            '        if t & 1:',
            '            f%d = text' % i,
            '            kinds += %d' % variety.weight(i, TEXT)]
    lines += ['    ' + line for line in variety.noting('cells[%d]' % KINDS, 'cells[%d]' % VARIETY)]
    lines += [
        '    return (%s)' % ''.join(['f%d, v%d, ' % (i, i) for i in range(count)]),
        'def make(raw):',
        '    if type(raw) is list:',
        '        return made(raw)',
        '    %s = raw' % ', '.join(['f%d, v%d' % (i, i) for i in range(count)]),
        '    return (%s)' % ''.join(['v%d if f%d is None else f%d(v%d), ' % (i, i, i, i) for i in range(count)])]
    return '\n'.join(lines) + '\n'


def wide_take(count):
    """Return the function that takes rows of `count` columns, as a loop, for `made`."""
    def take(statement, cells, doubles, texts, text, converters):
        raw: list = []
        for i in range(count):
            tag = CELLS + 2 * i
            kind = cells[tag] & 7
            if kind != NULL and converters[i] is not None:
                value = converter_bytes(statement, i)
                raw.append((converters[i], value) if value else (None, None))
            elif kind == TEXT:
                raw.append((text, unpack(texts[tag + 1], cells[tag] >> 3)))
            else:
                raw.append((None, cell_values.value(cells, doubles, texts, tag)))
        return raw
    return take


def made(raw):
    """Return the row (tuple) of pairs of what makes a column's value, or None, and of what (list)."""
    return tuple([value if factory is None else factory(value) for factory, value in raw])


_raw_functions: dict = {}


def raw_functions(count):
    """Return the functions that take and make rows of `count` columns, and converters for no column (list)."""
    if count > UNROLLED:
        take, make = wide_take(count), made
    else:
        functions = define(generate_raw(count), 'raw_%d' % count, {
            'unpack': unpack, 'converter_bytes': converter_bytes, 'varied': wide_take(count), 'made': made}, keep=True)
        take, make = functions['take'], functions['make']
    return take, make, [None] * count


def converter_bytes(statement, i):
    """Return what the converter of column `i`, which isn't NULL, gets (bytes); as in sqlite3, it isn't called if they
    are empty."""
    tag = CELLS + 2 * i
    kind = statement.cells[tag] & 7
    if kind != TEXT and kind != BLOB:
        return number_bytes(statement.pointer, i)
    data = unpack(statement.texts[tag + 1], statement.cells[tag] >> 3)
    if kind == TEXT and statement.codec is not None:
        return data.decode('utf-8', 'surrogatepass').encode(statement.codec, 'surrogatepass')
    return data


class NotUTF8(Exception):
    """A text isn't UTF-8."""


def text_maker(factory):
    """Return what makes a value of a text's bytes, for a text factory: a callable of bytes."""
    return made_str if factory is str else called if factory is None else factory


def made_str(data):
    """Stand in for a text factory that is `str`, which a converter may be, too."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise NotUTF8 from None


def called(data):
    """Stand in for a text factory that is None: what calling it raises."""
    raise TypeError("'NoneType' object is not callable")


def converters_codec(pointer):
    """Return the codec (str) of the texts that converters get from a `sqlite3_stmt *`, or None for UTF-8: that of the
    database."""
    if not versions.CONVERTER_ENCODING:
        return None
    # Few programs have converters, and each would wait for these: 5 ms of an import's 33.
    from c_engine.generated import layout
    from sqpyte.vm.base import mem
    encoding = mem.u8(mem.i64(address_of(pointer) + layout.Vdbe_db) + layout.sqlite3_enc)
    return {layout.SQLITE_UTF16LE: 'utf-16-le', layout.SQLITE_UTF16BE: 'utf-16-be'}.get(encoding)


def number_bytes(pointer, i):
    """Return the bytes of column `i`, which SQLite converts from a number to text."""
    data = lib.sqlite3_column_blob(pointer, i)
    size = lib.sqlite3_column_bytes(pointer, i)
    return unpack(ffi.cast('char *', data), size)


def column_names(pointer, without_type):
    """Return the names of a statement's columns (list of str).

    Args:
        pointer: the `sqlite3_stmt *`.
        without_type: cut a type in brackets off, as in 'point [Point]' (bool).
    """
    names = []
    for i in range(lib.sqlite3_column_count(pointer)):
        name = text(lib.sqlite3_column_name(pointer, i))
        if without_type:
            bracket = name.find('[')
            if bracket >= 0:
                name = name[:bracket - 1 if name[bracket - 1:bracket] == ' ' else bracket]
        names.append(name)
    return names
