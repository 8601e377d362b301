"""Which test files there are, and which of them only run others."""

import glob
import os
import re

PLACES = ['test', 'ext/expert', 'ext/fts5/test', 'ext/intck', 'ext/rbu', 'ext/recover', 'ext/rtree',
          'ext/session']

# Files that run all others, or choices of them, once more or with other settings.
DRIVERS = re.compile(r'/permutations\.test\b|\brun_test_suite\b|\bforeach testfile\b|\bset TIMEOUT 3600\b')

# Part of `make test`: a choice from every kind of file, each of about a second in stock.
PART = """
    affinity2 affinity3 aggfault aggnested aggorderby alter altercol altertab analyze autoinc autoindex1
    bestindex1 between bigrow blob boundary1 cast check coalesce collate1 collate2 collate9 conflict
    corrupt2 corrupt4 corruptB countofview cse date default delete delete2 descidx1 descidx2 distinct
    distinctagg e_expr e_select e_update eqp exists expr filter1 fkey2 fkey5 func3 fts3aa fts3ab
    fts3corrupt gencol1 hook in in3 in4 in5 incrblob incrvacuum index index3 indexedby indexexpr1 insert
    insert2 insert4 intpkey ioerr2 join join2 join5 json101 json103 lastinsert like limit mallocB
    minmax minmax2 misc1 misc3 notnull2 null numcast orderby1 orderby5 pragma printf quote returning1
    rowid rowvalue rowvalue3 rowvaluefault savepoint schema select1 select2 select3 select4 select5
    select6 selectA selectB sort strict1 subquery temptable trans3 trigger1 trigger2 trigger3 trigger9
    triggerC types types2 unique update upsert1 upsert3 vacuum view vtab1 wal wal2 where where2 where3
    where9 whereL window1 windowfault with1 with2 without_rowid1 without_rowid3 zeroblob rtree1
    rtree5 session1 session2 rbu5 rbu3 recover1 fts5ab fts5tok1
""".split()


# What isn't run, with the reason; `show` prints it. This list may only shrink.
LEFT_OUT = {
    ('ext/intck/intckfault.test', 'always-eager'):
        'it would take about a day, by what the other files of ext/intck take (stock takes 7 minutes, '
        'always 51); it runs in the other four',
}


class Unknown(Exception):
    """No test file has that name; the message says so."""


def every(directory):
    """Return the names of all test files of a tree, as paths below it, sorted.

    Args:
        directory: the tree's folder.
    """
    found = []
    for place in PLACES:
        for path in sorted(glob.glob(os.path.join(directory, place, '*.test'))):
            if os.path.basename(path) == 'permutations.test':
                continue
            with open(path, encoding='utf-8', errors='replace') as file:
                if not DRIVERS.search(file.read()):
                    found.append(os.path.relpath(path, directory))
    return found


def choose(directory, names):
    """Return the test files that a user names.

    Args:
        directory: the tree's folder.
        names: paths below the tree, or names of files, with or without .test, or patterns of them; none: all.

    Raises:
        Unknown: a name fits no file.
    """
    files = every(directory)
    if not names:
        return files
    chosen = []
    for name in names:
        pattern = re.compile(re.escape(name).replace(r'\*', '.*') + r'(\.test)?$')
        found = [path for path in files if pattern.match(path) or pattern.match(os.path.basename(path))]
        if not found:
            raise Unknown('no test file %s in SQLite\'s tree' % name)
        chosen += [path for path in found if path not in chosen]
    return chosen
