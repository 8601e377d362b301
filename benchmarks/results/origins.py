"""Which part of the system an instruction belongs to: from its address to a name in PARTS.

A function of SQLite belongs to the part whose source file it is in: the amalgamation marks where
each file begins.  What the compiler has inlined counts as the function that it is in.
"""

import bisect
import ctypes
import glob
import os
import re
import subprocess

from benchmarks import places

TRACES = 'traces'
PARTS = (
    (TRACES, 'machine code made by the JIT'),
    ('compiling', 'the JIT tracing and compiling, its garbage collector, the VM interpreting'),
    ('interpreter', 'SQLite\'s own interpreter of opcodes'),
    ('records', 'SQLite decoding and comparing records, converting and copying values'),
    ('functions', 'SQL functions and aggregates in C'),
    ('B-tree', 'moving cursors'),
    ('seeks', 'our way to a row, in C: rows in the map or kept, the VM\'s way down a B-tree'),
    ('helpers', 'the VM\'s other C functions: comparing texts, making records, LIKE'),
    ('sorter', 'SQLite\'s sorter'),
    ('pages', 'page cache and pager'),
    ('reading', 'reading pages: the file system\'s layer and the kernel'),
    ('allocation', 'malloc and free, SQLite\'s and the C library\'s'),
    ('bytes', 'the C library comparing and copying bytes'),
    ('rest', 'parser, planner, API, everything else'),
)

# Source files of SQLite and of ours -> part.
_OF_FILE = {
    'vdbe.c': 'interpreter', 'vdbeapi.c': 'interpreter',
    'vdbeaux.c': 'records', 'vdbemem.c': 'records', 'util.c': 'records', 'utf.c': 'records',
    'func.c': 'functions', 'date.c': 'functions', 'json.c': 'functions', 'printf.c': 'functions',
    'window.c': 'functions',
    'btree.c': 'B-tree', 'btmutex.c': 'B-tree', 'vdbesort.c': 'sorter', 'sort_key.c': 'sorter',
    'pager.c': 'pages', 'pcache.c': 'pages', 'pcache1.c': 'pages', 'wal.c': 'pages',
    'bitvec.c': 'pages', 'memjournal.c': 'pages',
    'os_unix.c': 'reading', 'os.c': 'reading',
    'malloc.c': 'allocation', 'mem1.c': 'allocation',
    'seek.c': 'seeks', 'row_cache.c': 'seeks', 'located_rows.c': 'seeks', 'raw_page.h': 'seeks',
    'file_map.h': 'pages', 'pager_map.h': 'pages', 'bus_error.h': 'reading',
    'helpers.c': 'helpers', 'functions.c': 'helpers',
    'engine.c': 'rest', 'program_key.c': 'rest', 'fused.c': 'rest', 'page_batch.c': 'rest',
    'settings.c': 'rest',
}
_OF_C_LIBRARY = (
    (re.compile(r'^(p?(read|write)(64)?|preadv?\w*|pwritev?\w*|lseek|fcntl|fstat|__p?(read|write)\w*)$'),
     'reading'),
    (re.compile(r'malloc|calloc|realloc|^c?free$|memalign|mallinfo|mallopt'), 'allocation'),
)
# Their code is chosen when they are first called, so a symbol doesn't say where it is.
_BYTES = ('memcpy', 'memmove', 'memcmp', 'memset', 'strlen', 'strcmp', 'memchr', '__memcpy_chk')
_BYTES_SIZE = 2048      # no such function is longer

_BEGIN = re.compile(r'^/\*+ (?:Begin file|Continuing where we left off in) (\S+) \*+/')
_DEFINITION = re.compile(r'^[A-Za-z_][\w\s*]*?\b(\w+)\(')


def definitions(path, name):
    """Return {function: source file} of a C file; of the amalgamation, the file that each was in.

    Args:
        path: the C file's.
        name: the source file that its functions are in where nothing else is said.
    """
    found = {}
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            begins = _BEGIN.match(line)
            if begins:
                name = begins.group(1)
                continue
            match = _DEFINITION.match(line)
            if match and not line.rstrip().endswith(';'):
                found[match.group(1)] = name
    return found


def functions():
    """Return {function: part} of SQLite and the engine, from their sources. Raises places.Missing."""
    amalgamation = places.product(os.path.join(places.build_folder(), 'sqlite', 'sqlite3.c'),
                                  'make engine')
    found = definitions(amalgamation, 'sqlite3.c')
    for path in glob.glob(os.path.join(places.ROOT, 'c_engine', '*', '*.[ch]')):
        found.update(definitions(path, os.path.basename(path)))
    return {function: _OF_FILE.get(name, 'rest') for function, name in found.items()}


class Library:
    """The symbols of a file that is mapped into a process, by their offset in it.

    Args:
        path: the file's.
    """

    def __init__(self, path):
        self.path = path
        self.is_c_library = re.search(r'/libc[-.]', path) is not None
        listing = subprocess.run(
            ['nm', '--defined-only'] + (['-D'] if self.is_c_library else []) + [path], check=False,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True).stdout
        found = sorted((int(words[0], 16), words[2].split('@')[0])
                       for words in map(str.split, listing.splitlines())
                       if len(words) == 3 and words[1] in 'tTwWi')
        self.starts = [address for address, _ in found]
        self.names = [name for _, name in found]
        self.bytes = self._bytes() if self.is_c_library else []

    def _bytes(self):
        """Offsets of the functions of _BYTES that the processor gets."""
        library = ctypes.CDLL(self.path)
        base = None
        with open('/proc/self/maps', encoding='utf-8') as maps:
            for line in maps:
                if line.rstrip().endswith(os.path.realpath(self.path)):
                    base = int(line.split('-')[0], 16)
                    break
        if base is None:
            return []
        return [(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0) - base
                for name in _BYTES if hasattr(library, name)]

    def symbol(self, offset):
        """Return the name of the function at an offset in the file, or '' if none is known."""
        i = bisect.bisect(self.starts, offset) - 1
        return self.names[i] if i >= 0 else ''

    def part(self, offset, of_functions):
        """Return the part (str) of an offset, given {function: part}."""
        if self.is_c_library and any(at <= offset < at + _BYTES_SIZE for at in self.bytes):
            return 'bytes'
        name = self.symbol(offset)
        if self.is_c_library:
            for pattern, part in _OF_C_LIBRARY:
                if pattern.search(name):
                    return part
            return 'rest'
        name = name.split('.')[0]       # .part.0, .cold, .isra.0: pieces of a function
        if name.startswith('pypy_') or name.startswith('rpy_'):
            return 'compiling'
        return of_functions.get(name, 'rest')


def mappings(lines):
    """Return what was mapped where: a sorted list of (start, end, offset in the file, path), of
    anonymous memory with the path ''. `lines` are those of /proc/PID/maps."""
    found = []
    for line in lines:
        words = line.split(None, 5)
        start, end = (int(word, 16) for word in words[0].split('-'))
        path = words[5].strip() if len(words) == 6 else ''
        found.append((start, end, int(words[2], 16), path))
    return sorted(found)


class Origins:
    """Tells the part of addresses in processes; keeps the symbols of the files that it has seen."""

    def __init__(self):
        self.functions = functions()
        self.libraries = {}

    def count(self, lines):
        """Return {part: samples} of what sampler.c wrote (an iterable of str)."""
        lines = [line.rstrip('\n') for line in lines]
        end = lines.index('')
        mapped = mappings(lines[:end])
        starts = [start for start, _, _, _ in mapped]
        bases: dict = {}
        for start, _, offset, path in mapped:
            bases.setdefault(path, start - offset)
        counts = dict.fromkeys((part for part, _ in PARTS), 0)
        for line in lines[end + 1:]:
            address = int(line, 16)
            i = bisect.bisect(starts, address) - 1
            if i < 0 or address >= mapped[i][1]:
                counts['rest'] += 1
                continue
            path = mapped[i][3]
            if not path:
                counts[TRACES] += 1
            elif path.startswith('['):
                counts['rest'] += 1
            else:
                if path not in self.libraries:
                    self.libraries[path] = Library(path)
                library = self.libraries[path]
                counts[library.part(address - bases[path], self.functions)] += 1
        return counts
