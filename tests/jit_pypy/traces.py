"""The traces of a PyPy process, from its log: what each piece of machine code does, and how often it ran."""
import os
import re
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'program.py')
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(PROGRAM)))

SECTION = re.compile(r'\{jit-log-opt-(loop|bridge)\n'
                     r'# (?:Loop \d+ \((.*?)\) : |bridge out of Guard 0x([0-9a-f]+)).*?\n'
                     r'(.*?)\[[0-9a-f]+\] jit-log-opt-\1\}', re.DOTALL)
OPERATION = re.compile(r'^\+\d+: (?:[a-z]+\d+ = )?(\w+)\(?(.*)', re.MULTILINE)
TARGET = re.compile(r'descr=TargetToken\((\d+)\)')
COUNT = re.compile(r'^(?:TargetToken\((\d+)\)|bridge (\d+)):(\d+)$', re.MULTILINE)
MERGE_POINT = re.compile(r"debug_merge_point\(\d+, \d+, '(.*?);")
MARKS = ('force_token', 'enter_portal_frame', 'leave_portal_frame')     # no code is made of them


class Piece:
    """Machine code from a label to the end of its trace, or a bridge.

    Attributes:
        place: the loop's, as 'select;/path/program.py:40-43~#12 FOR_ITER' (str); '' of a bridge.
        operations: list of (name, arguments).
        functions: whose Python code it has (set of str).
        count: how often it has been run (int).
    """

    def __init__(self, place, text, count):
        self.place = place
        self.operations = [found for found in OPERATION.findall(text) if found[0] not in MARKS]
        self.functions = set(MERGE_POINT.findall(text))
        self.count = count

    @property
    def names(self):
        """The operations' names (list of str)."""
        return [name for name, _ in self.operations]

    @property
    def function(self):
        """The function whose loop it is (str)."""
        return self.place.partition(';')[0]

    def calls(self):
        """The arguments of the operations that leave the machine code (list of str)."""
        return [arguments for name, arguments in self.operations
                if name.startswith(('call', 'cond_call'))]

    def objects(self):
        """How many objects it makes (int)."""
        return sum(name.startswith('new') for name in self.names)


def run(log, rows, *arguments, padding=0):
    """The pieces of machine code that a process makes.

    Args:
        log: where PyPy writes its log (path).
        rows: how many the table has (int); arguments: the others of program.py.
        padding: bytes by which its environment is longer (int).
    Returns:
        list of Piece, in the order in which they were made.
    """
    environment = dict(os.environ, PYTHONPATH=ROOT, PADDING='x' * padding,
                       PYPYLOG='jit-log-opt-loop,jit-log-opt-bridge,jit-backend-counts:%s' % log)
    for name in ('SQPYTE_INLINE', 'SQPYTE_WITHOUT'):
        environment.pop(name, None)
    subprocess.run([sys.executable, PROGRAM, str(rows), *map(str, arguments)], check=True, env=environment)
    with open(log) as file:
        text = file.read()
    counts = {}
    for target, bridge, count in COUNT.findall(text):
        counts[int(target or bridge)] = int(count)
    pieces = []
    for kind, place, guard, body in SECTION.findall(text):
        if kind == 'bridge':
            pieces.append(Piece('', body, counts.get(int(guard, 16), 0)))
            continue
        _, *parts = re.split(r'^(?=\+\d+: label\()', body, flags=re.MULTILINE)
        for part in parts[-1:]:
            target = TARGET.search(part)
            pieces.append(Piece(place, part, counts.get(int(target.group(1)), 0) if target else 0))
    return pieces
