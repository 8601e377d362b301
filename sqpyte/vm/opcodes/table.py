"""The opcode table: one declaration per opcode drives everything that must know it.

A declaration gives the opcode's name, the registers it reads and writes, where it may jump,
whether it may run user code, and its handler, whose docstring is the opcode's contract.  The
dispatcher (interp.py), the liveness that says which registers to write back (program/liveness.py), the
PyPy inliner and the docs read it.  `tests/sqpyte/test_opcode_table.py` holds it against the
properties that upstream declares.

Registers and jumps are written as in SQLite's opcode synopses: `P1` a register, `P2@P5` the P5
registers from P2 on, `P2..P3` the registers from P2 to P3, `P1+P3` the P3+1 registers from P1,
`P1+1` two registers from P1, `P3..` all registers from P3 on. P4 is meant as an integer. A
register P1 that isn't above zero is none. A write must happen on every way out of the opcode; a
register that is only written at times is declared as read, too, so that its old value is kept.

Beside these: `RECORD` the register with the pseudo-cursor's record, `SKIP` the one that min() and
max() set when they skip a row, `P2REG` P2 if P5 says that it is a register, `P3VALUE` P3 if P1 is
no cursor, `ARGUMENTS` the registers from P2 on, as many as the function P4 is called with,
`FROM_P1` all registers from P1 on, which may be negative, `NEXT_KEY` the P3@P4 of the opcode
behind this one, and `UNDECODED` P3 in a program that goes on where a record is corrupt.

Jumps that aren't to an operand: `RETURN` and `COROUTINE` (flow.py), `SECOND` to the opcode after the
next, `CORRUPT` to P3 of the program's Init, if it has one.

`moves` says which cursors an opcode may move when C runs it: operands (`P1 P3`), `WRITTEN` for
P1 if it is an ephemeral table and else for all cursors, or `ALL`.  An opcode whose effects are
known needs not the whole frame to be handed to C and back (interp.py). `touches`, written so, too, are
cursors that stay where they stand while counts and caches in them change, and that find their place
again if they have lost it: the VM knows nothing of a cursor that has none.

`converts`, registers that are read: C may leave the same value in another form there, a number for
a text that a function has asked for as a number. Upstream's programs read such a register only for this
one opcode until they write it again, so it doesn't matter which form the VM has; but for a constant argument,
which the same call finds again in each round (function.py).

`kind` is one or more words of KINDS: what an opcode is to those that run programs ahead of their
caller, inline them, or keep something while they run. An opcode without a word is none of it: one
that nobody has looked at is never run ahead, left out, or cached around.

`seeks` marks an opcode that goes down a B-tree.  That is C's work in either tier and most of such a
loop's time: c_engine/core/tiering.c decides whether it is worth tracing.

A handler takes (frame, op, pc) and returns the next pc, or, having changed nothing, BAIL_OUT:
upstream's own code then executes the opcode.
"""
from c_engine.generated import opcodes

BAIL_OUT = -1      # run this opcode in C, then go on
LEAVE = -2      # the statement goes on in C with this opcode
FAILED = -3     # a C function failed and sqpyte_fail has been called


# The words of `kind`. Of the first six an opcode has one at most.
KINDS = {
    'registers': 'changes nothing but registers, and the place in the program',
    'call': 'the same, and calls a function',
    'read': 'changes nothing; reads cursor P1, which it may move, and no other (DeferredSeek: P3)',
    'own': 'changes what belongs to the statement alone, if cursor P1 does',
    'own-set': 'changes a set in a register: rowids, or a Bloom filter',
    'memo': 'changes nothing but registers, and gives or keeps what was computed from tables of databases',
    'cursor': 'P1 is a cursor',
    'opens-to-read': 'opens cursor P1 on a B-tree of a database, to read',
    'opens-btree': 'opens cursor P1 on a B-tree of a database',
    'opens-ephemeral': 'opens cursor P1 on a table of the statement',
    'opens-sorter': 'opens the sorter P1',
    'opens-record': 'opens cursor P1 on a record in a register',
    'opens-virtual': 'opens cursor P1 on a virtual table',
    'step-btree': 'closes a loop: goes to the next row of a B-tree',
    'step-sorter': 'closes a loop: goes to the next record of a sorter',
    'step-virtual': 'closes a loop: goes to the next row of a virtual table',
    'calls-module': "of a virtual table's cursor it calls the module, which may do anything",
    'row-cache': 'may be done with a cursor whose rows a row cache keeps',
    'index-comparison': 'compares the entry under an index cursor with r[P3@P4]',
    'coroutine': 'goes to the other side of a coroutine',
    'switch': 'where the program goes on is in a register',
    'looks-for-interrupt': 'upstream looks for an interrupt there',
    'ends-step': 'may end sqlite3_step in the middle of the program',
    'copy': 'copies or moves registers',
    'arithmetic': 'r[P3] = r[P2], an operator, r[P1]',
    'comparison': 'compares r[P3] with r[P1] and may jump to P2',
    'logic': 'three-valued logic',
    'condition': 'looks at r[P1] and may jump to P2',
    'counter': 'counts the integer r[P1] down and may jump to P2',
    'computes': 'sets a register to a value that depends on registers alone',
    'function': 'calls a scalar function',
    'aggregate-step': 'a step of an aggregate',
    'aggregate-inverse': 'takes a row out of a window',
    'aggregate-result': "an aggregate's or window's result",
    'opaque-p1': 'r[P1] holds what only C can read',
    'opaque-p3': 'r[P3] holds what only C can read',
    'nothing': 'what Python code needn\'t do',
    'affinities': 'P4 has an affinity for each register',
    'shows-mark': 'SQLite or the user may see whether a value is a bound parameter',
    'distinct': 'may be done with the index by which DISTINCT knows what has been',
    'emitted': 'the inliner makes Python of it (pypy_module/inline/codegen/opcodes.py)',
    'again': 'done again it does the same, and nobody can tell',
    'store': 'puts results where they are sorted, grouped or made distinct, or looks for them there',
    'sink': 'C can do it behind a slice: a store, or what computes for one',
}

SPECIAL = ['RECORD', 'SKIP', 'P2REG', 'P3VALUE', 'ARGUMENTS', 'FROM_P1', 'NEXT_KEY',
           'UNDECODED']
_COUNT_FORMS = {'@': 0, '+': 1, '..': 2}
TO_THE_END = -1
_MOVED = ['ALL', 'P1', 'P2', 'P3', 'P4', 'P5', 'WRITTEN']
ALL, WRITTEN = 0, 6     # in Declaration.moved; 1 to 5 are the operands


class Span(object):
    """One entry of a declaration's registers, taken apart: P`base` is the first register.  Of
    `form` 0 there are P`count` registers, of form 1 one more than that, of form 2 they end with
    register P`count`; with TO_THE_END as count with the last.  A `special` entry has that index
    in SPECIAL, others have -1 there.  `constant` stands for P`count` if that is 0."""
    _immutable_fields_ = ['special', 'base', 'form', 'count', 'constant']

    def __init__(self, text):
        self.special = -1
        self.base = 0
        self.form = 0
        self.count = 0
        self.constant = 1
        if text in SPECIAL:
            self.special = SPECIAL.index(text)
            return
        assert text[0] == 'P' and text[1] in '12345', text
        self.base = int(text[1])
        rest = text[2:]
        if rest == '..':
            self.form = 2
            self.count = TO_THE_END
        elif rest:
            mark = '..' if rest.startswith('..') else rest[0]
            self.form = _COUNT_FORMS[mark]
            end = rest[len(mark):]
            if end[0] == 'P':
                self.count = int(end[1])
            else:
                self.constant = int(end)


class Declaration(object):
    """What the table says of one opcode; see the module's docstring."""

    def __init__(self, name, reads, writes, jumps, user_code, handler, loop, moves,
                 seeks=False, touches='', converts='', kind=''):
        self.name = name
        self.number = getattr(opcodes, 'OP_' + name)
        self.reads = reads.split()
        self.writes = writes.split()
        self.read_spans = [Span(text) for text in self.reads]
        self.write_spans = [Span(text) for text in self.writes]
        self.convert_spans = [Span(text) for text in converts.split()]
        self.jumps = jumps.split()
        self.to_p2 = 'P2' in self.jumps
        self.skips = 'SECOND' in self.jumps
        self.user_code = user_code
        self.handler = handler
        self.text = ''              # contract of an opcode without a handler
        self.loop = loop
        self.seeks = seeks
        self.moves = moves.split()
        self.moved = [_MOVED.index(text) for text in self.moves]
        self.touched = [_MOVED.index(text) for text in touches.split()]
        for word in kind.split():
            _MEMBERS[word][self.number] = True

    def contract(self):
        """The opcode's contract, for the docs."""
        return self.text or self.handler.__doc__


_MEMBERS = dict((word, [False] * 256) for word in KINDS)


def kind(word):
    """Whether an opcode is of a kind, by its number: a list of 256 bools, which the declarations fill."""
    return _MEMBERS[word]


def numbers(*words):
    """The opcodes (frozenset of numbers) of any of these kinds; for those who have imported all (every.py)."""
    return frozenset(number for word in words for number in range(256) if _MEMBERS[word][number])


TABLE = {}      # opcode number -> Declaration, for opcodes with a handler
IN_C = {}       # the same for opcodes that run in C with the register effects declared


def declare(name, handler, reads='', writes='', jumps='', user_code=False, loop=False,
            moves='ALL', seeks=False, touches='', converts='', kind=''):
    """Enter an opcode's declaration into the table."""
    declaration = Declaration(name, reads, writes, jumps, user_code, handler, loop, moves, seeks, touches,
                              converts, kind)
    assert declaration.number not in TABLE and declaration.number not in IN_C, name
    TABLE[declaration.number] = declaration


def opcode(name, reads='', writes='', jumps='', user_code=False, loop=False, moves='ALL',
           seeks=False, touches='', converts='', kind=''):
    """Decorator: declares the function as the handler of the opcode."""
    def decorate(handler):
        declare(name, handler, reads, writes, jumps, user_code, loop, moves, seeks, touches, converts,
                kind)
        return handler
    return decorate


def declare_in_c(name, contract, reads='', writes='', jumps='', moves='ALL', touches='',
                 converts='', kind=''):
    """Enter the declaration of an opcode that upstream's code executes, with its contract (str)."""
    declaration = Declaration(name, reads, writes, jumps, False, None, False, moves, False, touches,
                              converts, kind)
    declaration.text = contract
    assert declaration.number not in TABLE and declaration.number not in IN_C, name
    IN_C[declaration.number] = declaration
