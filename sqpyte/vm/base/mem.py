"""Raw memory at integer addresses: one set of loads and stores for every host.

Translated by RPython these are rffi casts, which the JIT turns into single loads.  As plain
Python (tests on CPython, the inliner on PyPy) they are cffi pointers, which PyPy's JIT turns
into single loads as well.  An address is an int; sizes are in bytes.
"""
try:
    from rpython.rtyper.lltypesystem import lltype, rffi
    from rpython.rtyper.lltypesystem.lloperation import llop
    from rpython.rlib.longlong2float import longlong2float, float2longlong
    from rpython.rlib.rarithmetic import r_uint, intmask
    TRANSLATED_HOST = True
except ImportError:
    TRANSLATED_HOST = False

# Four bits for each byte of a word but the last: its number. Multiplied with a word's lowest bit, that of
# its byte comes to the top (mem.first_high_byte).
_BYTE_NUMBERS = sum((k + 1) << (53 - 8 * k) for k in range(7))

if TRANSLATED_HOST:
    from sqpyte.vm.base.byteswap import byteswap

    _BASE = rffi.CCHARP

    # Not rffi's casts to arrays: the JIT makes one instruction of a load at a base and a constant
    # offset, and of those an addition and a load.
    def u8(address, offset=0):
        return rffi.cast(lltype.Signed, llop.raw_load(rffi.UCHAR, rffi.cast(_BASE, address), offset))

    def u16(address, offset=0):
        return rffi.cast(lltype.Signed, llop.raw_load(rffi.USHORT, rffi.cast(_BASE, address), offset))

    def i32(address, offset=0):
        return rffi.cast(lltype.Signed, llop.raw_load(rffi.INT, rffi.cast(_BASE, address), offset))

    def i64(address, offset=0):
        return llop.raw_load(lltype.Signed, rffi.cast(_BASE, address), offset)

    def f64(address, offset=0):
        return llop.raw_load(lltype.Float, rffi.cast(_BASE, address), offset)

    def set_u8(address, offset, value):
        llop.raw_store(lltype.Void, rffi.cast(_BASE, address), offset, rffi.cast(rffi.UCHAR, value))

    def set_u16(address, offset, value):
        llop.raw_store(lltype.Void, rffi.cast(_BASE, address), offset, rffi.cast(rffi.USHORT, value))

    def set_i32(address, offset, value):
        llop.raw_store(lltype.Void, rffi.cast(_BASE, address), offset, rffi.cast(rffi.INT, value))

    def set_i64(address, offset, value):
        llop.raw_store(lltype.Void, rffi.cast(_BASE, address), offset, value)

    def set_f64(address, offset, value):
        llop.raw_store(lltype.Void, rffi.cast(_BASE, address), offset, value)

    def first_high_byte(bits):
        """See below; the product moves the number of the lowest bit's byte to the top."""
        return intmask((r_uint(bits & -bits) * r_uint(_BYTE_NUMBERS)) >> 60)

    def big_endian_before(end, shift):
        """The signed big-endian integer of the 8 bytes that end before `end`, without its upper
        `shift` bits."""
        return (byteswap(i64(end, -8)) << shift) >> shift

    def big_endian_int_before_others(address, size):
        """The signed big-endian integer of 1 to 8 bytes at address. Reads the 8 from there on."""
        return byteswap(i64(address)) >> (64 - 8 * size)

    def big_endian_real(address):
        """The big-endian IEEE double at address."""
        return longlong2float(byteswap(i64(address)))

    def real_bits(value):
        """The bits of a double, as a signed integer."""
        return float2longlong(value)

    def bits_real(value):
        """The double of the bits in a signed integer."""
        return longlong2float(value)

    def wrap(value):
        """The lower 64 bits of an integer, as a signed one."""
        return intmask(value)

    def copy_bytes(address, size):
        """The bytes at address, as a string."""
        return rffi.charpsize2str(rffi.cast(rffi.CCHARP, address), size)

    def immortal_bytes(data):
        """The address of a copy of data that is never freed."""
        size = len(data)
        p = lltype.malloc(rffi.CCHARP.TO, size + 1, flavor='raw', track_allocation=False)
        for i in range(size):
            p[i] = data[i]
        p[size] = '\x00'
        return rffi.cast(lltype.Signed, p)

    def make_table(function, size):
        """`function` for the arguments 0 to size - 1, its values looked up: a constant array of
        small ints."""
        array = lltype.malloc(rffi.CArray(rffi.INT), size, flavor='raw', immortal=True)
        for i in range(size):
            array[i] = rffi.cast(rffi.INT, function(i))

        def entry(index):
            return rffi.cast(lltype.Signed, array[index])
        return entry

    def alloc(size):
        """The address of size fresh bytes that the caller frees."""
        return rffi.cast(lltype.Signed, lltype.malloc(
            rffi.CCHARP.TO, size, flavor='raw', track_allocation=False))

    def duplicate(address, size):
        """The address of a copy of the bytes at address, which the caller frees."""
        copy = alloc(max(size, 1))
        rffi.c_memcpy(rffi.cast(rffi.VOIDP, copy), rffi.cast(rffi.VOIDP, address),
                      rffi.cast(rffi.SIZE_T, size))
        return copy

    def free(address):
        """Free what alloc returned."""
        lltype.free(rffi.cast(rffi.CCHARP, address), flavor='raw', track_allocation=False)

else:
    import struct
    # Not cffi's FFI: its parser of C types, written in Python, takes 0.1 s to load.
    from _cffi_backend import FFI

    ffi = FFI()
    _BASE = 8       # cffi refuses to index a pointer whose base is NULL
    _U8 = ffi.cast('uint8_t *', _BASE)
    _KEPT = {}      # address -> buffer, for alloc and immortal_bytes

    def u8(address, offset=0):
        return _U8[address + offset - _BASE]

    def u16(address, offset=0):
        return ffi.cast('uint16_t *', address + offset)[0]

    def i32(address, offset=0):
        return ffi.cast('int32_t *', address + offset)[0]

    def i64(address, offset=0):
        return ffi.cast('int64_t *', address + offset)[0]

    def f64(address, offset=0):
        return ffi.cast('double *', address + offset)[0]

    def set_u8(address, offset, value):
        _U8[address + offset - _BASE] = value

    def set_u16(address, offset, value):
        ffi.cast('uint16_t *', address + offset)[0] = value

    def set_i32(address, offset, value):
        ffi.cast('uint32_t *', address + offset)[0] = value & 0xffffffff    # as C does, without an overflow

    def set_i64(address, offset, value):
        ffi.cast('int64_t *', address + offset)[0] = value

    def set_f64(address, offset, value):
        ffi.cast('double *', address + offset)[0] = value

    def first_high_byte(bits):
        """The number, from 1, of the lowest byte whose highest bit is set; 0 if there is none.
        No other bits are set, and not the 64th."""
        return (bits & -bits).bit_length() >> 3

    def big_endian_before(end, shift):
        """The signed big-endian integer of the 8 bytes that end before `end`, without its upper
        `shift` bits."""
        return wrap(int.from_bytes(copy_bytes(end - 8, 8), 'big') << shift) >> shift

    def big_endian_int_before_others(address, size):
        """The signed big-endian integer of 1 to 8 bytes at address."""
        return int.from_bytes(copy_bytes(address, size), 'big', signed=True)

    def big_endian_real(address):
        """The big-endian IEEE double at address."""
        return struct.unpack('>d', copy_bytes(address, 8))[0]

    def real_bits(value):
        """The bits of a double, as a signed integer."""
        return struct.unpack('<q', struct.pack('<d', value))[0]

    def bits_real(value):
        """The double of the bits in a signed integer."""
        return struct.unpack('<d', struct.pack('<q', value))[0]

    def wrap(value):
        """The lower 64 bits of an integer, as a signed one."""
        return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)

    def copy_bytes(address, size):
        """The bytes at address."""
        return ffi.buffer(ffi.cast('char *', address), size)[:]

    def immortal_bytes(data):
        """The address of a copy of data that is never freed."""
        if not isinstance(data, bytes):
            data = data.encode('latin-1')
        buffer = ffi.new('char[]', data)
        address = int(ffi.cast('intptr_t', buffer))
        _KEPT[address] = buffer
        return address

    def make_table(function, size):
        """`function` for the arguments 0 to size - 1; here nothing is gained by looking it up."""
        return function

    def alloc(size):
        """The address of size fresh bytes that the caller frees."""
        buffer = ffi.new('char[]', size)
        address = int(ffi.cast('intptr_t', buffer))
        _KEPT[address] = buffer
        return address

    def duplicate(address, size):
        """The address of a copy of the bytes at address, which the caller frees."""
        return immortal_bytes(copy_bytes(address, size))

    def free(address):
        """Free what alloc returned."""
        del _KEPT[address]


class Scratch(object):
    """32 bytes at `address` through which C functions give a second result."""
    _immutable_fields_ = ['address?']

    def __init__(self):
        self.address = 0

    def i64(self):
        return i64(self.address)

    def f64(self):
        return f64(self.address)


scratch = Scratch()


def prepare():
    """Allocate `scratch`: raw memory of the translating process isn't the library's."""
    scratch.address = alloc(32)


if TRANSLATED_HOST:
    def own_scratch():
        return scratch
else:
    prepare()

    class OwnScratch(object):
        """A Scratch of one call."""
        __slots__ = ('words', 'address')

        def __init__(self):
            self.words = ffi.new('int64_t[4]')
            self.address = int(ffi.cast('intptr_t', self.words))

        def i64(self):
            return self.words[0]

        def f64(self):
            return ffi.cast('double *', self.words)[0]

    def own_scratch():
        """A Scratch that nobody else uses meanwhile: in the VM `scratch`, as one thread at a time is in it; elsewhere a
        new one, as another thread, or a signal's handler, may run between a call and what reads its result."""
        return OwnScratch()
