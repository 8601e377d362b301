"""Generates the class of row batches (runtime/rows.py) for a number of columns: its `__next__`."""

from pypy_module.dbapi.statements import variety
from pypy_module.ffi.code_cache import define
from pypy_module.ffi.memory import BASE, CHARS, DOUBLES, WORDS, unpack
from pypy_module.inline.codegen import datum
from pypy_module.inline.codegen.emit import Source
from pypy_module.inline.runtime.rows import KNOWN, NEW, SIZES, SLOT_SHIFT, RowBatches, cell_at
from pypy_module.inline.runtime.trace import batch_ended, note

UNROLLED = 50           # most columns that a generated `__next__` handles one by one

_classes: dict = {}


def generate(count):
    """Return the source of `__next__` for rows of `count` columns."""
    source = Source()
    source.add('def __next__(self):')
    with source.block():
        source.add('self.inside = True',
                   'if WORDS[self.live] != self.stamp:',
                   '    return self.looked()',
                   'k = self.k',
                   'note(self.seen, 0, k)',
                   'texts = self.texts',
                   'try:')
        with source.block():
            _row(source, count)
        source.add('except UnicodeDecodeError:',
                   '    row = None',
                   'if row is None:',
                   '    return self.by_result_set()',
                   'self.k = k = k + %d' % (2 * count),
                   'self.inside = False',
                   'if k == self.end:',
                   '    batch_ended(self.seen, k - %d)' % (2 * count),
                   '    self.refill()',
                   'return row')
    return source.text()


def _row(source, count):
    """Emit the loading of a row of `count` columns."""
    loop = 'row = tuple([cell_at(k + 2 * n, texts) for n in range(%d)])' % count
    if count > UNROLLED:
        source.add(loop)
        return
    source.add('if self.varieties[1] > %d:' % variety.MOST,
               '    ' + loop,
               'else:')
    with source.block():
        _row_at_once(source, count)


def _row_at_once(source, count):
    """Emit the loading of a row of `count` columns, one by one."""
    source.add('kinds = 0')
    for i in range(count):
        slot = 'v%d = texts[t >> %d]' % (i, SLOT_SHIFT)
        datum.load(source, 'k', 2 * i, v='v%d' % i, text=datum.DECODED, column=i, further=[
            (KNOWN, [slot]),
            (NEW, ['x = WORDS[k + %d]' % (2 * i + 1),
                   '%s = unpack(CHARS + (x - BASE), t >> 3 & %d).decode()' % (slot, SIZES)])])
    source.add(*variety.noting('self.varieties[0]', 'self.varieties[1]'))
    source.add('row = (%s)' % ''.join('v%d, ' % i for i in range(count)))


def class_for(count):
    """Return the subclass of RowBatches for rows of `count` columns."""
    made = _classes.get(count)
    if made is None:
        names = define(generate(count), 'rows_%d' % count, {
            'WORDS': WORDS, 'DOUBLES': DOUBLES, 'CHARS': CHARS, 'BASE': BASE, 'unpack': unpack,
            'cell_at': cell_at, 'note': note, 'batch_ended': batch_ended})
        made = _classes[count] = type('RowBatches%d' % count, (RowBatches,), {
            '__next__': names['__next__'], 'stride': 2 * count})
    return made
