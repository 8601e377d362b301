"""Damage to a database file, from a seed: where the format has a meaning it is aimed at.

The file format: https://www.sqlite.org/fileformat2.html
"""
import random

# Values that a byte of a header, a varint or a serial type turns into another kind by.
_TELLING = [0, 1, 2, 5, 7, 8, 9, 10, 11, 12, 13, 14, 127, 128, 129, 130, 254, 255]


class Page:
    """A B-tree page of an image, with offsets into the image.

    Args: image, a bytearray; number, from 1; size, bytes.
    """

    def __init__(self, image, number, size):
        self.image = image
        self.start = (number - 1) * size
        self.size = size
        self.header = self.start + (100 if number == 1 else 0)
        self.kind = image[self.header]
        self.is_leaf = self.kind in (10, 13)
        self.is_table = self.kind in (5, 13)
        self.pointers = self.header + (8 if self.is_leaf else 12)
        self.cells = self._u16(self.header + 3)
        room = (self.start + size - self.pointers) // 2
        self.cells = min(self.cells, room) if self.kind in (2, 5, 10, 13) else 0

    def _u16(self, at):
        return self.image[at] << 8 | self.image[at + 1]

    def cell(self, i):
        """Offset of cell i in the image."""
        return self.start + self._u16(self.pointers + 2 * i) % (self.size - 20)

    def record(self, i):
        """Offset of the record of cell i, behind child pointer, size and rowid."""
        at = self.cell(i) + (0 if self.is_leaf else 4)
        if self.kind != 5:
            at = self._past_varint(at)
        if self.is_table:
            at = self._past_varint(at)
        return min(at, len(self.image) - 20)

    def _past_varint(self, at):
        for _ in range(8):
            if at + 1 >= len(self.image) or self.image[at] < 128:
                break
            at += 1
        return at + 1


def varint(value):
    """A non-negative number below 2**56 as SQLite's varint (bytes)."""
    groups = [value & 127]
    value >>= 7
    while value:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes(reversed(groups))


class Damager:
    """Damages an image in place, one `blow` at a time.

    Args: image, a bytearray; size, its page size; rng, a random.Random.
    """

    def __init__(self, image, size, rng):
        self.image = image
        self.size = size
        self.rng = rng

    def _page_number(self):
        """A page, rarely the first: it has the schema, without which there is no query."""
        pages = max(1, len(self.image) // self.size)
        return self.rng.randint(1 if pages == 1 or self.rng.random() < 0.02 else 2, pages)

    def _tree_page(self):
        for _ in range(20):
            page = Page(self.image, self._page_number(), self.size)
            if page.cells:
                return page
        return Page(self.image, 1, self.size)

    def _put(self, at, data):
        at = max(0, min(at, len(self.image) - len(data)))
        self.image[at:at + len(data)] = data

    def _number(self, bits):
        rng = self.rng
        return rng.choice([0, 1, self.size - 1, self.size - 2, self.size - 4, self.size,
                           (1 << bits) - 1, 1 << (bits - 1), rng.randrange(1 << bits),
                           rng.randrange(self.size)]) & ((1 << bits) - 1)

    def blow(self):
        """One damage, of a kind and at a place that the random numbers choose."""
        rng = self.rng
        kinds = [self.byte, self.bit, self.page_header, self.cell_pointer, self.payload_size,
                 self.rowid, self.record_header, self.serial_type, self.serial_type, self.child,
                 self.overflow, self.far_cell, self.swap, self.zero, self.file_header,
                 self.long_varints]
        rng.choice(kinds)()

    def byte(self):
        """A byte changed somewhere."""
        self.image[self.rng.randrange(100, len(self.image))] = self.rng.choice(_TELLING)

    def bit(self):
        """A few bits flipped somewhere."""
        for _ in range(self.rng.randint(1, 8)):
            self.image[self.rng.randrange(100, len(self.image))] ^= 1 << self.rng.randrange(8)

    def page_header(self):
        """A field of a page's header: kind, first freeblock, cells, content start, fragments."""
        page = self._tree_page()
        field = self.rng.choice([0, 1, 3, 3, 5, 5, 7])
        if field in (0, 7):
            self.image[page.header + field] = self.rng.choice(_TELLING)
        else:
            self._put(page.header + field, self._number(16).to_bytes(2, "big"))

    def cell_pointer(self):
        """Where a cell is said to be."""
        page = self._tree_page()
        at = page.pointers + 2 * self.rng.randrange(max(1, page.cells))
        self._put(at, self._number(16).to_bytes(2, "big"))

    def far_cell(self):
        """A cell in the last bytes of its page, which then hold whatever they hold."""
        page = self._tree_page()
        back = self.rng.randint(1, 24)
        at = page.pointers + 2 * self.rng.randrange(max(1, page.cells))
        self._put(at, (self.size - back).to_bytes(2, "big"))
        if self.rng.random() < 0.7:
            made = bytes(self.rng.choice(_TELLING) for _ in range(back))
            self._put(page.start + self.size - back, made)

    def _cell(self):
        page = self._tree_page()
        return page, self.rng.randrange(max(1, page.cells))

    def payload_size(self):
        """The size that a record is said to have."""
        page, i = self._cell()
        at = page.cell(i) + (0 if page.is_leaf else 4)
        self._put(at, varint(self._number(self.rng.choice([7, 7, 14, 14, 21, 31, 50]))))

    def rowid(self):
        """A rowid, of any length."""
        page, i = self._cell()
        at = page._past_varint(page.cell(i)) if page.is_leaf else page.cell(i) + 4
        self._put(at, self.rng.choice([varint(self._number(30)), b"\xff" * 9, b"\x80\x80\x01"]))

    def record_header(self):
        """The size that a record's header is said to have."""
        page, i = self._cell()
        size = varint(self.rng.choice([0, 1, 2, 3, 6, 7, 8, 9, 126, 127, 128, 300, 20000, 1 << 30]))
        self._put(page.record(i), size)

    def serial_type(self):
        """The type and size that a value is said to have."""
        page, i = self._cell()
        at = page.record(i) + self.rng.randint(1, 7)
        kind = self.rng.choice([lambda: self.rng.randrange(128), lambda: self.rng.choice(_TELLING),
                                lambda: self._number(14), lambda: self._number(31)])()
        self._put(at, varint(kind))

    def long_varints(self):
        """A record's first bytes, all of them continued."""
        page, i = self._cell()
        at = page.record(i) + self.rng.randint(-4, 4)
        self._put(at, bytes(self.rng.choice([0x80, 0x81, 0xff])
                            for _ in range(self.rng.randint(2, 12))))

    def child(self):
        """Which page is below a cell, or to the right."""
        for _ in range(20):
            page, i = self._cell()
            if not page.is_leaf:
                break
        at = self.rng.choice([page.header + 8, page.cell(i)])
        number = self.rng.choice([self._page_number(), self._page_number(), 0, 1, 1 << 31, 99999])
        self._put(at, number.to_bytes(4, "big"))

    def overflow(self):
        """The next page of a page that may be one of an overflowing record."""
        at = (self._page_number() - 1) * self.size
        if at:
            number = self.rng.choice([self._page_number(), 0, 1, 0xffffffff])
            self._put(at, number.to_bytes(4, "big"))

    def swap(self):
        """A page in another's place, or both."""
        a, b = (self.size * (self._page_number() - 1) for _ in range(2))
        first = bytes(self.image[a:a + self.size])
        if self.rng.random() < 0.6:
            self.image[a:a + self.size] = self.image[b:b + self.size]
        self.image[b:b + self.size] = first

    def zero(self):
        """A part of a page lost."""
        page = self._tree_page()
        at = page.start + self.rng.choice([0, page.header - page.start, self.size // 2])
        self._put(at, bytes(min(self.size // 2, len(self.image) - at)))

    def file_header(self):
        """A field of the file's header: page size, format versions, reserved bytes, payload
        fractions, file size, freelist, schema format, cache size, auto-vacuum, encoding."""
        at = self.rng.choice([16, 18, 19, 20, 20, 21, 22, 23, 24, 28, 31, 32, 36, 44, 47, 48, 52,
                              55, 56, 59, 64, 92, 96])
        self.image[at] = self.rng.choice(_TELLING + [16, 32, 64])


def damaged(sound, page_size, seed):
    """A damaged copy of a sound database.

    Args: sound, the file (bytes); page_size; seed, an int: the same one, the same damage.
    Returns: bytes.
    """
    rng = random.Random(seed)
    image = bytearray(sound)
    damager = Damager(image, page_size, rng)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        damager.blow()
    if rng.random() < 0.06:
        del image[rng.choice([page_size * rng.randint(1, len(image) // page_size),
                              rng.randint(100, len(image))]):]
    return bytes(image)
