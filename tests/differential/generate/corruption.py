"""Damage to database files: bytes changed, pages swapped, copied, zeroed or cut off."""
from hypothesis import strategies as st

# Where in a page: its header, its cell pointers, its cells.
_OFFSETS = st.one_of(st.integers(0, 11), st.integers(8, 40), st.integers(0, 65535))
_BYTES = st.one_of(st.sampled_from([0, 1, 2, 5, 9, 10, 13, 127, 128, 129, 255]), st.integers(0, 255))
_PAGES = st.integers(1, 400)

damages = st.lists(st.one_of(
    st.tuples(st.just("byte"), _PAGES, _OFFSETS, _BYTES),
    st.tuples(st.just("byte"), _PAGES, _OFFSETS, _BYTES),
    st.tuples(st.just("byte"), _PAGES, _OFFSETS, _BYTES),
    st.tuples(st.just("swap"), _PAGES, _PAGES),
    st.tuples(st.just("copy"), _PAGES, _PAGES),
    st.tuples(st.just("zero"), _PAGES),
    st.tuples(st.just("cut"), _PAGES, st.sampled_from([0, 1, 100]))), min_size=1, max_size=4)


def damaged(image, page_size, damage):
    """A copy of image (bytes) with the damage done; the first page, which has the schema, is
    never the one that is hit, so that there is a table to query."""
    data = bytearray(image)
    count = len(image) // page_size
    if count < 2:
        return image

    def start(page):
        return page_size * (1 + page % (count - 1))

    for kind, page, *rest in damage:
        here = slice(start(page), start(page) + page_size)
        if kind == "byte":
            data[here.start + rest[0] % page_size] = rest[1]
        elif kind == "zero":
            data[here] = bytes(page_size)
        elif kind == "cut":
            return bytes(data[:here.start + rest[0]])
        else:
            other = slice(start(rest[0]), start(rest[0]) + page_size)
            there = data[other]
            if kind == "swap":
                data[other] = data[here]
            data[here] = there
    return bytes(data)
