"""Decoding of records: every serial type, truncated and multi-byte headers, against stock."""
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c_engine.generated.layout import SQLITE_UTF8
from sqpyte.vm.base import mem
from sqpyte.vm.values import record
from sqpyte.vm.values.values import W_Blob, W_Int, W_Null, W_Real, W_Text

VALUES = st.one_of(
    st.none(), st.integers(-2**63, 2**63 - 1), st.integers(-300, 300),
    st.floats(allow_nan=False), st.text(max_size=90), st.binary(max_size=90))


def varint(n):
    out = [n & 127]
    while n >= 128:
        n >>= 7
        out.insert(0, n & 127 | 128)
    return bytes(out)


def encode(values):
    """The record of values as the file format's documentation describes it."""
    types, body = b'', b''
    for value in values:
        if value is None:
            types += varint(0)
        elif isinstance(value, int):
            if value in (0, 1):
                types += varint(8 + value)
            else:
                sizes = [1, 2, 3, 4, 6, 8]
                size = next(size for size in sizes
                            if -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1)
                types += varint(1 + sizes.index(size))
                body += value.to_bytes(size, 'big', signed=True)
        elif isinstance(value, float):
            types += varint(7)
            body += struct.pack('>d', value)
        elif isinstance(value, str):
            types += varint(13 + 2 * len(value.encode()))
            body += value.encode()
        else:
            types += varint(12 + 2 * len(value))
            body += value
    size = len(types) + 1
    if size > 127:
        size += 1
    return varint(size) + types + body


def unwrap(w):
    if isinstance(w, W_Null):
        return None
    if isinstance(w, W_Int):
        return w.intval
    if isinstance(w, W_Real):
        return w.floatval
    data = mem.copy_bytes(w.address, w.size)
    return data.decode() if isinstance(w, W_Text) else data


@given(st.lists(VALUES, min_size=1, max_size=80))
def test_every_column_is_found(values):
    data = encode(values)
    address = mem.immortal_bytes(data)
    for column, expected in enumerate(values):
        found = record.find_column(address, len(data), column)
        assert found >= 0
        serial_type = found >> 32
        offset = found & 0xFFFFFFFF
        w = record.value_of(record.kind_of(serial_type), serial_type, address, offset,
                            offset + record.size_of(serial_type), 0, True, len(data), SQLITE_UTF8)
        assert (type(unwrap(w)), unwrap(w)) == (type(expected), expected)
        assert isinstance(w, W_Blob) == isinstance(expected, bytes)
    assert record.find_column(address, len(data), len(values)) == record.MISSING
    mem.free(address)


@given(st.binary(min_size=1, max_size=60), st.integers(0, 12))
def test_any_bytes_stay_within_the_record(data, column):
    address = mem.immortal_bytes(data)
    found = record.find_column(address, len(data), column)
    if found >= 0:
        serial_type, offset = found >> 32, found & 0xFFFFFFFF
        assert offset + record.size_of(serial_type) <= len(data)
    else:
        assert found in (record.MISSING, record.UNUSUAL)
    mem.free(address)


@pytest.mark.parametrize('types, body', [
    (b'\x01', 1), (b'\x81\x09', 62), (b'\x81\x80\x00', 8186),
    (b'\x80\x01', 1), (b'\x80\x80\x01', 1), (b'\x80\x81\x09', 62)])
def test_types_of_more_bytes_than_they_need_are_unusual(types, body):
    """Upstream's comparisons take their first byte for the type."""
    data = bytes([1 + len(types)]) + types + bytes(body)
    address = mem.immortal_bytes(data)
    found = record.find_column(address, len(data), 0)
    if types[0] == 0x80:
        assert found == record.UNUSUAL
    else:
        assert found & 0xFFFFFFFF == 1 + len(types) and record.size_of(found >> 32) == body
    mem.free(address)


def test_nan_is_null():
    address = mem.immortal_bytes(struct.pack('>d', float('nan')))
    assert isinstance(record.value_of(record.KIND_REAL, 7, address, 0, 8, 0, True, 8, SQLITE_UTF8),
                      W_Null)
    mem.free(address)
