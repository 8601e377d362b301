"""Generates the loading and storing of datums (c_engine/rows/datum.h): the one way from a buffer to Python's values."""

from pypy_module.dbapi.statements import variety
from pypy_module.inline.values import BLOB, FLOAT, INTEGER, NULL_TYPE, TEXT
from sqpyte.vm.values.values import CONSTANT

# A text of a page or of a buffer, or UNDECODABLE.
TEXT_AT = 'text_at(x - BASE, t >> 3)'
# The same where the code around expects a UnicodeDecodeError.
DECODED = 'unpack(CHARS + (x - BASE), t >> 3).decode()'
BYTES = 'unpack(CHARS + (x - BASE), t >> 3)'


def load(source, base, offset, v=None, w=None, origin=CONSTANT, text=TEXT_AT, undecodable=(), further=(), column=None):
    """Emit the loading of the datum at WORDS[base + offset].

    Args:
        source: the Source.
        base: name of a variable (str); offset: int.
        v: name of the variable for Python's value (str), or None.
        w: name of the variable for the W_Value, or None.
        origin: of a W_Text or W_Blob (int): whether it is kept as it is.
        text: expression of a text's Python value; its bytes are at `x`, the tag is `t`.
        undecodable: lines for a value that is UNDECODABLE.
        further: more types: (number, lines that set `v`), all of texts.
        column: index in the row (int), for its part of what variety.py notes, or None.
    """
    tag = '%s + %d' % (base, offset) if offset else base
    word, real = '%s[%s + %d]' % ('WORDS', base, offset + 1), '%s[%s + %d]' % ('DOUBLES', base, offset + 1)
    view = '(x, t >> 3, %d)' % origin
    source.add('t = WORDS[%s]' % tag)
    keyword = 'if'
    for kind, of_v, of_w in [(INTEGER, word, 'W_Int(%s)' % word),
                             (FLOAT, real, 'W_Real(%s)' % real),
                             (NULL_TYPE, 'None', 'NULL')]:
        source.add('%s t == %d:' % (keyword, kind))
        with source.block():
            _set(source, v, of_v, w, of_w)
            _weigh(source, column, kind)
        keyword = 'elif'
    source.add('elif t & 7 == %d:' % TEXT)
    with source.block():
        source.add('x = ' + word)
        _set(source, v, text, w, 'W_Text' + view)
        _weigh(source, column, TEXT)
        if v and undecodable:
            source.add('if %s is UNDECODABLE:' % v, *['    ' + line for line in undecodable])
    for number, lines in further:
        source.add('elif t & 7 == %d:' % number)
        with source.block():
            source.add(*lines)
            _weigh(source, column, TEXT)
    source.add('else:')
    with source.block():
        source.add('x = ' + word)
        _set(source, v, BYTES, w, 'W_Blob' + view)
        _weigh(source, column, BLOB)


def _weigh(source, column, kind):
    """Emit what a value of a type (int) adds to its row's kind, if `column` is an index."""
    if column is not None and kind != INTEGER:
        source.add('kinds += %d' % variety.weight(column, kind))


def store(source, place, x):
    """Emit the storing of a Python value as a datum; texts and blobs by `self.keep(place, x)`.

    Args:
        source: the Source.
        place: expression of an index of WORDS (str).
        x: name of the variable with the value (str).
    """
    source.add('kind = type(%s)' % x,
               'if kind is int:',
               '    WORDS[%s] = %d' % (place, INTEGER),
               '    WORDS[%s + 1] = %s' % (place, x),
               'elif kind is float:',
               '    WORDS[%s] = %d' % (place, FLOAT),
               '    DOUBLES[%s + 1] = %s' % (place, x),
               'elif %s is None:' % x,
               '    WORDS[%s] = %d' % (place, NULL_TYPE),
               'else:',
               '    self.keep(%s, %s)' % (place, x))


def _set(source, v, of_v, w, of_w):
    """Emit the setting of the variables that there are; see `load`."""
    if v:
        source.add('%s = %s' % (v, of_v))
    if w:
        source.add('%s = %s' % (w, of_w))
