"""The head of a cell on a B-tree's leaf page: the record's size and, in a table, the rowid.

Both are varints (https://www.sqlite.org/fileformat2.html#b_tree_pages).  A cell's first eight bytes are
read as one word, in which the bytes that end a varint are those without their highest bit.
`size_of_head` and `rowid_of_head` count and shift, without a branch: rowids of all lengths come in a join,
and sizes of one and two bytes in a scan.  What isn't found within that word is read byte by byte, by
functions that traces call: the last cells of a page, rowids from 2**28 on, and negative ones.
"""
from sqpyte.vm.base import mem
from sqpyte.vm.base.jit import dont_look_inside
from sqpyte.vm.values import record

WORD = 8                            # bytes that are read at once
_HIGH_BITS = 0x0080808080808080     # of all bytes but the last: no varint that is used here ends with it
UNUSUAL = -1                        # leave the cell to C


def size_of_head(word, table):
    """Bytes before the record in a cell that begins with the word; 0 if it isn't seen in it. `table`
    says whether there is a rowid (int)."""
    ends = ~word & _HIGH_BITS
    if table:
        ends &= ends - 1
    return mem.first_high_byte(ends)


def size_of_record(word):
    """Bytes of the record in a cell that begins with the word; UNUSUAL if that takes more than two
    bytes to say."""
    return record.cell_entry(word & 0xFFFF)


def rowid_of_head(word):
    """The rowid in a table's cell that begins with the word; UNUSUAL if it takes more than four
    bytes."""
    ends = ~word & _HIGH_BITS
    before = mem.first_high_byte(ends)
    size = mem.first_high_byte(ends & (ends - 1)) - before
    if size <= 0 or size > 4:
        return UNUSUAL
    word >>= 8 * before
    bits = (((word & 127) << 21) | ((word & 0x7F00) << 6) | ((word & 0x7F0000) >> 9)
            | ((word >> 24) & 127))
    return bits >> (28 - 7 * size)


def _after_varint(at, end):
    """The address after the varint at `at`, or 0 if it passes end (9 bytes at most)."""
    i = 0
    while at < end:
        i += 1
        at += 1
        if i == 9 or mem.u8(at, -1) < 128:
            return at
    return 0


@dont_look_inside
def head_by_bytes(at, end, table):
    """The cell at `at` of a page whose cells end at `end`: the bytes before its record << 16 | the
    record's size; or UNUSUAL."""
    if at + 2 > end:
        return UNUSUAL
    size = record.cell_entry(mem.u8(at) | (mem.u8(at, 1) << 8))
    if size < 0:
        return UNUSUAL
    start = at
    at += 1 if mem.u8(at) < 128 else 2
    if table:
        at = _after_varint(at, end)
    if at == 0 or at >= end:
        return UNUSUAL
    return ((at - start) << 16) | size


@dont_look_inside
def rowid_by_bytes(at, end):
    """The rowid in the table's cell at `at` of a page whose cells end at `end`; UNUSUAL if it takes nine
    bytes: a negative one, or a huge one."""
    at = _after_varint(at, end)
    if at == 0:
        return UNUSUAL
    rowid = 0
    i = 0
    while i < 8:
        if at >= end:
            return UNUSUAL
        byte = mem.u8(at)
        rowid = (rowid << 7) | (byte & 127)
        if byte < 128:
            return rowid
        at += 1
        i += 1
    return UNUSUAL
