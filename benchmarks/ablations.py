"""Engines with one thing switched off: what each buys is their time beside that of `vm`.

They are the same library; what is off is named in SQPYTE_WITHOUT, which it reads when it starts
(sqpyte/without.py, c_engine/settings.c).  Nothing else differs: traces are made all the same.
"""

# Name -> what the table in docs/performance.md says of it.
WITHOUT = {
    'type-specialisation': 'numbers stay in their Mem: written there at once, their type looked at '
                           'at each use',
    'record-decoding': 'Column runs in C',
    'arithmetic': 'Add, Subtract, Multiply, Divide and Remainder run in C',
    'comparison': 'Eq, Ne, Lt, Le, Gt and Ge run in C',
    'aggregates': 'AggStep runs in C',
    'cursors': 'Next and Prev run in C',
    'sorter': 'MakeRecord and the sorter\'s opcodes run in C',
    'functions': 'Function runs in C',
    'sort-keys': 'the sorter compares records, not keys of 16 bytes',
    'iso-dates': 'dates are compared as other texts of numeric affinity, which may be numbers',
}
JIT = 'jit'     # nothing is traced: the VM interprets

# Engine -> what its processes have in their environment.
ENGINES = {'vm-no-' + name: {'SQPYTE_WITHOUT': name} for name in WITHOUT}
ENGINES['vm-no-' + JIT] = {'SQPYTE_JIT': 'off'}
