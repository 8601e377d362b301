"""Decoding of records: serial types, the offset of a column, its value.

The record format (https://www.sqlite.org/fileformat2.html#record_format) is a header of varint
serial types and a body.  The header's size and nearly all serial types take one byte, so a trace walks over
two columns with one look-up in a table.  A byte of 128 or more starts a longer varint: the tables
give it a size so large that the one bounds check at the end of `op_column` fails, so a trace needs no
check per column; `find_column` then does it with full varints.
"""
from sqpyte.vm.base import mem
from sqpyte.vm.base.jit import dont_look_inside
from sqpyte.vm.values.values import NULL, W_Int, W_Real, blob_at, row_origin, text_at

KIND_NULL, KIND_INT, KIND_REAL, KIND_TEXT, KIND_BLOB, KIND_OTHER = range(6)
POISON = 1 << 28        # the size of a serial type that takes more than one byte
MISSING = -2            # the record has fewer columns
UNUSUAL = -1            # leave the record to C


def size_of(serial_type):
    """Size in bytes of the value of a serial type."""
    if serial_type >= 12:
        return (serial_type - 12) >> 1
    return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][serial_type]


def kind_of(serial_type):
    """KIND_* of a serial type."""
    if serial_type >= 12:
        return KIND_TEXT if serial_type & 1 else KIND_BLOB
    return [KIND_NULL, KIND_INT, KIND_INT, KIND_INT, KIND_INT, KIND_INT, KIND_INT,
            KIND_REAL, KIND_INT, KIND_INT, KIND_OTHER, KIND_OTHER][serial_type]


def _size_entry(byte):
    return size_of(byte) if byte < 128 else POISON


def _pair_entry(word):
    return _size_entry(word & 0xFF) + _size_entry(word >> 8)


def _cell_entry(word):
    low = word & 0xFF
    high = word >> 8
    if low < 128:
        return low
    return ((low & 127) << 7) | high if high < 128 else UNUSUAL


# Size and kind by header byte.
size_entry = mem.make_table(_size_entry, 256)
kind_entry = mem.make_table(lambda byte: kind_of(byte) if byte < 128 else KIND_OTHER, 256)
# The size of two columns by their header bytes, read as one little-endian number.
pair_entry = mem.make_table(_pair_entry, 65536)
# The size of a cell's record by the cell's first two bytes, read in the same way: a varint of one or two
# bytes; UNUSUAL if it is longer.
cell_entry = mem.make_table(_cell_entry, 65536)
# How an integer is made of the 8 bytes that end with it, by serial type (1 to 6, 8 and 9): shifted left
# and right, masked, with the constants 0 and 1 put in. One trace for all of them.
_shift_entry = mem.make_table(lambda t: 64 - 8 * size_of(t) if size_of(t) else 0, 12)
_mask_entry = mem.make_table(lambda t: -1 if size_of(t) else 0, 12)
_constant_entry = mem.make_table(lambda t: int(t == 9), 12)


@dont_look_inside
def find_column(row, size, column):
    """Position and serial type of a column, from full varints.

    Args: row, the record's address; size, its bytes, all in memory; column, from 0.
    Returns: serial type << 32 | offset; or MISSING; or UNUSUAL for a record that is corrupt, or
        whose varints are longer than this function reads, or than they need be: upstream's comparisons
        don't read all of those.
    """
    if size == 0:
        return UNUSUAL
    header = mem.u8(row)
    at = 1
    if header >= 128:
        if size < 2 or mem.u8(row, 1) >= 128:
            return UNUSUAL
        header = ((header & 127) << 7) | mem.u8(row, 1)
        at = 2
    if header > size:
        return UNUSUAL
    offset = header
    i = 0
    while at < header:
        serial_type = mem.u8(row + at)
        at += 1
        if serial_type >= 128:
            if at >= header:
                return UNUSUAL
            low = mem.u8(row + at)
            at += 1
            serial_type = ((serial_type & 127) << 7) | (low & 127)
            if serial_type < 128:
                return UNUSUAL
            if low >= 128:
                if at >= header:
                    return UNUSUAL
                low = mem.u8(row + at)
                at += 1
                if low >= 128:
                    return UNUSUAL
                serial_type = (serial_type << 7) | low
        end = offset + size_of(serial_type)
        if end > size:
            return UNUSUAL
        if i == column:
            if at == header and end != size:
                return UNUSUAL
            return (serial_type << 32) | offset
        offset = end
        i += 1
    if offset != size:
        return UNUSUAL
    return MISSING


def value_of(kind, serial_type, row, start, end, cursor, careful, size, encoding):
    """The value of a column.

    Args: kind and serial_type of it; the record's address; where the value starts and ends in it;
        the cursor's number, for the origin of texts; careful, whether no more than the record, of
        `size` bytes, is known to be in the buffer: else the 8 before it are, too; the database's
        encoding.
    Returns: a W_Value, or None for serial types to leave to C.
    """
    if kind == KIND_INT:
        if not careful or end >= 8:
            return W_Int(int_before(row + end, serial_type))
        if start + 8 <= size and end != start:
            return W_Int(mem.big_endian_int_before_others(row + start, end - start))
        return W_Int(small_int(row + start, serial_type))
    if kind == KIND_REAL:
        r = mem.big_endian_real(row + start)
        if r != r:
            return NULL
        return W_Real(r)
    if kind == KIND_TEXT:
        return text_at(row + start, (serial_type - 13) >> 1, row_origin(cursor), encoding)
    if kind == KIND_NULL:
        return NULL
    if kind == KIND_BLOB:
        return blob_at(row + start, (serial_type - 12) >> 1, row_origin(cursor), encoding)
    return None


def int_before(end, serial_type):
    """The integer of that serial type which ends before the address `end`; of the types 8 and 9 it
    is 0 and 1. Reads 8 bytes: for the shortest types up to 8 before the integer's place."""
    value = mem.big_endian_before(end, _shift_entry(serial_type))
    return (value & _mask_entry(serial_type)) | _constant_entry(serial_type)


@dont_look_inside
def small_int(address, serial_type):
    """The integer of that serial type at address, byte by byte."""
    if serial_type >= 8:
        return serial_type - 8
    value = mem.u8(address)
    if value >= 128:
        value -= 256
    for i in range(1, size_of(serial_type)):
        value = (value << 8) | mem.u8(address + i)
    return value
