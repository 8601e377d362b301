"""Heads of cells: sizes and rowids in one word, and byte by byte, beside a plain decoder."""
import random

import pytest

from sqpyte.vm.base import mem
from sqpyte.vm.values import cell, record


def varint(n):
    """The varint (bytes) of an integer of up to 64 bits."""
    n &= (1 << 64) - 1
    if n >> 56:
        return bytes([((n >> (8 + 7 * i)) & 127) | 128 for i in reversed(range(8))] + [n & 255])
    groups = [n & 127]
    while n >> 7:
        n >>= 7
        groups.append((n & 127) | 128)
    return bytes(reversed(groups))


SIZES = [0, 1, 5, 100, 127, 128, 129, 200, 255, 256, 4000, 16383]
ROWIDS = [0, 1, 127, 128, 16383, 16384, 2**21 - 1, 2**21, 2**28 - 1, 2**28, 2**35 - 1, 2**35, 2**50,
          2**56 - 1, 2**56, 2**63 - 1, -1, -2**63]


def place(data):
    """The address of the bytes with eight of noise after them, and where those begin."""
    address = mem.immortal_bytes(data + bytes(random.Random(len(data)).choices(range(256), k=8)))
    return address, address + len(data)


@pytest.mark.parametrize('size', SIZES)
def test_heads_of_table_cells(size):
    for rowid in ROWIDS:
        head = varint(size) + varint(rowid)
        at, after = place(head)
        word = mem.i64(at)
        found = cell.size_of_head(word, 1)
        assert found == (len(head) if len(head) <= 7 else 0)
        assert cell.size_of_record(word) == size
        assert cell.head_by_bytes(at, after + 1, 1) == (len(head) << 16 | size)
        assert cell.head_by_bytes(at, after, 1) == cell.UNUSUAL      # nothing left for the record's header
        for short in range(len(head)):
            assert cell.head_by_bytes(at, at + short, 1) == cell.UNUSUAL
        small = rowid if 0 <= rowid < 2**28 else cell.UNUSUAL
        assert cell.rowid_of_head(word) == small
        usual = rowid if 0 <= rowid < 2**56 else cell.UNUSUAL
        assert cell.rowid_by_bytes(at, after) == usual
        assert cell.rowid_by_bytes(at, after - 1) == cell.UNUSUAL


@pytest.mark.parametrize('size', SIZES)
def test_heads_of_index_cells(size):
    head = varint(size)
    at, after = place(head)
    assert cell.size_of_head(mem.i64(at), 0) == len(head)
    assert cell.head_by_bytes(at, max(after, at + 2), 0) in (len(head) << 16 | size, cell.UNUSUAL)
    assert cell.head_by_bytes(at, after + 1, 0) == (len(head) << 16 | size)


def test_sizes_of_more_than_two_bytes_are_left_to_c():
    for size in (16384, 2**21, 2**31, -1):
        at, after = place(varint(size) + varint(1))
        assert cell.size_of_record(mem.i64(at)) == cell.UNUSUAL
        assert cell.head_by_bytes(at, after + 1, 1) == cell.UNUSUAL


def test_two_columns_at_once_are_as_large_as_one_and_one():
    for low in range(256):
        for high in range(256):
            assert record.pair_entry(low | high << 8) == record.size_entry(low) + record.size_entry(high)
