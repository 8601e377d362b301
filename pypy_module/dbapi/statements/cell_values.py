"""Values from the cells that C has filled (c_engine/rows/fused.h), as tuples: of rows, and of functions' arguments.

For each number of values there is a function generated with one branch per value (a loop would be a trace of its own
for PyPy's JIT). Where the types vary too much for that, there is a loop (variety.py).
"""

from pypy_module.dbapi.statements import variety
from pypy_module.ffi.code_cache import define
from pypy_module.ffi.library import ffi

INTEGER, FLOAT, TEXT, BLOB, NULL = range(1, 6)

unpack = ffi.unpack


def generate(count, first, kinds, varieties):
    """Return the source of `read`; arguments as of `reader`, with indexes of cells for `kinds` and `varieties`."""
    lines = ['def read(cells, doubles, texts):',
             '    if cells[%d] > %d:' % (varieties, variety.MOST),
             '        return varied(cells, doubles, texts)',
             '    kinds = 0']
    for i in range(count):
        tag = first + 2 * i
        lines += [
            '    t = cells[%d]' % tag,
            '    if t == 1:',
            '        v%d = cells[%d]' % (i, tag + 1),
            '    elif t == 2:',
            '        v%d = doubles[%d]' % (i, tag + 1),
            '        kinds += %d' % variety.weight(i, FLOAT),
            '    elif t == 5:',
            '        v%d = None' % i,
            '        kinds += %d' % variety.weight(i, NULL),
            '    elif t & 1:',
            '        v%d = unpack(texts[%d], t >> 3).decode()' % (i, tag + 1),
            '        kinds += %d' % variety.weight(i, TEXT),
            '    else:',
            '        v%d = unpack(texts[%d], t >> 3)' % (i, tag + 1),
            '        kinds += %d' % variety.weight(i, BLOB)]
    lines += ['    ' + line for line in variety.noting('cells[%d]' % kinds, 'cells[%d]' % varieties)]
    lines.append('    return (%s)' % ''.join('v%d, ' % i for i in range(count)))
    return '\n'.join(lines) + '\n'


def value(cells, doubles, texts, tag):
    """Return the value whose tag is the cell of an index (int): int, float, str, bytes or None."""
    kind = cells[tag] & 7
    if kind == INTEGER:
        return cells[tag + 1]
    if kind == FLOAT:
        return doubles[tag + 1]
    if kind == NULL:
        return None
    data = unpack(texts[tag + 1], cells[tag] >> 3)
    return data.decode() if kind == TEXT else data


def loop(count, first):
    """Return the function that `reader` has, as a loop."""
    def read(cells, doubles, texts):
        return tuple([value(cells, doubles, texts, tag) for tag in range(first, first + 2 * count, 2)])
    return read


def reader(title, count, first, kinds, varieties):
    """Return a function of three views of a buffer (cells, doubles and texts), which returns its values (tuple).

    It raises UnicodeDecodeError for a text that isn't UTF-8.

    Args:
        title: what tracebacks call it, without the number of values (str).
        count: how many values there are (int).
        first: index of the first one's tag (int).
        kinds: index of the cell of the kinds that it has seen (int); see variety.py.
        varieties: of how many there are (int).
    """
    return define(generate(count, first, kinds, varieties), '%s_%d' % (title, count),
                  {'unpack': unpack, 'varied': loop(count, first)}, keep=True)['read']
