"""The optimised traces that the VM's JIT makes for a query, from its log.

The query runs in the build/sqpyte command, so that no other JIT writes to the log.
"""
import os
import re
import subprocess

OPERATION = re.compile(r'^(?:\+\d+: )?(?:[\w]+ = )?(\w+)\(')
FIELD = re.compile(r'(\w+\.inst_\w+)')
CALLED = re.compile(r'ConstClass\((\w+)\)')
PLACE = re.compile(r'^\+(\d+): ')

# A call of byteswap (sqpyte/vm/base/byteswap.py) is an instruction, with a move before it: not longer than this,
# in bytes, where a call has the registers saved, the call itself, and more.
LONGEST_SWAP = 16


class Trace:
    """A compiled loop, from its label on, or a bridge.

    `is_loop` says which, `names` are the operations' names, `calls` the C functions called, in
    order."""

    def __init__(self, lines):
        self.is_loop = any(' label(' in line for line in lines)
        body = lines
        for i, line in enumerate(lines):
            if ' label(' in line:
                body = lines[i + 1:]
        self.lines = [line for line in body if 'debug_merge_point' not in line]
        self.names = []
        self.calls = []
        for i, line in enumerate(self.lines):
            match = OPERATION.match(line)
            if match and not is_swap(line, self.lines[i + 1:]):
                self.names.append(match.group(1))
                if match.group(1).startswith('call'):
                    called = CALLED.search(line)
                    self.calls.append(called.group(1) if called else '?')
            elif match:
                self.names.append('byteswap')

    def count(self, prefix):
        """How many operations have a name with this prefix."""
        return sum(name.startswith(prefix) for name in self.names)

    def fields(self):
        """The fields of objects that it loads, as 'Frame.inst_vdbe'."""
        return set(FIELD.findall('\n'.join(
            line for line in self.lines if 'getfield_gc' in line)))


def is_swap(line, following):
    """Whether a line of a trace is a swap of bytes that the JIT has made an instruction of."""
    if 'ConstClass(byteswap)' not in line:
        return False
    places = [PLACE.match(line)] + [PLACE.match(other) for other in following]
    ends = [int(place.group(1)) for place in places[1:] if place]
    return places[0] is not None and bool(ends) and ends[0] - int(places[0].group(1)) <= LONGEST_SWAP


def traces_of(command, database, sql, log, mode='hot', padding=0):
    """Run sql and return (its output, the loops and bridges compiled).

    Args: command, path of build/sqpyte; database and log, file names; mode, as SQPYTE_VM;
    padding, by how many bytes the environment is longer.
    """
    environment = dict(os.environ, SQPYTE_JIT_LOG='jit-log-opt:' + str(log), SQPYTE_VM=mode,
                       PADDING='x' * padding,
                       SQPYTE_VM_THRESHOLD='3000')      # whatever is left to do
    for name in ('SQPYTE_JIT', 'SQPYTE_WITHOUT', 'SQPYTE_VM_MEMORY'):
        environment.pop(name, None)
    done = subprocess.run([command, str(database), sql], env=environment, check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    traces = []
    lines = None
    with open(str(log)) as file:
        for line in file:
            if re.search(r'\{jit-log-opt-(loop|bridge)', line):
                lines = []
            elif re.search(r'jit-log-opt-(loop|bridge)\}', line) and lines is not None:
                traces.append(Trace(lines))
                lines = None
            elif lines is not None:
                lines.append(line)
    return done.stdout, traces
