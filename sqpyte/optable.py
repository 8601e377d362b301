"""The opcode table: one declaration per opcode drives everything that must know it.

A declaration gives the opcode's name, the registers it reads and writes, where it may jump,
whether it may run user code, and its handler, whose docstring is the opcode's contract.  The
dispatcher (interp.py), the liveness that says which registers to write back (program.py), the
PyPy inliner and the docs read it.  `tests/sqpyte/test_optable.py` holds it against the
properties that upstream declares.

Registers and jumps are written as in SQLite's opcode synopses: `P1` a register, `P2@P5` the P5
registers from P2 on, `P2..P3` the registers from P2 to P3, `P1+P3` the P3+1 registers from P1.

`moves` says which cursors an opcode may move when C runs it: operands (`P1 P3`), `WRITTEN` for
P1 if it is an ephemeral table and else for all cursors, or `ALL`.  An opcode whose effects are
known needs not the whole frame to be handed to C and back (interp.py).

A handler takes (frame, op, pc) and returns the next pc, or, having changed nothing, ASK_C:
upstream's own code then executes the opcode.
"""
from c_engine.generated import opcodes

ASK_C = -1      # run this opcode in C, then go on
LEAVE = -2      # the statement goes on in C with this opcode
FAILED = -3     # a C function failed and sqpyte_fail has been called


class Declaration(object):
    """What the table says of one opcode; see the module's docstring."""

    def __init__(self, name, reads, writes, jumps, user_code, handler, loop, moves):
        self.name = name
        self.number = getattr(opcodes, 'OP_' + name)
        self.reads = reads.split()
        self.writes = writes.split()
        self.jumps = jumps.split()
        self.user_code = user_code
        self.handler = handler
        self.loop = loop
        self.moves = moves.split()

    def contract(self):
        """The opcode's contract, for the docs."""
        return self.handler.__doc__


TABLE = {}      # opcode number -> Declaration, for opcodes with a handler
IN_C = {}       # the same for opcodes that run in C with the register effects declared


def declare(name, handler, reads='', writes='', jumps='', user_code=False, loop=False,
            moves='ALL'):
    """Enter an opcode's declaration into the table."""
    declaration = Declaration(name, reads, writes, jumps, user_code, handler, loop, moves)
    assert declaration.number not in TABLE, name
    TABLE[declaration.number] = declaration


def opcode(name, reads='', writes='', jumps='', user_code=False, loop=False, moves='ALL'):
    """Decorator: declares the function as the handler of the opcode."""
    def decorate(handler):
        declare(name, handler, reads, writes, jumps, user_code, loop, moves)
        return handler
    return decorate


def declare_in_c(name, reads='', writes='', jumps='', moves='ALL'):
    """Enter the declaration of an opcode that upstream's code executes."""
    declaration = Declaration(name, reads, writes, jumps, False, None, False, moves)
    assert declaration.number not in TABLE, name
    IN_C[declaration.number] = declaration


# Those around loops: without them liveness would take the opcode to read every register. `P2REG`
# is P2 as a register if P5 says that it is one.
declare_in_c('Transaction')
declare_in_c('TableLock')
declare_in_c('OpenRead', reads='P2REG', moves='P1')
declare_in_c('ReopenIdx', reads='P2REG', moves='P1')
declare_in_c('OpenPseudo', moves='P1')
declare_in_c('OpenEphemeral', reads='P3', writes='P3', moves='P1')
declare_in_c('OpenAutoindex', reads='P3', writes='P3', moves='P1')
declare_in_c('OpenDup', moves='P1')
declare_in_c('SorterOpen', moves='P1')
declare_in_c('Close', moves='P1')
declare_in_c('IdxInsert', reads='P2 P3@P4', moves='WRITTEN')
declare_in_c('Insert', reads='P2 P3', moves='WRITTEN')
declare_in_c('Delete', reads='P3 P2', moves='WRITTEN')
declare_in_c('NewRowid', reads='P3', writes='P2 P3', moves='WRITTEN')
