"""The control-flow graph of a program: where each opcode may go on.

A Yield may go on wherever its coroutine stands, a Return behind any call: as many places for each of
as many opcodes.  Such a set of places is a node of its own, so the graph is no larger than the program.
"""
from c_engine.generated import opcodes
from sqpyte.vm.opcodes.table import IN_C, TABLE, kind

_JUMP_FLAG = opcodes.OPFLG_JUMP


def declaration_of(op):
    """What is declared of the opcode, with a handler or left to C, or None."""
    declaration = TABLE.get(op.opcode, None)
    if declaration is None:
        declaration = IN_C.get(op.opcode, None)
    return declaration


class Places(object):
    """Where the coroutines and subroutines of a program may go on, by the register that they switch
    or return by: dicts of lists of pcs.

    Args: ops, list of decode.Op; only, the one register that is asked for, or ALL_REGISTERS.
    """

    def __init__(self, ops, only):
        self.resumed = {}           # a Yield: the coroutine's start, its end, behind other Yields
        self.ended = {}             # an EndCoroutine: where the Yields that resumed it say
        self.returned = {}          # a Return: behind the calls, and where an Integer says
        self.size = len(ops)
        self.only = only
        for op in ops:
            if op.opcode == opcodes.OP_Return and op.p1 not in self.returned:
                self.returned[op.p1] = [0][1:]
        for pc in range(self.size):
            op = ops[pc]
            if op.opcode == opcodes.OP_InitCoroutine:
                self._enter(self.resumed, op.p1, op.p3)
            elif op.opcode == opcodes.OP_EndCoroutine:
                self._enter(self.resumed, op.p1, pc)
            elif op.opcode == opcodes.OP_Yield:
                self._enter(self.resumed, op.p1, pc + 1)
                if op.p2:
                    self._enter(self.ended, op.p1, op.p2)
            elif op.opcode == opcodes.OP_Gosub and op.p1 in self.returned:
                self._enter(self.returned, op.p1, pc + 1)
            elif op.opcode == opcodes.OP_Integer and op.p2 in self.returned:
                self._enter(self.returned, op.p2, op.p1 + 1)

    def _enter(self, places, r, pc):
        """Add a place, if it is within the program and asked for."""
        if self.only != ALL_REGISTERS and r != self.only:
            return
        if r not in places:
            places[r] = [0][1:]
        if 0 <= pc < self.size:
            places[r].append(pc)


ALL_REGISTERS = -1
_SWITCH = kind('switch')


def _direct(ops, pc):
    """The pcs that may follow an opcode that is no switch."""
    op = ops[pc]
    declaration = declaration_of(op)
    if declaration is None:
        found = [pc + 1]
        if opcodes.PROPERTIES[op.opcode] & _JUMP_FLAG:
            found.append(op.p2)
    elif op.opcode == opcodes.OP_InitCoroutine:
        found = [op.p2 if op.p2 else pc + 1]
    elif op.opcode == opcodes.OP_Goto or op.opcode == opcodes.OP_Gosub:
        found = [op.p2]
    elif op.opcode == opcodes.OP_Halt:
        found = [0][1:]
    elif op.opcode == opcodes.OP_Jump:
        found = [op.p1, op.p2, op.p3]
    else:
        found = [pc + 1]
        if declaration.to_p2:
            found.append(op.p2)
        if declaration.skips:
            found.append(pc + 2)
        if op.corrupt > 0:
            found.append(op.corrupt)
        if op.opcode == opcodes.OP_SeekScan and pc + 1 < len(ops):
            found.append(ops[pc + 1].p2)
    return [i for i in found if 0 <= i < len(ops)]


class Flow(object):
    """A program's control-flow graph.

    Its nodes are the opcodes, by pc, and behind them the sets of places that opcodes share.

    Attributes:
        size: number of opcodes.
        after: by node, the nodes that may follow (list of lists of int).
    """

    def __init__(self, ops):
        self.size = len(ops)
        self.after = []
        self.shared = []            # sets of places, and
        self.numbers = {}           # 4 * register + what is shared -> their nodes
        places = Places(ops, ALL_REGISTERS)
        for pc in range(self.size):
            if _SWITCH[ops[pc].opcode]:
                self.after.append(self._switch(ops[pc], pc, places))
            else:
                self.after.append(_direct(ops, pc))
        for found in self.shared:
            self.after.append(found)

    def _switch(self, op, pc, places):
        """The nodes that may follow a switch."""
        if op.opcode == opcodes.OP_Yield:
            return [self._node(places.resumed, 4 * op.p1)]
        if op.opcode == opcodes.OP_EndCoroutine:
            return [self._node(places.ended, 4 * op.p1 + 1)]
        if op.p3 and pc + 1 < self.size:
            return [self._node(places.returned, 4 * op.p1 + 2), pc + 1]
        if not places.returned[op.p1] and not op.p3:
            return [self._anywhere()]           # not called by Gosub
        return [self._node(places.returned, 4 * op.p1 + 2)]

    def _node(self, places, key):
        """The node of the places of register key / 4."""
        if key not in self.numbers:
            self.numbers[key] = self.size + len(self.shared)
            self.shared.append(places.get(key >> 2, [0][1:]))
        return self.numbers[key]

    def _anywhere(self):
        """The node of all opcodes."""
        if _ANYWHERE not in self.numbers:
            self.numbers[_ANYWHERE] = self.size + len(self.shared)
            self.shared.append([i for i in range(self.size)])
        return self.numbers[_ANYWHERE]

    def before(self):
        """By node, the nodes that it may follow (list of lists of int)."""
        found = [[0][1:] for _ in self.after]
        for node in range(len(self.after)):
            for target in self.after[node]:
                found[target].append(node)
        return found

    def ends_first(self):
        """All nodes, what follows a node before it wherever there is no loop (a depth-first search's
        postorder)."""
        found = []
        seen = [False] * len(self.after)
        for root in range(len(self.after)):
            if seen[root]:
                continue
            seen[root] = True
            path = [root]
            tried = [0]             # how many of the followers of each node on the path
            while path:
                node = path[-1]
                i = tried[-1]
                if i < len(self.after[node]):
                    tried[-1] = i + 1
                    target = self.after[node][i]
                    if not seen[target]:
                        seen[target] = True
                        path.append(target)
                        tried.append(0)
                else:
                    found.append(path.pop())
                    tried.pop()
        return found


_ANYWHERE = -1


def successors(ops, pc):
    """The pcs that may follow the opcode at pc."""
    op = ops[pc]
    if not _SWITCH[op.opcode]:
        return _direct(ops, pc)
    places = Places(ops, op.p1)
    if op.opcode == opcodes.OP_Yield:
        return places.resumed.get(op.p1, [0][1:])
    if op.opcode == opcodes.OP_EndCoroutine:
        return places.ended.get(op.p1, [0][1:])
    found = places.returned.get(op.p1, [0][1:])
    if op.p3:
        return found + [pc + 1] if pc + 1 < len(ops) else found
    return found if found else [i for i in range(len(ops))]
