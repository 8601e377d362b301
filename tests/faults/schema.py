"""A process that drops a table without memory, at one allocation after the other, rolls back, and
writes to another table.

`python -m tests.faults.schema TIER`. A line of JSON on stdout for each: [allocation, result code of the
DROP, result code of the INSERT, rows of the dropped table, rows of the other one, integrity_check].
"""
import json
import os
import sys
import tempfile

from tests.differential import tiers
from tests.differential.sessions import capi
from tests.faults import workload
from tests.faults.run import prepared

# With auto_vacuum a DROP moves the last table's root page into the place of the one that it frees.
SOUND = ["PRAGMA auto_vacuum = 2", "CREATE TABLE t3(x)", "CREATE TABLE t4(x)", "CREATE TABLE t5(x)",
         "INSERT INTO t5 VALUES (zeroblob(1500))", "CREATE TABLE t7(x)", "CREATE TABLE t8(x)"]


def once(library, faults, path, image, call):
    """Do it with a failure at that allocation. Returns: the line's elements but the first; whether
    the failure came."""
    with open(path, "wb") as file:
        file.write(image)
    connection = capi.Connection(library, path)
    for sql in ("BEGIN", "DELETE FROM t5", "INSERT INTO t8 VALUES ('hello world')"):
        workload.run(connection, sql)
    faults.arm(call)
    dropped, _ = workload.run(connection, "DROP TABLE t7")
    hits = faults.hits()
    faults.arm(0)
    workload.run(connection, "ROLLBACK")
    written, _ = workload.run(connection, "INSERT INTO t8 VALUES ('into t8')")
    connection.close()
    connection = capi.Connection(library, path)
    answers = [workload.run(connection, sql)[1] for sql in (
        "SELECT * FROM t7", "SELECT * FROM t8", "PRAGMA integrity_check")]
    connection.close()
    return [dropped, written] + answers, hits


def main(tier):
    library, faults = prepared(tier, "memory-once")
    sound = capi.Connection(library)
    for sql in SOUND:
        sound.execute(sql)
    image = sound.serialize()
    sound.close()
    with tempfile.TemporaryDirectory(dir=os.path.join(tiers.BUILD, "tests")) as directory:
        call, hits = 0, 1
        while hits:
            call += 1
            found, hits = once(library, faults, os.path.join(directory, "test.db"), image, call)
            print(json.dumps([call] + found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
