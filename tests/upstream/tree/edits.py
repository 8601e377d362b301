"""The edits of the test suite: a short declared list, each matching exactly once in its file.

Three kinds. `report`: tester.tcl says on standard error what becomes of each case, for events.py.
`pin`: the tree is of another version than the amalgamation; what that one hasn't any more goes.
`counters`: counters that SQLite's interpreter keeps for its tests alone read 0, in stock's testfixture
as in ours. The VM doesn't keep them; a case that prints one beside its rows would otherwise differ for
the counter, and its rows would be compared no more.
"""

import collections
import os

from c_engine.patches.edit import EditError

Edit = collections.namedtuple('Edit', 'name path find replace')

# One line a report: kind, name of the case, text; fields and lines end as events.py reads them.
_REPORT = r'''
proc sqpyte_escape {text} {
  string map [list \\ \\\\ \t \\t \n \\n \r \\r] $text
}
proc sqpyte_report {kind name {text {}}} {
  puts_original -nonewline stderr "\n\x1e$kind\t[sqpyte_escape $name]\t[sqpyte_escape $text]\n"
}
'''

REPORT = [
    Edit('report-procedure', 'test/tester.tcl', '\nproc do_test {name cmd expected} {\n',
         '\n' + _REPORT + 'proc do_test {name cmd expected} {\n'),
    Edit('report-begin', 'test/tester.tcl', '  output1 -nonewline $name...\n',
         '  sqpyte_report begin $name\n  output1 -nonewline $name...\n'),
    Edit('report-error', 'test/tester.tcl', '      output2 "\\nError: $result"\n',
         '      sqpyte_report error $name $result\n      output2 "\\nError: $result"\n'),
    Edit('report-wrong', 'test/tester.tcl', '        output2 "! $name expected: ',
         '        sqpyte_report wrong $name $result\n        output2 "! $name expected: '),
    Edit('report-right', 'test/tester.tcl', '        output1 " Ok"\n',
         '        sqpyte_report ok $name\n        output1 " Ok"\n'),
]

PIN = [
    Edit('pin-factor-constants', 'src/test1.c', 'SQLITE_FactorOutConst }', '0 }'),
    Edit('pin-varint', 'src/test3.c', '#include "btreeInt.h"\n',
         '#include "btreeInt.h"\n#define getVarint sqlite3GetVarint\n#define putVarint sqlite3PutVarint\n'),
]


def _counter(name):
    variable = name.replace('sqlite_', 'sqlite3_')
    return Edit('counters-' + name, 'src/test1.c', '(char*)&%s, TCL_LINK_INT' % variable,
                '(char*)&sqpyteNoCounter, TCL_LINK_INT')


COUNTERS = [
    Edit('counters', 'src/test1.c', '  static int bitmask_size = sizeof(Bitmask)*8;\n',
         '  static int bitmask_size = sizeof(Bitmask)*8;\n  static int sqpyteNoCounter = 0;\n'),
    _counter('sqlite_search_count'),
    _counter('sqlite_found_count'),
    _counter('sqlite_like_count'),
]

# `guard`: fuzzcheck sets no progress handler, for it keeps statements in C; guard.c stops runaway inputs.
# These are made in copies of the files.
_GUARD = 'extern void sqpyte_guard(sqlite3*);\n'
GUARD = [
    Edit('guard-declaration', 'test/fuzzcheck.c', '\nint runCombinedDbSqlInput(\n',
         '\n' + _GUARD + 'int runCombinedDbSqlInput(\n'),
    Edit('guard-combined', 'test/fuzzcheck.c',
         'sqlite3_progress_handler(cx.db, 10, progress_handler, (void*)&cx);', 'sqpyte_guard(cx.db);'),
    Edit('guard-combined-end', 'test/fuzzcheck.c', '\ntestrun_finished:\n',
         '\ntestrun_finished:\n  sqpyte_guard(0);\n'),
    Edit('guard-plain', 'test/fuzzcheck.c', '          if( sqlFuzz || vdbeLimitFlag ){\n',
         '          sqpyte_guard(db);\n          if( 0 ){\n'),
    Edit('guard-plain-end', 'test/fuzzcheck.c', '          setAlarm(0);\n',
         '          setAlarm(0);\n          sqpyte_guard(0);\n'),
    Edit('guard-oss-declaration', 'test/ossfuzz.c', '\nint LLVMFuzzerTestOneInput(',
         '\n' + _GUARD + 'int LLVMFuzzerTestOneInput('),
    Edit('guard-oss', 'test/ossfuzz.c',
         'sqlite3_progress_handler(cx.db, 10, progress_handler, (void*)&cx);', 'sqpyte_guard(cx.db);'),
    Edit('guard-oss-end', 'test/ossfuzz.c', '  sqlite3_close(cx.db);\n',
         '  sqpyte_guard(0);\n  sqlite3_close(cx.db);\n'),
]

EDITS = REPORT + PIN + COUNTERS


def apply(directory, edits):
    """Apply edits to the files of a tree.

    Args:
        directory: the tree's folder.
        edits: of this module's kind.

    Raises:
        EditError: one doesn't match exactly once; its name is told.
    """
    for one in edits:
        path = os.path.join(directory, one.path)
        with open(path, encoding='utf-8', errors='surrogateescape') as file:
            text = file.read()
        count = text.count(one.find)
        if count != 1:
            raise EditError('edit %r matches %d times in %s, it must match exactly once: read the code '
                            'there and adapt tests/upstream/tree/edits.py' % (one.name, count, one.path))
        with open(path, 'w', encoding='utf-8', errors='surrogateescape') as file:
            file.write(text.replace(one.find, one.replace))
