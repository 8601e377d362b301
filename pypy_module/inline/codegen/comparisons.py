"""What the inliner emits for comparisons: they are done in Python where Python has both values.

Two integers, two floats, two texts by BINARY, and two texts or blobs of which a function has returned one, are
compared directly; texts by a collation of the user's call it. All else does the VM's compare_operands.
"""

from c_engine.generated import layout
from sqpyte.vm.values.compare import BINARY, NOCASE, RTRIM

# How a comparison's condition reads, by whether it also holds with a NULL, and for two numbers.
CONDITIONS = {
    'Eq': ('o == 0', 'o == 0 or o == NULL_RESULT', '=='),
    'Ne': ('o != 0 and o != NULL_RESULT', 'o != 0', '!='),
    'Lt': ('o < 0', 'o < 0 or o == NULL_RESULT', '<'),
    'Le': ('o <= 0', 'o <= 0 or o == NULL_RESULT', '<='),
    'Gt': ('0 < o < NULL_RESULT', 'o > 0', '>'),
    'Ge': ('0 <= o < NULL_RESULT', 'o >= 0', '>='),
}
# What is compared of the bytes of two texts, by collation, and whether texts of different sizes can be equal.
KEYS = {BINARY: ('%s', False), NOCASE: ('nocase_key(%s)', False), RTRIM: ("%s.rstrip(b' ')", True)}


def emit(part, pc, op, name):
    """Emit the opcode OP_`name`: a jump if the comparison holds."""
    source = part.source
    condition, condition_or_null, sign = CONDITIONS[name]
    left, right = part.w(op.p3), part.w(op.p1)
    for number, kind in (('intval', 'W_Int'), ('floatval', 'W_Real')):
        source.add('%s type(%s) is %s and type(%s) is %s:' % (
            'if' if number == 'intval' else 'elif', left, kind, right, kind))
        source.add('    holds = %s.%s %s %s.%s' % (left, number, sign, right, number))
    if op.p5 & layout.SQLITE_AFF_MASK < layout.SQLITE_AFF_NUMERIC:
        by_bytes(part, pc, op, sign)
    if pc in part.loop.python:
        source.add('elif type(%s) is %s and type(%s) is %s:' % (
            left, part.bytes_type(op.p3, pc, 'Text'), right, part.bytes_type(op.p1, pc, 'Text')))
        with source.block():
            by_collation(part, pc, op)
            source.add('holds = ' + condition)
            for register, holds in ((op.p2, 'holds'), (pc + 1, 'not holds')):
                part.branch('self.handed and ' + holds, part.side_exit(register))
    source.add('else:')
    with source.block():
        source.add('o = compare_operands(%s, %s, %d, %d)' % (left, right, op.p5, op.collation))
        part.branch('o == UNDECIDED', part.bail_out(pc))
        if_null = op.p5 & layout.SQLITE_JUMPIFNULL
        source.add('holds = ' + (condition_or_null if if_null else condition))
    part.branch('holds', part.jump(pc, op.p2))


def by_bytes(part, pc, op, sign):
    """Emit the comparison of two texts, and of two blobs, in Python: of blobs, and by another collation than BINARY, if
    a function has returned one of them. C would need its address: WHERE f(b) = b took 1.7 times as long as in C."""
    left, right = part.w(op.p3), part.w(op.p1)
    returned = part.returned(op.p3, pc) or part.returned(op.p1, pc)
    kinds = [('Text', op.collation)] if op.collation == BINARY or returned and op.collation in KEYS else []
    for kind, collation in kinds + [('Blob', BINARY)] * returned:
        key, sizes_differ = KEYS[collation]
        part.source.add('elif type(%s) is %s and type(%s) is %s:' % (
            left, part.bytes_type(op.p3, pc, kind), right, part.bytes_type(op.p1, pc, kind)))
        same_size = '%s.size == %s.size and ' % (left, right) if sign == '==' and not sizes_differ else ''
        part.source.add('    holds = %s%s %s %s' % (
            same_size, key % part.data(op.p3, pc), sign, key % part.data(op.p1, pc)))


def by_collation(part, pc, op):
    """Emit the comparison of two texts by a collation of the user's: its result is `o`."""
    source = part.source
    names = []
    for name, register in (('x', op.p3), ('y', op.p1)):
        if register in part.loop.written:
            source.add('%s = unwrapped(%s)' % (name, part.w(register)))
            part.check(pc, name)
        else:
            name = part.code.preset('k', register, 'v')
        names.append(name)
    source.add('self.inside = False',
               'try:', '    o = compared(self.f%d(%s, %s))' % (pc, names[0], names[1]), '    self.inside = True')
    source.failed('self.not_compared(failure)', *part.bail_out(pc))
