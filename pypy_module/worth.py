"""Whether taking a loop over into Python pays: how much of it is left.

In C a row costs a few tenths of a microsecond.  Inlined it costs a tenth, but the first loop of a
process loads the inliner and is traced, for 20 to 50 ms of the processor's time, later ones cost a
quarter of that.  So C goes on until it has done, or is about to do, as many rows as that is worth:
then a program is at no time much slower than with C alone, nor than with inlining alone.

What is left is read from the B-tree's cursor: an estimate by the pages on its way down.
"""

import sys

from c_engine.generated import layout, opcodes
from pypy_module.library import address_of
from sqpyte import mem

FIRST_LOOP = 200000     # rows that are worth the first loop of a process
LATER_LOOP = 40000      # and each later one
SHORTEST = 100          # rows that are worth the way into a class and back
UNKNOWN = 0             # rows left where it can't be told: what has been done decides
ENDS = (opcodes.OP_Next, opcodes.OP_Prev, opcodes.OP_SorterNext, opcodes.OP_VNext)

# Jumps that leave an outer loop because of LIMIT, or because an inner one's table is empty.
NOT_EARLY = (opcodes.OP_DecrJumpZero, opcodes.OP_Rewind, opcodes.OP_Last)


def pays(statement, left, wanted=None):
    """Whether a loop of a statement is to be taken over.

    Args:
        statement: a Statement; its `rows_in_c` were done in C, in this run and earlier ones.
        left: how many rows its loop still has (int), or UNKNOWN.
        wanted: how many rows a loop has to have (int), or None: as many as it takes at present.
    """
    if left != UNKNOWN and left < SHORTEST:
        return False
    if wanted is None:
        wanted = LATER_LOOP if 'pypy_module.inline_machine' in sys.modules else FIRST_LOOP
    return statement.rows_in_c + left >= wanted


def operations(vdbe):
    """The address of a Vdbe's first opcode and the number of them (two int)."""
    return mem.i64(vdbe + layout.Vdbe_aOp), mem.i32(vdbe + layout.Vdbe_nOp)


def first_head(statement):
    """The pc at which the first loop of a statement begins, -1 if that isn't a scan."""
    base, count = operations(address_of(statement.pointer))
    for pc in range(count):
        at = base + pc * layout.sizeof_VdbeOp
        opcode = mem.u8(at + layout.VdbeOp_opcode)
        if opcode in ENDS:
            return mem.i32(at + layout.VdbeOp_p2) if opcode == opcodes.OP_Next else -1
    return -1


def rows_left(statement):
    """About how many rows the outermost loop still has that a statement, at a row or stopped at
    the head of a loop, is in (int); UNKNOWN if that loop isn't a scan."""
    vdbe = address_of(statement.pointer)
    base, count = operations(vdbe)
    here = mem.i32(vdbe + layout.Vdbe_pc)
    found = UNKNOWN
    most = -1
    for pc in range(here, count):
        at = base + pc * layout.sizeof_VdbeOp
        opcode = mem.u8(at + layout.VdbeOp_opcode)
        if opcode == opcodes.OP_DecrJumpZero and most < 0:      # LIMIT
            register = mem.i32(at + layout.VdbeOp_p1)
            most = mem.i64(mem.i64(vdbe + layout.Vdbe_aMem) + register * layout.sizeof_Mem
                           + layout.Mem_u)
        elif opcode in ENDS and mem.i32(at + layout.VdbeOp_p2) <= here:
            found = UNKNOWN
            if opcode == opcodes.OP_Next and not ends_early(base, pc):
                found = entries_left(vdbe, mem.i32(at + layout.VdbeOp_p1))
    return min(found, most) if most >= 0 else found


def most_left(statement):
    """About how many entries any of a statement's cursors still has before it (int): what a join
    gives rows of is rather its largest table than the one that it scans."""
    vdbe = address_of(statement.pointer)
    base, count = operations(vdbe)
    found = UNKNOWN
    for pc in range(count):
        at = base + pc * layout.sizeof_VdbeOp
        if mem.u8(at + layout.VdbeOp_opcode) == opcodes.OP_OpenRead:
            found = max(found, entries_left(vdbe, mem.i32(at + layout.VdbeOp_p1)))
    return found


def ends_early(base, end):
    """Whether a loop may be left before the last row other than by LIMIT: it scans a range.

    Args:
        base: address of the first opcode (int).
        end: pc of the loop's last one (int).
    """
    for pc in range(mem.i32(base + end * layout.sizeof_VdbeOp + layout.VdbeOp_p2), end):
        at = base + pc * layout.sizeof_VdbeOp
        opcode = mem.u8(at + layout.VdbeOp_opcode)
        if (opcodes.PROPERTIES[opcode] & opcodes.OPFLG_JUMP and opcode not in NOT_EARLY
                and mem.i32(at + layout.VdbeOp_p2) > end):
            return True
    return False


def entries_left(vdbe, number):
    """About how many entries lie behind the place of a Vdbe's B-tree cursor (int)."""
    vc = mem.i64(mem.i64(vdbe + layout.Vdbe_apCsr) + 8 * number)
    if not vc or mem.u8(vc + layout.VdbeCursor_eCurType) != layout.CURTYPE_BTREE:
        return UNKNOWN
    cursor = mem.i64(vc + layout.VdbeCursor_uc)
    if mem.u8(cursor + layout.BtCursor_eState) != layout.CURSOR_VALID:
        return UNKNOWN
    page = mem.i64(cursor + layout.BtCursor_pPage)
    below = mem.u16(page + layout.MemPage_nCell)    # entries of one subtree, a level up
    left = below - mem.u16(cursor + layout.BtCursor_ix)
    for level in range(mem.u8(cursor + layout.BtCursor_iPage) - 1, -1, -1):
        page = mem.i64(cursor + layout.BtCursor_apPage + 8 * level)
        children = mem.u16(page + layout.MemPage_nCell) + 1
        index = mem.u16(cursor + layout.BtCursor_aiIdx + 2 * level)
        left += (children - 1 - index) * below
        below *= children
    return left
