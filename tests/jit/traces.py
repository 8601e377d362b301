"""The optimised traces that the VM's JIT makes for a query, from its log.

The query runs in the build/sqpyte command, so that no other JIT writes to the log.
"""
import os
import re
import subprocess

GUARD = re.compile(r'descr=<Guard\w* 0x\w+>')
OPERATION = re.compile(r'^(?:\+\d+: )?(?:[\w]+ = )?(\w+)\(')
CALLED = re.compile(r'ConstClass\((\w+)\)')


class Loop:
    """One compiled loop: the operations of its body, after the peeled first iteration.

    `names` are the operations' names, `calls` the C functions called, in order."""

    def __init__(self, lines):
        body = lines
        for i, line in enumerate(lines):
            if ' label(' in line:
                body = lines[i + 1:]
        self.lines = [line for line in body if 'debug_merge_point' not in line]
        self.names = []
        self.calls = []
        for line in self.lines:
            match = OPERATION.match(line)
            if match:
                self.names.append(match.group(1))
                if match.group(1).startswith('call'):
                    called = CALLED.search(line)
                    self.calls.append(called.group(1) if called else '?')

    def count(self, prefix):
        """How many operations have a name with this prefix."""
        return sum(name.startswith(prefix) for name in self.names)


def loops_of(command, database, sql, log):
    """Run sql and return (its output, the loops compiled).

    Args: command, path of build/sqpyte; database and log, file names.
    """
    environment = dict(os.environ, PYPYLOG='jit-log-opt:' + str(log))
    environment.pop('SQPYTE_VM', None)
    done = subprocess.run([command, str(database), sql], env=environment, check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    loops = []
    lines = None
    with open(str(log)) as file:
        for line in file:
            if '{jit-log-opt-loop' in line:
                lines = []
            elif 'jit-log-opt-loop}' in line and lines is not None:
                loops.append(Loop(lines))
                lines = None
            elif lines is not None:
                lines.append(line)
    return done.stdout, loops
