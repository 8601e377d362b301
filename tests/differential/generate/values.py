"""Values of every storage class and serial type, as hypothesis strategies and SQL literals.

Texts are str, in which bytes that aren't UTF-8 are surrogate escapes (see capi.py).
"""
import math

from hypothesis import strategies as st

MIN_INT, MAX_INT = -2 ** 63, 2 ** 63 - 1

# Both sides of each border between serial types 1, 2, 3, 4, 5 and 6, and the constants 0 and 1.
EDGE_INTEGERS = sorted(
    {0, 1, -1, 2, 3, 7, 10, -7, 100, MIN_INT, MIN_INT + 1, MAX_INT, MAX_INT - 1}
    | {sign * (2 ** bits + delta) for bits in (7, 15, 23, 31, 47, 53, 62)
       for delta in (-1, 0, 1) for sign in (1, -1)})

EDGE_REALS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 0.1, 3.0, 100.0, 1e15, 1e16, -1e18, 1e100, 1e308,
    math.inf, -math.inf, 5e-324, -5e-324, 2.2250738585072014e-308, 2.0 ** 53, 2.0 ** 53 + 2,
    2.0 ** 63, -2.0 ** 63, 2.0 ** 63 - 1024, 2.0 ** 62, 140737488355328.0, 1e-7, 123456.789,
]

NUMBER_LIKE = [
    "0", "1", "-1", "2", "10", "9", " 7", "7 ", "+5", "007", "1.0", "1.5", "-2.5", ".5", "5.",
    "1e3", "1e", "1e400", "0x10", "12abc", "abc", "", " ", "-", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1e18", "1_0",
    "9007199254740993", "0.1", "-0", "-0.0", "inf", "nan", "1\x00", "3 \t\n",
]

WORDS = [
    "a", "A", "b", "B", "ab", "AB", "Ab ", "ab  ", "abc", "z", "Z", "\u00e9", "\u00c9",
    "\u03a9mega", "\u4f60\u597d", "\U0001f600", "a\x00b", "a\x00c", "\x00", "%", "_", "a%", "[a]",
    "\udcff", "a\udcc3", "\udcc3(", "\udced\udca0\udc80", "\ufffd", "'", "it's", '"', "null",
]

SHORT_BLOBS = [b"", b"\x00", b"\xff", b"a", b"A", b"ab", b"a\x00b", b"1", b"12", b"1.5", b"\xc3\xa9"]

integers = st.one_of(
    st.sampled_from(EDGE_INTEGERS), st.integers(-10, 10), st.integers(-300, 300),
    st.integers(MIN_INT, MAX_INT))
reals = st.one_of(
    st.sampled_from(EDGE_REALS), st.integers(-100, 100).map(lambda i: i / 4.0),
    st.floats(allow_nan=False))
texts = st.one_of(
    st.sampled_from(NUMBER_LIKE), st.sampled_from(WORDS), st.text(max_size=8),
    st.binary(max_size=6).map(lambda data: data.decode("utf-8", "surrogateescape")))
blobs = st.one_of(st.sampled_from(SHORT_BLOBS), st.binary(max_size=6))

# Around the sizes where a record's header grows a byte, a cell overflows its page (of 512 bytes
# and more), and an overflow chain gets another page.
_LENGTHS = st.one_of(
    st.sampled_from([50, 57, 58, 59, 100, 126, 127, 128, 300, 450, 470, 480, 500, 510, 900, 1000,
                     1500, 4000, 4100, 8200, 8250]), st.integers(0, 3000))
long_texts = st.builds(
    lambda unit, length, end: (unit * (length // len(unit) + 1))[:length] + end,
    st.sampled_from(["x", "ab", "\u00e9", "1", " ", "\U0001f600"]), _LENGTHS,
    st.sampled_from(["", "a", "b", " ", "\udcff"]))
long_blobs = st.builds(
    lambda unit, length, end: unit * length + end,
    st.sampled_from([b"\x00", b"x", b"\xff"]), _LENGTHS, st.sampled_from([b"", b"a", b"b"]))

short_values = st.one_of(st.none(), integers, reals, texts, blobs)
values = st.one_of(short_values, short_values, short_values, long_texts, long_blobs)


def literal(value):
    """The SQL expression of a value (str)."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return "x'%s'" % value.hex()
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogateescape")
        if "\x00" in value or data != value.encode("utf-8", "replace"):
            return "CAST(x'%s' AS TEXT)" % data.hex()
        return "'%s'" % value.replace("'", "''")
    if isinstance(value, float) and math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    return repr(value)
