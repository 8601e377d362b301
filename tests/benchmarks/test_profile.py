"""Where the time goes: an instruction's part, and the sampling of a query."""
import subprocess

import pytest

from benchmarks import ablations, cli, places
from benchmarks.results import origins
from benchmarks.run import engines, profile
from c_engine.build.build import ROOT

AMALGAMATION = '''
/************** Begin file btree.c *******************************************/
static int decodeFlags(MemPage *pPage, int flagByte);
/************** Include vdbeInt.h in the middle of btree.c *******************/
/************** Begin file vdbeInt.h *****************************************/
int sqlite3VdbeInside(Vdbe*);
/************** End of vdbeInt.h *********************************************/
/************** Continuing where we left off in btree.c **********************/
static int decodeFlags(MemPage *pPage, int flagByte){
  return sqlite3VdbeInside(0);
}
SQLITE_PRIVATE const char *sqlite3Name(
  Btree *p
){
/************** Begin file vdbe.c ********************************************/
SQLITE_PRIVATE int sqlite3VdbeExec(
'''


def test_functions_are_found_in_their_files(tmp_path):
    path = tmp_path / 'sqlite3.c'
    path.write_text(AMALGAMATION)
    assert origins.definitions(str(path), '?') == {
        'decodeFlags': 'btree.c', 'sqlite3Name': 'btree.c', 'sqlite3VdbeExec': 'vdbe.c'}


@pytest.fixture(scope='module')
def found(stock_library):
    return origins.Origins()


def offset_of(library, name):
    """Offset of a function in a library."""
    listing = subprocess.run(['nm', library], check=True, stdout=subprocess.PIPE,
                             universal_newlines=True).stdout
    return next(int(line.split()[0], 16) for line in listing.splitlines()
                if line.split()[-1] == name)


def test_parts(found, stock_library):
    maps = ['10000000-20000000 r-xp 00000000 08:01 7    ' + stock_library,
            '30000000-30001000 rwxp 00000000 00:00 0', '40000000-40001000 rw-p 0 00:00 0    [heap]']
    addresses = [0x10000000 + offset_of(stock_library, name) + 4 for name in (
        'sqlite3VdbeExec', 'sqlite3BtreeTableMoveto', 'vdbeSorterMerge', 'pcache1Fetch')]
    counts = found.count(['%s\n' % line for line in maps] + ['\n'] + [
        '%x\n' % address for address in addresses + [0x30000010, 0x40000010, 0x99]])
    assert {part: count for part, count in counts.items() if count} == {
        'interpreter': 1, 'B-tree': 1, 'sorter': 1, 'pages': 1, 'traces': 1, 'rest': 2}


def test_a_query_is_sampled(found, stock_library, tmp_path):
    sql = ('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 200000) '
           'SELECT sum(n * n) FROM r')
    path = tmp_path / 'empty.db'
    path.write_bytes(b'')
    engine = engines.LibraryEngine('stock', places.stock_library, lambda query, scale: sql)
    settings = engines.Settings(1, 0.0, 2, 0.1, None, '', 60, 'wall')
    for phase in ('first', 'warm'):
        got = profile.sample(engine, 'q', 1, str(path), settings, phase, found)
        assert sum(got.samples.values()) > 10
        assert got.share('interpreter') > 0.1
        assert got.share('traces') == 0
    together = profile.total([got, got], 'all')
    assert together.seconds == pytest.approx(2 * got.seconds)
    assert together.share('interpreter') == pytest.approx(got.share('interpreter'))
    assert '| interpreter' in profile.markdown([together])


def test_every_switch_has_an_engine_and_a_make_target(engine_library):
    assert set(ablations.LIBRARY) <= set(cli.SUITES['tpch'].engines)
    with open(ROOT + '/Makefile') as file:
        text = file.read()
    assert 'vm-no-%:' in text
