"""Rows from the buffer that a fused call has filled, as tuples.

For each number of columns there is a function generated with one branch per column (a loop would be
a trace of its own for PyPy's JIT). Other text factories and converters take the general way.
"""

from c_engine.generated import layout
from pypy_module.dbapi import versions
from pypy_module.ffi.code_cache import define
from pypy_module.ffi.library import NUMBERS, address_of, ffi, lib, text
from sqpyte.vm.base import mem

INTEGER, FLOAT, TEXT, BLOB, NULL = range(1, 6)
CELLS = NUMBERS['SQPYTE_ROW_CELLS']
CODECS = {layout.SQLITE_UTF16LE: 'utf-16-le', layout.SQLITE_UTF16BE: 'utf-16-be'}
UNROLLED = 50  # most columns that a generated function handles

unpack = ffi.unpack


def generate(count):
    """Return the source of the decoding function for rows of `count` columns."""
    lines = ['def decode(cells, doubles, texts):']
    for i in range(count):
        tag = CELLS + 2 * i
        lines += [
            '    t = cells[%d]' % tag,
            '    if t == 1:',
            '        v%d = cells[%d]' % (i, tag + 1),
            '    elif t == 2:',
            '        v%d = doubles[%d]' % (i, tag + 1),
            '    elif t == 5:',
            '        v%d = None' % i,
            '    elif t & 1:',
            '        v%d = unpack(texts[%d], t >> 3).decode()' % (i, tag + 1),
            '    else:',
            '        v%d = unpack(texts[%d], t >> 3)' % (i, tag + 1)]
    lines.append('    return (%s)' % ''.join('v%d, ' % i for i in range(count)))
    return '\n'.join(lines) + '\n'


def wide(count):
    """Return the decoding function for rows of `count` columns, as a loop."""
    def decode(cells, doubles, texts):
        return tuple([cell_value(cells, doubles, texts, i) for i in range(count)])
    return decode


def cell_value(cells, doubles, texts, i):
    """Return column `i` of the row in the buffer: int, float, str, bytes or None."""
    tag = CELLS + 2 * i
    kind = cells[tag] & 7
    if kind == INTEGER:
        return cells[tag + 1]
    if kind == FLOAT:
        return doubles[tag + 1]
    if kind == NULL:
        return None
    data = unpack(texts[tag + 1], cells[tag] >> 3)
    return data.decode() if kind == TEXT else data


_functions: dict = {}


def decoder(count):
    """Return the function that decodes rows of `count` columns with texts as str.

    It is called as `decode(cells, doubles, texts)`, three views of the row buffer, and raises
    UnicodeDecodeError for a text that isn't UTF-8.
    """
    function = _functions.get(count)
    if function is None:
        if count > UNROLLED:
            function = wide(count)
        else:
            function = define(generate(count), 'row_%d' % count, {'unpack': unpack},
                              keep=True)['decode']
        _functions[count] = function
    return function


def undecodable(statement):
    """Return sqlite3's message (str) for the first text of the present row that isn't UTF-8."""
    for i in range(statement.cells[1]):
        tag = CELLS + 2 * i
        if statement.cells[tag] & 7 == TEXT:
            data = unpack(statement.texts[tag + 1], statement.cells[tag] >> 3)
            try:
                data.decode()
            except UnicodeDecodeError:
                return undecodable_text(statement.pointer, i, data)
    return 'Could not decode to UTF-8'


def undecodable_text(pointer, column, data):
    """Return the same for the bytes `data` in a column (int) of the `sqlite3_stmt *`."""
    name = ffi.string(lib.sqlite3_column_name(pointer, column))
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


def convert(statement, text_factory, row_converters):
    """Return the present row as a tuple, with a text factory and converters: see `taken` and `converted`."""
    return converted(taken(statement, text_factory, row_converters))


def taken(statement, text_factory, row_converters):
    """Take the present row out of C memory, before user code, which may run the statement's connection.

    Args:
        statement: the Statement.
        text_factory: what makes a value of a text: `str`, or called with bytes.
        row_converters: per column a callable of bytes, or None (list), or None for no column.
    Returns:
        per column what makes its value, or None, and of what (list of pairs).
    """
    cells, doubles, texts = statement.cells, statement.doubles, statement.texts
    count = cells[1]
    raw: list = []
    for i in range(count):
        tag = CELLS + 2 * i
        kind = cells[tag] & 7
        converter = row_converters[i] if row_converters and i < len(row_converters) else None
        if converter is not None:
            if kind == NULL:
                value = None
            elif kind == TEXT or kind == BLOB:
                value = unpack(texts[tag + 1], cells[tag] >> 3)
                if kind == TEXT:
                    value = stored(statement, value)
            else:
                value = number_bytes(statement.pointer, i)
            value = value or None  # as in sqlite3: a converter never sees an empty value
            raw.append((converter, value))
        elif kind == TEXT:
            raw.append((text_maker(text_factory), unpack(texts[tag + 1], cells[tag] >> 3)))
        else:
            raw.append((None, cell_value(cells, doubles, texts, i)))
    return raw


def converted(raw):
    """Return what was `taken` as a row (tuple); raises NotUTF8 where a text isn't and the text factory is `str`."""
    return tuple([value if factory is None or value is None else factory(value) for factory, value in raw])


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


def stored(statement, data):
    """Return what a converter gets of a text, which is `data` in UTF-8: its bytes in the database."""
    if not versions.CONVERTER_ENCODING:
        return data
    db = mem.i64(address_of(statement.pointer) + layout.Vdbe_db)
    codec = CODECS.get(mem.u8(db + layout.sqlite3_enc))
    return data if codec is None else data.decode('utf-8', 'surrogatepass').encode(codec, 'surrogatepass')


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
