"""Leaves the addresses in the VM's data to the VM's start, so that loading the library costs what SQLite costs.

RPython's constants hold addresses of each other, 70 000 of them, which the dynamic linker would write whenever a
program loads the library. `separate` gives them a section of their own before the library is linked. `take_out` moves
them from the linked library's table to a list in it, in the form of a section of type SHT_RELR
(https://groups.google.com/g/generic-abi/c/bX460iggiKg); c_engine/vm/late_relocations.c adds the library's address to
each when the VM starts. Whatever else the table has, functions of other libraries say, stays there.
"""

import collections
import struct
import subprocess

RELOCATED = '.data.rel.local'   # where compilers put constants that hold addresses of the same library
DATA, LIST = 'sqpyte_vm_data', 'sqpyte_late'
RELATIVE = 8                    # R_X86_64_RELATIVE: the library's address plus a number
WORD = 8                        # bytes
PLACES = 63                     # of a bitmap
DT_RELASZ, DT_RELACOUNT = 8, 0x6ffffff9

Section = collections.namedtuple('Section', 'header name address offset size')
HEADER = struct.Struct('<IIQQQQIIQQ')           # Elf64_Shdr
RELOCATION = struct.Struct('<QQq')              # Elf64_Rela
SIZE_IN_HEADER = 32


class NotMoved(Exception):
    """A library isn't as it should be; the message says what is wrong."""


def separate(vm_object, target):
    """Write the VM's object with its data in a section of their own.

    Args:
        vm_object, target: paths.

    Raises:
        subprocess.CalledProcessError: objcopy failed, and has said why.
    """
    subprocess.run(['objcopy', '--rename-section', '%s=%s' % (RELOCATED, DATA), vm_object, target], check=True)


def encoded(places):
    """Return the list (of int) for places (ascending multiples of WORD, int)."""
    found, i = [], 0
    while i < len(places):
        found.append(places[i])
        first = places[i] + WORD
        i += 1
        while True:
            bits = 0
            while i < len(places) and places[i] < first + PLACES * WORD:
                bits |= 1 << (places[i] - first) // WORD
                i += 1
            if not bits:
                break
            found.append(bits << 1 | 1)
            first += PLACES * WORD
    return found


def decoded(words):
    """Return the places (list of int) of a list, up to its end or a word of 0."""
    found, first = [], 0
    for word in words:
        if not word:
            break
        if word & 1:
            found += [first + WORD * bit for bit in range(PLACES) if word >> bit + 1 & 1]
            first += PLACES * WORD
        else:
            found.append(word)
            first = word + WORD
    return found


def sections(content):
    """Return the sections of a 64-bit ELF file's content, {name: Section}."""
    if content[:6] != b'\x7fELF\x02\x01':
        raise NotMoved('it is no 64-bit little-endian ELF file')
    table, = struct.unpack_from('<Q', content, 40)
    each, count, names = struct.unpack_from('<HHH', content, 58)
    headers = [HEADER.unpack_from(content, table + each * number) for number in range(count)]
    start = headers[names][4]
    found = {}
    for number, (name, _, _, address, offset, size, *_) in enumerate(headers):
        text = bytes(content[start + name:content.index(b'\0', start + name)]).decode()
        found[text] = Section(table + each * number, text, address, offset, size)
    return found


def moved(content):
    """Move the addresses of the VM's data from the dynamic linker's table to the list.

    Args:
        content: of a linked library (bytearray), which is changed.

    Returns: how many have been moved (int).

    Raises:
        NotMoved: it isn't a library of ours, or has been changed before.
    """
    known = sections(content)
    for name in (DATA, LIST, '.rela.dyn', '.dynamic'):
        if name not in known:
            raise NotMoved('it has no section %s' % name)
    data, words, table = known[DATA], known[LIST], known['.rela.dyn']
    stay, late = [], []
    for entry in RELOCATION.iter_unpack(bytes(content[table.offset:table.offset + table.size])):
        place, what, number = entry
        if what == RELATIVE and data.address <= place < data.address + data.size and place % WORD == 0:
            late.append(place)
            struct.pack_into('<q', content, data.offset + place - data.address, number)
        else:
            stay.append(entry)
    found = encoded(sorted(late))
    if any(content[words.offset:words.offset + words.size]):
        raise NotMoved('its list isn\'t empty')
    if not late:
        raise NotMoved('its table has no address of the VM\'s data')
    if (len(found) + 1) * WORD > words.size:
        raise NotMoved('its list has room for %d words, and %d addresses take %d' % (
            words.size // WORD - 1, len(late), len(found)))
    struct.pack_into('<%dQ' % len(found), content, words.offset, *found)
    kept = b''.join(RELOCATION.pack(*entry) for entry in stay)
    content[table.offset:table.offset + table.size] = kept.ljust(table.size, b'\0')
    struct.pack_into('<Q', content, table.header + SIZE_IN_HEADER, len(kept))
    relative = sum(what == RELATIVE for _, what, _ in stay)
    if [what == RELATIVE for _, what, _ in stay] != [True] * relative + [False] * (len(stay) - relative):
        raise NotMoved('its relative relocations aren\'t the first')
    sizes = {DT_RELASZ: len(kept), DT_RELACOUNT: relative}
    dynamic = known['.dynamic']
    for offset in range(dynamic.offset, dynamic.offset + dynamic.size, 2 * WORD):
        tag, = struct.unpack_from('<Q', content, offset)
        if tag in sizes:
            struct.pack_into('<Q', content, offset + WORD, sizes.pop(tag))
    if sizes:
        raise NotMoved('its dynamic section has no size of the table')
    return len(late)


def take_out(path):
    """Leave the addresses in the VM's data to the VM's start; return how many these are (int).

    Args:
        path: of a library that has been linked with what `separate` wrote.

    Raises:
        NotMoved: the library isn't as it should be.
    """
    with open(path, 'r+b') as file:
        content = bytearray(file.read())
        count = moved(content)
        file.seek(0)
        file.write(content)
    return count
