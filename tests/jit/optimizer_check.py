"""Checks the optimizer of RPython's JIT, as the VM is translated with it: random traces of integer operations do the
same before and after. Run by Python 2.7: `python optimizer_check.py SEED TRACES [plain]`; `plain` leaves RPython as it
is, and with no traces one is checked that can't be.

A trace is recorded by running it on some inputs, which its guards then let pass. Optimized, it has to let the same
inputs pass as before, with the same results, and to stop the same others at a guard. Most inputs are near the ends of
the integers' range, near each other or near 0.
"""
from __future__ import print_function

import os
import random
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.argv[3:] != ['plain']:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), 'sqpyte', 'vm', 'base'))
    import jit_fixes
    assert jit_fixes

# RPython's tests, of which something is used here, import hypothesis, which nothing here needs.
for name, given in (('hypothesis', {'given': lambda *cases: lambda function: function, 'strategies': None}),
                    ('rpython.jit.metainterp.test.strategies', {'lists_of_operations': lambda *arguments: None})):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(given)

from rpython.jit.metainterp import compile
from rpython.jit.metainterp.history import Const, JitCellToken
from rpython.jit.metainterp.optimize import InvalidLoop
from rpython.jit.metainterp.optimizeopt.test.test_util import (
    BaseTest, FakeMetaInterpStaticData, LLtypeMixin, convert_loop_to_trace)
from rpython.jit.metainterp.resoperation import opname

SMALLEST, LARGEST = -2 ** 63, 2 ** 63 - 1
NEAR = [0, 0, 1, -1, 2, 3, 7, 8, 10, 15, 63, 64, 100, -10, 2 ** 31, 2 ** 32, 2 ** 62, LARGEST, LARGEST - 1, LARGEST - 9,
        SMALLEST, SMALLEST + 1, SMALLEST + 10]
INPUTS = 3


class Stopped(Exception):
    """A guard has failed."""


def wrapped(value):
    """The 64 bits of an integer, as a signed one."""
    return (value + 2 ** 63) % 2 ** 64 - 2 ** 63


BINARY = {
    'int_add': lambda a, b: a + b, 'int_sub': lambda a, b: a - b, 'int_mul': lambda a, b: a * b,
    'int_and': lambda a, b: a & b, 'int_or': lambda a, b: a | b, 'int_xor': lambda a, b: a ^ b,
    'int_lt': lambda a, b: a < b, 'int_le': lambda a, b: a <= b, 'int_gt': lambda a, b: a > b,
    'int_ge': lambda a, b: a >= b, 'int_eq': lambda a, b: a == b, 'int_ne': lambda a, b: a != b,
    'uint_lt': lambda a, b: a % 2 ** 64 < b % 2 ** 64, 'uint_ge': lambda a, b: a % 2 ** 64 >= b % 2 ** 64,
    'int_lshift': lambda a, b: a << b, 'int_rshift': lambda a, b: a >> b,
    'uint_rshift': lambda a, b: a % 2 ** 64 >> b,
}
UNARY = {
    'int_neg': lambda a: -a, 'int_invert': lambda a: ~a, 'int_is_true': lambda a: a != 0,
    'int_is_zero': lambda a: a == 0, 'int_force_ge_zero': lambda a: max(a, 0), 'same_as_i': lambda a: a,
}
OVERFLOWING = {'int_add_ovf': 'int_add', 'int_sub_ovf': 'int_sub', 'int_mul_ovf': 'int_mul'}
TRUTHS = ['int_lt', 'int_le', 'int_gt', 'int_ge', 'int_eq', 'int_ne', 'uint_lt', 'uint_ge', 'int_is_true',
          'int_is_zero']


class Machine(object):
    """Runs operations; `overflow` is what the last one that can overflow has left for the guard behind it (bool)."""

    overflow = False

    def step(self, name, values):
        """The result (int) of an operation, or None; raises Stopped."""
        if name in OVERFLOWING:
            exact = BINARY[OVERFLOWING[name]](*values)
            self.overflow = wrapped(exact) != exact
            return wrapped(exact)
        if name in BINARY:
            return wrapped(int(BINARY[name](*values)))
        if name in UNARY:
            return wrapped(int(UNARY[name](*values)))
        if name == 'int_signext':
            value, size = values
            return (value + (1 << 8 * size - 1)) % (1 << 8 * size) - (1 << 8 * size - 1)
        holds = {'guard_true': lambda: values[0] == 1, 'guard_false': lambda: values[0] == 0,
                 'guard_value': lambda: values[0] == values[1], 'guard_no_overflow': lambda: not self.overflow,
                 'guard_overflow': lambda: self.overflow}[name]
        if not holds():
            raise Stopped()
        return None


def an_input(chance):
    """An integer, most likely an interesting one."""
    if chance.random() < 0.2:
        return wrapped(chance.getrandbits(64))
    return wrapped(chance.choice(NEAR) + chance.choice([0, 0, 0, 1, -1, 5, -5]))


def recorded(chance):
    """A trace's operations: list of (result or None, name, arguments), where an argument is a name or an integer."""
    values = dict(('i%d' % i, an_input(chance)) for i in range(INPUTS))
    machine, trace = Machine(), []

    def argument():
        return chance.choice(sorted(values)) if chance.random() < 0.65 else an_input(chance)

    def number(arguments):
        return [values.get(name, name) for name in arguments]

    def note(name, arguments):
        result = machine.step(name, number(arguments))
        if result is None:
            trace.append((None, name, arguments))
            return None
        box = 'i%d' % (INPUTS + len(trace))
        values[box] = result
        trace.append((box, name, arguments))
        return box

    for _ in range(chance.randint(4, 14)):
        kind = chance.random()
        some = chance.choice(sorted(values))
        if kind < 0.4:
            truth = chance.choice(TRUTHS)
            box = note(truth, [some] if truth in UNARY else chance.choice([[some, argument()], [argument(), some]]))
            note('guard_true' if values[box] else 'guard_false', [box])
        elif kind < 0.47:
            note('guard_value', [some, values[some]])
        elif kind < 0.57:
            box = note(chance.choice(sorted(OVERFLOWING)), chance.choice([[some, argument()], [argument(), some]]))
            note('guard_overflow' if machine.overflow else 'guard_no_overflow', [])
            if machine.overflow:
                del values[box]         # nobody reads such a result
        elif kind < 0.65:
            note(chance.choice(sorted(UNARY)), [some])
        elif kind < 0.7:
            note('int_signext', [some, chance.choice([1, 2, 4])])
        elif kind < 0.8:
            note(chance.choice(['int_lshift', 'int_rshift', 'uint_rshift']), [some, chance.randint(0, 63)])
        else:
            note(chance.choice(['int_add', 'int_sub', 'int_mul', 'int_and', 'int_or', 'int_xor']),
                 chance.choice([[some, argument()], [argument(), some]]))
    return trace, sorted(values)


class Optimizer(BaseTest, LLtypeMixin):
    """RPython's own tests' way to optimize a text."""

    enable_opts = 'intbounds:rewrite:virtualize:string:earlyforce:pure:heap'

    def optimized(self, text):
        """The optimized operations, and their inputs: (list, list)."""
        loop = self.parse(text)
        loop.operations[-1].setdescr(JitCellToken())
        data = compile.SimpleCompileData(convert_loop_to_trace(loop, FakeMetaInterpStaticData(self.cpu)))
        info, operations = self._do_optimize_loop(data)
        return operations, info.inputargs


def text_of(trace, jump):
    """What RPython's parser reads."""
    lines = ['[%s]' % ', '.join('i%d' % i for i in range(INPUTS))]
    for result, name, arguments in trace:
        line = '%s(%s)' % (name, ', '.join(map(str, arguments)))
        lines.append('%s = %s' % (result, line) if result else line + ' []')
    return '\n'.join(lines + ['jump(%s)' % ', '.join(jump)])


def run(trace, jump, inputs):
    """What a trace hands to its jump (list of int), or None if it stops at a guard."""
    values, machine = dict(('i%d' % i, value) for i, value in enumerate(inputs)), Machine()
    try:
        for result, name, arguments in trace:
            values[result] = machine.step(name, [values.get(argument, argument) for argument in arguments])
    except Stopped:
        return None
    return [values[name] for name in jump]


def run_optimized(operations, boxes, inputs):
    """The same of optimized operations."""
    values, machine = dict(zip(boxes, inputs)), Machine()

    def value(box):
        return box.getint() if isinstance(box, Const) else values[box]

    try:
        for op in operations:
            name = opname[op.getopnum()].lower()
            arguments = [value(box) for box in op.getarglist()]
            if name == 'jump':
                return arguments
            if name == 'guard_future_condition':
                continue
            values[op] = machine.step(name, arguments)
    except Stopped:
        return None


def check(seed):
    """What is wrong with the optimizer by a trace (str), or None; True if it calls the trace impossible."""
    chance = random.Random(seed)
    trace, jump = recorded(chance)
    text = text_of(trace, jump)
    try:
        operations, boxes = Optimizer().optimized(text)
    except InvalidLoop:
        return True
    numbers = [argument for _, _, arguments in trace for argument in arguments if not isinstance(argument, str)] or [0]
    for _ in range(200):
        inputs = [wrapped(chance.choice(numbers) + chance.choice([0, 1, -1, 2, -2])) if chance.random() < 0.4
                  else an_input(chance) for _ in range(INPUTS)]
        before, after = run(trace, jump, inputs), run_optimized(operations, boxes, inputs)
        if before != after:
            return '%s\noptimized:\n%s\nof %s: %s, optimized %s' % (
                text, '\n'.join(map(str, operations)), inputs, before, after)
    return None


def check_flag():
    """A trace whose guard wants a flag to be 5 is impossible: it must not end the process."""
    try:
        Optimizer().optimized('[i0, i1]\ni2 = int_lt(i0, i1)\nguard_value(i2, 5) []\njump(i0, i1)')
    except InvalidLoop:
        return
    raise AssertionError('such a trace was compiled')


def main(seed, traces):
    """Check so many traces; the exit code."""
    impossible = 0
    if traces == 0:
        check_flag()
    for i in range(traces):
        wrong = check('%d/%d' % (seed, i))
        if wrong is True:
            impossible += 1
        elif wrong:
            print('trace %d/%d:\n%s' % (seed, i, wrong))
            return 1
    print('%d traces, %d of them called impossible: the same' % (traces, impossible))
    return 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
