"""The VM's C helpers that write registers: what upstream's opcodes leave there."""
import cffi
import pytest
from c_engine.generated import layout

from tests.differential.sessions.capi import Connection, Library

ffi = cffi.FFI()
ffi.cdef("""
int sqpyte_concat(intptr_t, int64_t, int64_t, int64_t, int64_t);
int sqpyte_set_bytes(intptr_t, int64_t, int64_t, int);
int sqpyte_fold(intptr_t, int64_t, int64_t, int);
int sqpyte_make_record(intptr_t, intptr_t, int64_t, int);
""")
LENGTH = layout.SQLITE_LIMIT_LENGTH
TERMINATED = layout.MEM_Str | layout.MEM_Term


class Register:
    """A register of a statement that isn't running.

    Attributes: helpers, the library with the helpers; vdbe, address, those of the Vdbe and the Mem.
    """

    def __init__(self, path):
        self.connection = Connection(Library(path))
        self.statement = self.connection.prepare("SELECT 1 + ?")
        self.helpers = ffi.dlopen(path)
        self.vdbe = int(ffi.cast("intptr_t", self.statement.statement))
        self.address = ffi.cast("int64_t *", self.vdbe + layout.Vdbe_aMem)[0] + layout.sizeof_Mem
        self.kept = []

    def text(self, data):
        """The address and size of a copy of bytes."""
        self.kept.append(ffi.new("char[]", data))
        return int(ffi.cast("intptr_t", self.kept[-1])), len(data)

    def flags(self):
        """The Mem's flags, without those that say who owns its memory."""
        return ffi.cast("uint16_t *", self.address + layout.Mem_flags)[0] & 0x0fff

    def value(self, more=0):
        """The Mem's bytes, and so many behind them."""
        size = ffi.cast("int *", self.address + layout.Mem_n)[0]
        return ffi.buffer(ffi.cast("char **", self.address + layout.Mem_z)[0], size + more)[:]

    def limit(self, length):
        """Set SQLITE_LIMIT_LENGTH."""
        self.connection.c.sqlite3_limit(self.connection.db, LENGTH, length)

    def close(self):
        self.statement.finalize()
        self.connection.close()


@pytest.fixture
def register(engine_library):
    register = Register(engine_library)
    yield register
    register.close()


def test_texts_end_with_zero(register):
    for a, b in (b"ab", b"cde"), (b"", b""), (b"x" * 500, b"y" * 700), (b"\0", b"z"):
        assert register.helpers.sqpyte_concat(register.address, *register.text(a), *register.text(b)) == 0
        assert register.value(1) == a + b + b"\0" and register.flags() == TERMINATED
        assert register.helpers.sqpyte_set_bytes(register.address, *register.text(a), layout.SQLITE_UTF8) == 0
        assert register.value(1) == a + b"\0" and register.flags() == TERMINATED
        assert register.helpers.sqpyte_fold(register.address, *register.text(b), 1) == 0
        assert register.value(1) == b.upper() + b"\0" and register.flags() == TERMINATED
    form = layout.SQLITE_UTF8 | layout.SQPYTE_BLOB
    assert register.helpers.sqpyte_set_bytes(register.address, *register.text(b"blob"), form) == 0
    assert register.value() == b"blob" and register.flags() == layout.MEM_Blob


def test_what_lies_in_the_register_itself_may_be_concatenated(register):
    helpers = register.helpers
    expected = b"some text"
    assert helpers.sqpyte_set_bytes(register.address, *register.text(expected), layout.SQLITE_UTF8) == 0
    for _ in range(9):
        address = int(ffi.cast("intptr_t", ffi.cast("char **", register.address + layout.Mem_z)[0]))
        assert helpers.sqpyte_concat(register.address, address, len(expected),
                                     address + 2, len(expected) - 2) == 0
        expected += expected[2:]
        assert register.value(1) == expected + b"\0"


def test_a_value_that_the_register_has_may_be_longer_than_the_limit(register):
    register.limit(100)
    assert register.helpers.sqpyte_set_bytes(register.address, *register.text(b"x" * 200), layout.SQLITE_UTF8) == 0
    assert register.value() == b"x" * 200
    assert register.helpers.sqpyte_concat(
        register.address, *register.text(b"x" * 60), *register.text(b"y" * 41)) == layout.SQLITE_TOOBIG


def test_a_record_is_limited_where_the_register_has_no_room_for_it(register):
    def record(size):
        address, _ = register.text(b"z" * size)
        fields = ffi.new("int64_t[3]", [4, address, size])
        register.kept.append(fields)
        return register.helpers.sqpyte_make_record(
            register.vdbe, register.address, int(ffi.cast("intptr_t", fields)), 1)
    register.limit(3000)
    assert record(4000) == layout.SQLITE_TOOBIG
    register.limit(5000)
    assert record(4000) == 0
    register.limit(3000)
    assert record(3990) == 0 and len(register.value()) == 3993
    assert record(4500) == layout.SQLITE_TOOBIG
