"""Builds the checking build of the C tier: `python -m tools.effects`; `... counts`: what it has checked.

It is the engine (the same edited amalgamation, the same C files) with c_engine/effects/ and the edits of
c_engine/patches/effects.py, as build/effects/libsqpyte-effects.so. Each opcode runs alone there and is
compared with its declaration in the opcode table, which reaches C as a generated header. docs/testing.md
says what that proves; tests/effects runs it.
"""
import glob
import os
import sys

from c_engine.build import build, flags
from c_engine.generated import opcodes
from c_engine.patches import apply, effects
from sqpyte.vm.opcodes import table as optable
from sqpyte.vm.opcodes.every import IN_C, TABLE
from sqpyte.vm.program import decode
from sqpyte.vm.program.liveness import ENDS_STEP, successors

FOLDER = os.path.join(build.ROOT, 'build', 'effects')
LIBRARY = os.path.join(FOLDER, 'libsqpyte-effects.so')
SOURCES = os.path.join(build.ROOM, 'effects')
INCLUDES = [FOLDER, build.ROOM, SOURCES]
# Compiled in half the time, for a library that is slow whatever the compiler does.
OPTIONS = ['-DSQPYTE_CHECK_EFFECTS', '-O1']
# Words of a declaration's jumps that aren't a place of its own in the program, and their bits.
JUMPS = {'NEXT': 1, 'P1': 2, 'P2': 4, 'P3': 8, 'RETURN': 16, 'COROUTINE': 32, 'SECOND': 64, 'NEXT_P2': 128,
         'CORRUPT': 256}
_HERE, _P1, _P2, _P3, _NEXT_P2, _SIZE = 30, 10, 20, 40, 45, 50


def jumps_of(declaration):
    """The bits of JUMPS for an opcode: what liveness.successors says of one whose operands are
    addresses that differ."""
    bits = 0
    for word in ('RETURN', 'COROUTINE', 'CORRUPT'):
        if word in declaration.jumps:
            bits |= JUMPS[word]
    if 'RETURN' in declaration.jumps:
        return bits
    ops = [decode.Op(opcodes.OP_Noop, 0, 0, 0, 0) for _ in range(_SIZE)]
    ops[_HERE] = decode.Op(declaration.number, _P1, _P2, _P3, 0)
    ops[_HERE + 1].p2 = _NEXT_P2
    places = {_HERE + 1: 'NEXT', _HERE + 2: 'SECOND', _P1: 'P1', _P2: 'P2', _P3: 'P3', _NEXT_P2: 'NEXT_P2'}
    for place in successors(ops, _HERE):
        bits |= JUMPS[places[place]]
    return bits


def everything():
    """All declarations, by name."""
    return {one.name: one for table in (TABLE, IN_C) for one in table.values()}


def _spans(spans):
    entries = ['{%d, %d, %d, %s, %d}' % (span.special, span.base, span.form,
                                         'SQPYTE_TO_THE_END' if span.count == optable.TO_THE_END
                                         else span.count, span.constant) for span in spans]
    return '{%s}' % ', '.join(entries + ['{-1, 0, 0, 0, 0}'])


def header():
    """The text (str) of declared.h: the opcode table as C."""
    lines = ['/* Generated from the opcode table (sqpyte/vm/opcodes) by tools/effects.py. */',
             '#define SQPYTE_TO_THE_END (-1)', '#define SQPYTE_MOVED_END (-1)',
             '#define SQPYTE_MOVED_ALL %d' % optable.ALL, '#define SQPYTE_MOVED_WRITTEN %d' % optable.WRITTEN]
    lines += ['#define SQPYTE_SPECIAL_%s %d' % (name, i) for i, name in enumerate(optable.SPECIAL)]
    lines += ['#define SQPYTE_JUMP_%s %d' % item for item in sorted(JUMPS.items())]
    declared = everything()
    every = list(declared.values())
    spans = max(max(len(d.read_spans), len(d.write_spans), len(d.convert_spans)) for d in every) + 1
    cursors = max(max(len(d.moved), len(d.touched)) for d in every) + 1
    lines += ['typedef struct SqpyteOperands {', '  signed char special, base, form, count; int constant;',
              '} SqpyteOperands;',
              'typedef struct SqpyteDeclared {',
              '  unsigned char known, leaves, userCode; int jumps;',
              '  SqpyteOperands aRead[%d], aWrite[%d], aConvert[%d];' % (spans, spans, spans),
              '  signed char aMoved[%d], aTouched[%d];' % (cursors, cursors),
              '} SqpyteDeclared;',
              '#define SQPYTE_NDECLARED %d' % len(opcodes.NAMES),
              'static const SqpyteDeclared sqpyteDeclared[] = {']
    for number, name in enumerate(opcodes.NAMES):
        one = declared.get(name)
        if one is None:
            lines.append('  /* %s */ {0},' % name)
            continue
        lines.append('  /* %s */ {1, %d, %d, %d, %s, %s, %s, {%s}, {%s}},' % (
            name, ENDS_STEP[number], one.user_code, jumps_of(one), _spans(one.read_spans),
            _spans(one.write_spans), _spans(one.convert_spans), ', '.join(map(str, one.moved + [-1])),
            ', '.join(map(str, one.touched + [-1]))))
    return '\n'.join(lines + ['};', ''])


def amalgamation(text):
    """The edited amalgamation (str) with the checking build's own edits. Raises: EditError."""
    return apply.apply_each(text, effects.EDITS)


def counts_file(run):
    """The file to which the processes of a run (str) append their counts."""
    return os.path.join(FOLDER, 'counts-' + run)


def inputs(paths):
    """The files that the checking build is made from, declared.h among them, which is written."""
    declared = os.path.join(FOLDER, 'declared.h')
    text = header()
    if not os.path.exists(declared) or build.read(declared) != text:
        build.write(declared, text)
    sources = sorted(glob.glob(os.path.join(SOURCES, '*.[ch]')))
    edited = os.path.join(paths.edited, 'sqlite3.c')
    return [edited, declared, effects.__file__] + sources + build.engine_sources()


def make():
    """Build the library, unless it is up to date. The engine has to be built."""
    paths = build.Paths()
    edited = os.path.join(paths.edited, 'sqlite3.c')

    def action():
        build.write(os.path.join(FOLDER, 'sqlite3.c'), amalgamation(build.read(edited)))
        build.write(os.path.join(FOLDER, 'sqlite3.h'), build.read(os.path.join(paths.edited, 'sqlite3.h')))
        target = os.path.join(FOLDER, 'effects.o')
        build.compile_object(os.path.join(build.ROOM, 'core', 'engine.c'), target,
                             INCLUDES, OPTIONS)
        build.link_library([target], LIBRARY, 'libsqpyte-effects.so')

    key = build.digest(inputs(paths), flags.COMPILE, flags.DEFINES, OPTIONS, flags.LINK,
                       build.compiler_identity())
    build.step('checking build', [LIBRARY], key, action)


def counted(path):
    """What the processes that have written to the file at path have checked: a dict of numbers (`opcodes`,
    `programs`, `unchecked` steps, `violations`) and the set `names` of the opcodes."""
    total = {'opcodes': 0, 'programs': 0, 'unchecked': 0, 'violations': 0}
    names = set()
    if os.path.exists(path):
        for line in build.read(path).splitlines():
            words = line.split()
            for name, number in zip(total, words):
                total[name] += int(number)
            names.update(words[4:])
    return dict(total, names=names)


def show():
    """Print what has been checked since the files of counts were removed."""
    seen = set()
    for path in sorted(glob.glob(counts_file('*'))):
        one = counted(path)
        seen |= one['names']
        print('%s: %d opcodes of %d programs, %d different ones; %d calls of sqlite3_step not checked; '
              '%d violations' % (os.path.basename(path)[len('counts-'):], one['opcodes'], one['programs'],
                                 len(one['names']), one['unchecked'], one['violations']))
    print('never seen: %s' % ' '.join(sorted(set(opcodes.NAMES) - seen)))


def main(arguments):
    """Run the command line; return the exit code."""
    if arguments == ['counts']:
        show()
    else:
        make()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
