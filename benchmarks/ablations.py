"""Engines with one thing switched off: what each buys is their time beside that of `vm`.

They are the same library; what is off is named in SQPYTE_WITHOUT, which it reads when it starts
(sqpyte/vm/ablation.py, which has the names; c_engine/core/settings.c).  Nothing else differs: traces are made
all the same.
"""

from sqpyte.vm import ablation

# Name -> what the table in docs/performance.md says of it.
WITHOUT = {ablation.TYPES: 'numbers stay in their Mem: written there at once, their type looked at at '
                          'each use'}
WITHOUT.update((name, 'in C: ' + ', '.join(opcodes.split()))
               for name, opcodes in ablation.GROUPS.items())
WITHOUT.update(ablation.ENGINE)
JIT = 'jit'     # nothing is traced: the VM interprets

# Engine -> what its processes have in their environment.
ENGINES = {'vm-no-' + name: {'SQPYTE_WITHOUT': name} for name in WITHOUT}
ENGINES['vm-no-' + JIT] = {'SQPYTE_JIT': 'off'}
