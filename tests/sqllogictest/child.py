"""Runs one script in this process: `python -m tests.sqllogictest.child REQUEST` (JSON).

The request: `script` and `library` (paths), `mode` and `threshold` for sqpyte_set_mode (`mode`
null: as the library is), `untranslated` (whether the VM is to be sqpyte/ as plain Python), `records`
(null, or to stop after so many), `position` (path of a file).
The line of each record is written into that file before the record runs, so that the parent sees how
far this process is, and where it was when it crashed. The result is one JSON object on stdout.
"""

import json
import os
import sys

from tests.differential.sessions import capi
from tests.sqllogictest import records, script

WIDTH = 12   # digits of a line's number in the position file


def main(request):
    """Run the script of a request (dict); return the result (dict).

    Returns:
        `error` (str) if the script can't be read; else `passed`, `failed`, `skipped`, `failures`
        (lists of script.Failure's fields), `statements`, `in_vm`, `why` (see script.Script).
    """
    try:
        found = records.read(request['script'])
    except (records.FormatError, OSError) as error:
        return {'error': str(error)}
    if request['untranslated']:
        from sqpyte.vm import host
        host.install(request['library'])
    library = capi.Library(request['library'])
    if request['mode'] is not None:
        library.set_mode(request['mode'], request['threshold'])
    position = os.open(request['position'], os.O_WRONLY)

    def progress(line):
        os.pwrite(position, b'%*d' % (WIDTH, line), 0)

    run = script.Script(library, progress)
    run.run(found[:request['records']])
    return {'passed': run.passed, 'failed': run.failed, 'skipped': run.skipped,
            'failures': run.failures, 'statements': run.statements, 'in_vm': run.in_vm,
            'why': {str(why): count for why, count in run.why.items()}}


if __name__ == '__main__':
    json.dump(main(json.loads(sys.argv[1])), sys.stdout)
