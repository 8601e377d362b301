"""Struct offsets and constants of SQLite's internals, as the C compiler sees them.

STRUCTS and CONSTANTS say what is wanted; a C program that includes the edited amalgamation, built
with the engine's own flags, prints the numbers. `python -m c_engine.build layout` writes them to
c_engine/generated/layout.py as `Vdbe_pc = 52`, `Vdbe_pc_size = 4`, `sizeof_Vdbe = 304`,
`MEM_Int = 4`. Bit fields have no offset and so can't be listed.
"""

import os
import re
import subprocess
import tempfile

from c_engine.build import flags

# Prefix of the generated names, C type, fields. A field that ends in [] is a flexible array: only
# its offset is generated. A dot reaches into a union: u1.isInterrupted becomes u1_isInterrupted.
STRUCTS = [
    ('Vdbe', 'Vdbe',
     'db pParse nVar nMem nCursor cacheCtr pc rc nChange aMem apCsr aVar aOp nOp aColName '
     'pResultRow zErrMsg startTime nResColumn errorAction prepFlags eVdbeState btreeMask lockMask '
     'aCounter zSql pFrame nFrame expmask pProgram pAuxData'),
    ('VdbeFrame', 'VdbeFrame', 'aOp aMem pc'),
    ('VdbeOp', 'VdbeOp', 'opcode p4type p5 p1 p2 p3 p4'),
    ('Mem', 'Mem', 'u z n flags enc eSubtype db szMalloc uTemp zMalloc xDel'),
    ('VdbeCursor', 'VdbeCursor',
     'eCurType iDb nullRow deferredMoveto isTable seekHit ub seqCount cacheStatus seekResult '
     'pAltCursor uc pKeyInfo iHdrOffset pgnoRoot nField nHdrParsed movetoTarget aOffset aRow '
     'payloadSize szRow pCache aType[]'),
    ('Btree', 'Btree', 'db pBt inTrans sharable locked wantToLock nBackup iBDataVersion'),
    ('BtCursor', 'BtCursor',
     'eState curFlags curPagerFlags hints skipNext pBtree aOverflow pKey pBt pNext info nKey '
     'pgnoRoot iPage curIntKey ix aiIdx pKeyInfo pPage apPage'),
    ('MemPage', 'MemPage',
     'isInit intKey intKeyLeaf pgno leaf hdrOffset childPtrSize max1bytePayload nOverflow maxLocal '
     'minLocal cellOffset nFree nCell maskPage pBt aData aDataEnd aCellIdx aDataOfst pDbPage'),
    ('CellInfo', 'CellInfo', 'nKey pPayload nPayload nLocal nSize'),
    ('BtShared', 'BtShared', 'pPager db pCursor inTransaction usableSize pageSize nPage'),
    ('KeyInfo', 'KeyInfo', 'nRef enc nKeyField nAllField db aSortFlags aColl[]'),
    ('UnpackedRecord', 'UnpackedRecord', 'pKeyInfo aMem nField default_rc errCode r1 r2 eqSeen'),
    ('CollSeq', 'CollSeq', 'zName enc pUser xCmp'),
    ('FuncDef', 'FuncDef', 'nArg funcFlags pUserData xSFunc xFinalize xValue xInverse zName'),
    ('sqlite3_context', 'sqlite3_context',
     'pOut pFunc pMem pVdbe iOp isError enc skipFlag argc argv[]'),
    ('sqlite3', 'sqlite3',
     'pVdbe pDfltColl mutex aDb nDb flags lastRowid errCode errMask enc autoCommit mallocFailed '
     'mTrace nChange nTotalChange aLimit nVdbeActive nVdbeRead nVdbeWrite nVdbeExec '
     'u1.isInterrupted xProgress nProgressOps nSqpyteStamp nSqpyteWriting'),
    ('SumCtx', 'SumCtx', 'rSum rErr iSum cnt approx ovrfl'),
    ('CountCtx', 'CountCtx', 'n'),
]

# Macros with an integer value, by regular expression of the whole name.
CONSTANTS = [
    'MEM_[A-Z]\\w+', 'CURTYPE_\\w+', 'P4_\\w+', 'CURSOR_\\w+', 'BTCF_\\w+', 'CACHE_STALE',
    'BTREE_(?!CLEAR_CELL|ULPDISTORTION)\\w+', 'BTCURSOR_MAX_DEPTH', 'PTF_\\w+', 'VDBE_\\w+_STATE',
    'OPFLAG_\\w+', 'KEYINFO_ORDER_\\w+',
    'SQLITE_FUNC_\\w+', 'SQLITE_AFF_\\w+', 'SQLITE_(JUMPIFNULL|NULLEQ|NOTNULL|STOREP2)',
    'SQLITE_N_LIMIT',
]

# Ours, in engine.h and the edits, as the VM uses them.
OWN_CONSTANTS = 'SQPYTE_(?:STOP|MODE_\\w+|WHY_\\w+|BLOB|HANDLED|CLOSES_LOOP|SEEKS|KNOWN_ROW|MAX_REFUSALS|NO_ORDER)'

# Every integer macro of the public header: result codes, SQLITE_TRACE_, SQLITE_STMTSTATUS_, ...
PUBLIC_CONSTANTS = 'SQLITE_(?!VERSION|SOURCE_ID|STATIC|TRANSIENT)[A-Z]\\w+'

_ROOM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENGINE_HEADER = os.path.join(_ROOM, 'core', 'engine.h')

DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\s"/][^"\n]*)$', re.MULTILINE)
# A number, or an expression in parentheses such as (SQLITE_IOERR | (1<<8)).
INTEGER_VALUE = re.compile(r'-?\d|\((?:-?\d|SQLITE_)')

# sqlite3.c comes first: it sets the feature macros of the system's headers.
PREFIX = '''\
#include "%s"
#include "core/engine.h"
#include <stddef.h>
#include <stdio.h>
#define FIELD(prefix, type, name, field) \\
  printf(prefix "_" name " = %%zu\\n" prefix "_" name "_size = %%zu\\n", \\
         offsetof(type, field), sizeof(((type*)0)->field))
#define FLEXIBLE(prefix, type, name, field) \\
  printf(prefix "_" name " = %%zu\\n", offsetof(type, field))
#define CONSTANT(name) printf(#name " = %%lld\\n", (long long)(name))
int main(void){
'''


def constant_names(source, header, own_header):
    """Return the sorted names (list of str) of the macros wanted.

    Args:
        source: the amalgamation's text.
        header: sqlite3.h's text.
        own_header: engine.h's text.
    """
    wanted = re.compile('(?:%s)$' % '|'.join(CONSTANTS))
    public = re.compile(PUBLIC_CONSTANTS + '$')
    own = re.compile(OWN_CONSTANTS + '$')
    names = set()
    for text, pattern in ((source, wanted), (header, public), (source, own), (own_header, own)):
        for name, value in DEFINE.findall(text):
            if pattern.match(name) and INTEGER_VALUE.match(value):
                names.add(name)
    return sorted(names)


def added_fields(source):
    """Return the fields (list of str) that our edits add to struct Vdbe: `sqpyte...`."""
    start = source.index('\nstruct Vdbe {\n')
    body = re.sub(r'/\*.*?\*/', '', source[start:source.index('\n};\n', start)], flags=re.DOTALL)
    return re.findall(r'\b(sqpyte\w+)\s*(?:\[[^\]]*\])?\s*[;,]', body)


def program(source_path, source, header, own_header, edited=True):
    """Return the text (str) of the C program that prints every number.

    Args:
        source_path: path of the amalgamation to include.
        source, header, own_header: texts of the amalgamation, of sqlite3.h and of engine.h.
        edited: whether the amalgamation has our edits; without them the fields that they add are left out.
    """
    lines = [PREFIX % source_path]
    for prefix, ctype, wanted in STRUCTS:
        fields = [field for field in wanted.split() if edited or 'Sqpyte' not in field]
        if prefix == 'Vdbe' and edited:
            fields += added_fields(source)
        for field in fields:
            macro = 'FLEXIBLE' if field.endswith('[]') else 'FIELD'
            field = field.replace('[]', '')
            lines.append('%s("%s", %s, "%s", %s);' % (
                macro, prefix, ctype, field.replace('.', '_'), field))
        lines.append('printf("sizeof_%s = %%zu\\n", sizeof(%s));' % (prefix, ctype))
    for name in constant_names(source, header, own_header):
        lines.append('#ifdef %s\nCONSTANT(%s);\n#endif' % (name, name))
    lines += ['return 0;', '}', '']
    return '\n'.join(lines)


def generate(source_path, options=flags.DEFINES, edited=True):
    """Compile and run the program; return the source (str) of generated/layout.py.

    Args:
        source_path: path of the amalgamation to measure, sqlite3.h beside it.
        options: the compiler's -D and -I options.
        edited: whether the amalgamation has our edits (bool).

    Raises:
        subprocess.CalledProcessError: a field or a constant isn't there any more; `stderr`, the
            compiler's message, names it.
    """
    source_path = os.path.abspath(source_path)
    directory = os.path.dirname(source_path)
    with open(source_path) as file:
        source = file.read()
    with open(os.path.join(directory, 'sqlite3.h')) as file:
        header = file.read()
    with open(ENGINE_HEADER) as file:
        own_header = file.read()
    with tempfile.TemporaryDirectory(prefix='sqpyte-') as scratch:
        text = os.path.join(scratch, 'layout.c')
        binary = os.path.join(scratch, 'layout')
        with open(text, 'w') as file:
            file.write(program(source_path, source, header, own_header, edited))
        # The edits call functions of engine.c: the linker drops what main() doesn't reach.
        flags.compile_or_link(list(options) + [
            '-w', '-O0', '-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections',
            '-I', directory, '-I', _ROOM, text, '-o', binary] + flags.LIBRARIES)
        numbers = subprocess.run([binary], check=True, stdout=subprocess.PIPE).stdout.decode()
    return ('"""Offsets, sizes and constants of SQLite, in bytes. Generated by c_engine/build/layout.py; '
            'not to be edited."""\n\n' + numbers)
