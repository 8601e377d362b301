"""Compiler and flags: the same for the stock library, the engine and the layout program.

The features are those of Debian's libsqlite3-0, so a program that swaps libraries loses nothing;
the HAVE_ macros are what SQLite's configure script finds on Linux with glibc.
"""

import os
import subprocess

FEATURES = [
    'SQLITE_ENABLE_COLUMN_METADATA',
    'SQLITE_ENABLE_DBSTAT_VTAB',
    'SQLITE_ENABLE_FTS3',
    'SQLITE_ENABLE_FTS3_PARENTHESIS',
    'SQLITE_ENABLE_FTS3_TOKENIZER',
    'SQLITE_ENABLE_FTS4',
    'SQLITE_ENABLE_FTS5',
    'SQLITE_ENABLE_LOAD_EXTENSION',
    'SQLITE_ENABLE_MATH_FUNCTIONS',
    'SQLITE_ENABLE_PREUPDATE_HOOK',
    'SQLITE_ENABLE_RTREE',
    'SQLITE_ENABLE_SESSION',
    'SQLITE_ENABLE_STAT4',
    'SQLITE_ENABLE_STMTVTAB',
    'SQLITE_ENABLE_UNLOCK_NOTIFY',
    'SQLITE_ENABLE_UPDATE_DELETE_LIMIT',
    'SQLITE_LIKE_DOESNT_MATCH_BLOBS',
    'SQLITE_MAX_DEFAULT_PAGE_SIZE=32768',
    'SQLITE_MAX_SCHEMA_RETRY=25',
    'SQLITE_MAX_VARIABLE_NUMBER=250000',
    'SQLITE_SECURE_DELETE',
    'SQLITE_SOUNDEX',
    'SQLITE_TEMP_STORE=1',
    'SQLITE_THREADSAFE=1',
    'SQLITE_USE_URI',
    'HAVE_FDATASYNC=1',
    'HAVE_GMTIME_R=1',
    'HAVE_ISNAN=1',
    'HAVE_LOCALTIME_R=1',
    'HAVE_MALLOC_H=1',
    'HAVE_MALLOC_USABLE_SIZE=1',
    'HAVE_PREAD64=1',
    'HAVE_PWRITE64=1',
    'HAVE_STRCHRNUL=1',
    'HAVE_USLEEP=1',
    'HAVE_UTIME=1',
]

DEFINES = ['-D' + feature for feature in FEATURES]

# -fno-semantic-interposition lets gcc inline and call directly inside a shared library whose
# functions are visible: SQLite's API, and what the VM calls of the engine. -falign-loops=32: a loop of three
# instructions, as length()'s over a text, takes 1.6 times as long where it lies across two lines of the cache.
COMPILE = ['-O2', '-falign-loops=32', '-fPIC', '-fno-semantic-interposition', '-w']

LINK = ['-shared', '-Wl,-Bsymbolic']
# Our libraries stay after dlclose(): the handler of SIGBUS is theirs, and they would take new memory each time.
STAY = ['-Wl,-z,nodelete']
LIBRARIES = ['-lm', '-lpthread', '-ldl']


def compiler():
    """Return the C compiler's command as a list: $CC split at blanks, or `gcc`."""
    return os.environ.get('CC', 'gcc').split()


def compile_or_link(arguments):
    """Run the compiler with `arguments` (list of str).

    Raises:
        subprocess.CalledProcessError: it failed; `stderr` (str) is what it said.
    """
    subprocess.run(compiler() + arguments, check=True, stderr=subprocess.PIPE, universal_newlines=True)
