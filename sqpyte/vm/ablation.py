"""What is switched off, so that a measurement shows what it buys: SQPYTE_WITHOUT=arithmetic,...

Read when the VM starts.  A program that is decoded afterwards leaves the opcodes of a group to
upstream's code, one at a time, in a hot loop as elsewhere; traces are made all the same, without
them.  `python -m benchmarks` has an engine `vm-no-...` for each (benchmarks/ablations.py).  An
opcode's name, as `Column` (any but IsType), stands for that opcode alone: for tests.
"""
from c_engine.generated import opcodes

# Name -> the opcodes that C executes.
GROUPS = {
    'record-decoding': 'Column',
    'arithmetic': 'Add Subtract Multiply Divide Remainder',
    'comparison': 'Eq Ne Lt Le Gt Ge',
    'aggregates': 'AggStep AggStep1',
    'cursors': 'Next Prev',
    'sorter': 'MakeRecord SorterInsert SorterSort SorterData SorterNext',
    'functions': 'Function PureFunc',
}
# Numbers and NULL are in their register's Mem, always: written there at once, read from there
# with a look at the type.
TYPES = 'type-specialisation'
# What the C engine switches off itself, in every tier (c_engine/storage/sort_key.c, memoize.c, row_cache.c,
# helpers.c), and what it does then.
ENGINE = {
    'sort-keys': 'the sorter compares records, not keys of 16 bytes',
    'memoize': 'correlated subqueries are computed again for values that come again',
    'row-cache': 'rows that are sought by rowid again and again are sought in the B-tree each time',
    'iso-dates': 'dates are compared as other texts of numeric affinity, which may be numbers',
}

_OPCODES = [(name, [getattr(opcodes, 'OP_' + opcode) for opcode in GROUPS[name].split()])
            for name in sorted(GROUPS)]
_ENGINE = sorted(ENGINE)
# IsType looks at what Column, in the same tier, has noted in the cursor: alone in C it has no meaning.
_NAMES = [(name[3:], getattr(opcodes, name)) for name in sorted(dir(opcodes))
          if name.startswith('OP_') and name != 'OP_IsType']


class Switches(object):
    """What is switched off; set once, before anything is traced.  `in_c` has a 1 for each opcode
    that C executes."""
    _immutable_fields_ = ['types?']

    def __init__(self):
        self.types = False
        self.in_c = [0] * 256

    def read(self, text):
        """Switch off what a comma-separated list (str) names; returns whether all is known."""
        known = True
        for word in text.split(','):
            found = word == TYPES or word in _ENGINE
            if word == TYPES:
                self.types = True
            for name, numbers in _OPCODES:
                if word == name:
                    found = True
                    for number in numbers:
                        self.in_c[number] = 1
            for name, number in _NAMES:
                if word == name:
                    found = True
                    self.in_c[number] = 1
            known = known and found
        return known


switches = Switches()
