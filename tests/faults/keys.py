"""A process that measures the keys of programs without memory, at one allocation after the other, and writes them with
memory.

`python -m tests.faults.keys TIER`. A line of JSON on stdout for each key: [failures, size as measured, size as written,
whether each byte was written, rows].
"""
import json
import sys

import cffi

from tests.differential.sessions import capi
from tests.faults import workload
from tests.faults.run import library_path, prepared

SQL = "SELECT %s || 'twelve bytes' WHERE 'another text' > 'a'"
TEXTS = ["'%s'" % ("x" * length) for length in (1, 100, 1000)]

ffi = cffi.FFI()
ffi.cdef("long sqpyte_program_key(intptr_t, intptr_t, long);")


def once(keys, faults, connection, sql, call):
    """Do it with a failure at that allocation. Returns: the line's elements."""
    statement = connection.prepare(sql)
    vdbe = int(ffi.cast("intptr_t", statement.statement))
    faults.arm(call)
    size = keys.sqpyte_program_key(vdbe, 0, 0)
    hits = faults.hits()
    faults.arm(0)
    written = []
    for filling in (b"\0", b"\xff"):
        buffer = ffi.new("char[]", filling * size)
        again = keys.sqpyte_program_key(vdbe, int(ffi.cast("intptr_t", buffer)), size)
        written.append(ffi.buffer(buffer, size)[:])
    statement.finalize()
    return [hits, size, again, written[0] == written[1], workload.run(connection, sql)[1]]


def main(tier):
    library, faults = prepared(tier, "memory-once")
    keys = ffi.dlopen(library_path(tier))
    for encoding in ("UTF-8", "UTF-16le"):
        connection = capi.Connection(library)
        connection.execute("PRAGMA encoding = '%s'" % encoding)
        connection.execute("CREATE TABLE t(a)")
        for text in TEXTS:
            call, hits = 0, 1
            while hits:
                call += 1
                found = once(keys, faults, connection, SQL % text, call)
                hits = found[0]
                print(json.dumps(found), flush=True)
        connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
