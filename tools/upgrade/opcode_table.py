"""What another SQLite has changed in the list of opcodes, held against what the VM declares of them."""
import inspect
import os

from c_engine.build import build
from sqpyte.vm.opcodes.every import IN_C, TABLE
from tools.upgrade import uses

# These jump without the property: their P2 is never a label that has to be resolved.
SILENT_JUMPS = {'SequenceTest', 'SorterCompare', 'SeekScan'}
LEFT_IN_C = os.path.join('sqpyte', 'vm', 'opcodes', 'left_in_c.py')


def declarations():
    """{name: Declaration} of every opcode that is declared."""
    return {one.name: one for table in (TABLE, IN_C) for one in table.values()}


def where(name):
    """Where an opcode runs, and is declared, as one would open it (str)."""
    declaration = declarations().get(name)
    if declaration is None:
        return 'not declared, runs in C'
    if declaration.handler is None:
        return 'runs in C, ' + LEFT_IN_C
    return os.path.relpath(inspect.getfile(declaration.handler), build.ROOT)


def disagreements(declaration, properties, flags):
    """Where a declaration doesn't say what upstream's properties say.

    Upstream has no flags for registers that are named by other operands, so a declaration may say more.

    Args:
        declaration: of the opcode (sqpyte.vm.opcodes.table.Declaration).
        properties: the opcode's, an OR of the OPFLG_ bits (int).
        flags: {name of the bit: its value}.

    Returns: a list of str, empty if they agree.
    """
    found = ['it reads %s' % register for flag, register in (('IN1', 'P1'), ('IN2', 'P2'), ('IN3', 'P3'))
             if properties & flags['OPFLG_' + flag] and register not in declaration.reads]
    found += ['it writes %s' % register for flag, register in (('OUT2', 'P2'), ('OUT3', 'P3'))
              if properties & flags['OPFLG_' + flag] and register not in declaration.writes]
    jumps = bool(properties & flags['OPFLG_JUMP'] or declaration.name in SILENT_JUMPS)
    if jumps != bool(set(declaration.jumps) & {'P1', 'P2', 'P3'}):
        found.append('it jumps' if jumps else "it doesn't jump")
    return found


def words(properties, flags):
    """The names (str) of the bits of `properties` (int), without their prefix."""
    known = sorted((value, name) for name, value in flags.items())
    return ' '.join(name[len('OPFLG_'):] for value, name in known if value and properties & value) or 'none'


class Listed:
    """The opcodes of a version: what c_engine.build.opcodes.read returns, by name.

    Attributes: `properties` ({name: int}), `comments` ({name: str}), `flags` ({name: int}).
    """

    def __init__(self, names, properties, comments, flags):
        self.properties = dict(zip(names, properties))
        self.comments = dict(zip(names, comments))
        self.flags = flags


def misfits(before, after):
    """What has to be mended in the declarations.

    Args: before, after: the pinned version's opcodes, and the other's (Listed).
    Returns: a list of lines (str).
    """
    declared = declarations()
    lines = []
    for name in sorted(after.properties):
        if name in declared:
            lines += ['%s: upstream says now that %s, its declaration does not (%s)' % (name, one, where(name))
                      for one in disagreements(declared[name], after.properties[name], after.flags)]
        else:
            lines.append('%s is new and not declared, so it is upstream\'s: it will run in C, in no slice and no '
                         'inlined loop. Declare it in %s, then `make docs`. Upstream says: "%s", %s' % (
                             name, LEFT_IN_C, after.comments[name], words(after.properties[name], after.flags)))
    # Memoize and MemoizeStore are declared, and come with the edits.
    gone = sorted(name for name in set(before.properties) - set(after.properties) if name in declared)
    # The compiler tells of C code.
    used = uses.files_with(['OP_' + name for name in gone], uses.PYTHON)
    for name in gone:
        others = ''.join(', and its name in ' + path for path in used.get('OP_' + name, []))
        lines.append('%s is gone: take out its declaration (%s)%s' % (name, where(name), others))
    return lines


def changes(before, after):
    """What upstream says differently of an opcode that is declared and agrees; arguments and result as of misfits."""
    lines = []
    for name in sorted(set(before.properties) & set(after.properties)):
        old, new = (words(one.properties[name], one.flags) for one in (before, after))
        if old != new:
            lines.append('%s: its properties were %s, and are %s (%s)' % (name, old, new, where(name)))
        if before.comments[name] != after.comments[name]:
            lines.append('%s: upstream\'s comment was "%s", and is "%s" (%s)' % (
                name, before.comments[name], after.comments[name], where(name)))
    return lines
