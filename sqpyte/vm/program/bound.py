"""Bound parameters whose flag SQLite may show: registers that only C writes then.

A register into which Variable has copied a bound parameter, or Param a marked register of a trigger's caller, is
marked with MEM_FromBind.  The mark goes
with the value into copies and through conversions, stays where some opcodes write another value, and
shows in sqlite3_value_frombind: of arguments of functions that aren't SQLite's own and of virtual
tables, of columns of a row.  The VM's values have no such mark.  So registers that may have the mark,
and where it may be seen, are written by upstream's code alone; the VM only reads them, each time anew
(Frame.read).  Nobody sees the mark of all others: it is removed when the VM is entered.
"""
from c_engine.generated import opcodes
from sqpyte.vm.opcodes.operands import registers_of
from sqpyte.vm.opcodes.table import kind
from sqpyte.vm.program.flow import declaration_of
from sqpyte.vm.values import functions

_COPIES = kind('copy')
_CALLS = kind('function')
_STEPS = kind('aggregate-step')
_INVERSES = kind('aggregate-inverse')
# Those of SQLite's own that may give an argument as their result.
_PASSES_ON = [functions.NO_HANDLER, functions.MIN, functions.MAX, functions.NULLIF]
# What shows the registers that it reads: rows, virtual tables' arguments, a trigger program's row, and
# an UPDATE's new row to the preupdate hook.
_SHOWS = kind('shows-mark')


class Ways(object):
    """Which registers lead to which; a set of registers that grows along them."""

    def __init__(self):
        self.found = {}
        self.ways = {}

    def lead(self, r, to):
        """What is true of r is true of `to`."""
        if r not in self.ways:
            self.ways[r] = [0][1:]
        self.ways[r].append(to)

    def reach(self, first):
        """Fill `found` with the registers in `first` and those that they lead to."""
        pending = [r for r in first]
        while pending:
            r = pending.pop()
            if r not in self.found:
                self.found[r] = True
                if r in self.ways:
                    pending += self.ways[r]


def annotate_bound(ops, nregisters):
    """Set `in_c` of the opcodes that write registers which may show that they are bound parameters.

    Args: ops, list of decode.Op, with their effects; nregisters, the number of registers.
    Returns: the registers that may be marked though nobody can see it (list of int).
    """
    variables = [op.p2 for op in ops if op.opcode == opcodes.OP_Variable or op.opcode == opcodes.OP_Param]
    if not variables:
        return variables
    forward = Ways()
    backward = Ways()
    shown = [0][1:]
    for op in ops:
        _enter(op, forward, backward, shown, nregisters - 1)
    forward.reach(variables)
    backward.reach(shown)
    for op in ops:
        declaration = declaration_of(op)
        if declaration is not None and declaration.writes:
            for r in registers_of(op, declaration.write_spans, nregisters - 1):
                if r in forward.found and r in backward.found:
                    op.in_c = True
    return [r for r in range(nregisters) if r in forward.found and r not in backward.found]


def _enter(op, forward, backward, shown, last):
    """Enter an opcode's ways from register to register, and the registers that it shows."""
    if _COPIES[op.opcode]:
        count = 1
        if op.opcode == opcodes.OP_Copy:
            count = op.p3 + 1
        elif op.opcode == opcodes.OP_Move:
            count = op.p3
        for i in range(count):
            forward.lead(op.p1 + i, op.p2 + i)
            backward.lead(op.p2 + i, op.p1 + i)
    elif op.opcode == opcodes.OP_AggValue:
        forward.lead(op.p1, op.p3)
        backward.lead(op.p3, op.p1)
    elif _CALLS[op.opcode] or _STEPS[op.opcode] or _INVERSES[op.opcode]:
        if op.function == functions.USER or op.function in _PASSES_ON:
            count = op.arguments if _CALLS[op.opcode] else op.p5
            for r in range(op.p2, op.p2 + count):
                forward.lead(r, op.p3)
                backward.lead(op.p3, r)
                if op.function == functions.USER:
                    shown.append(r)
    elif _SHOWS[op.opcode]:
        declaration = declaration_of(op)
        assert declaration is not None
        for r in registers_of(op, declaration.read_spans, last):
            shown.append(r)
