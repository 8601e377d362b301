"""The opcode table against the properties that upstream declares of its opcodes."""
import ast
import glob
import os
import re

import pytest

from c_engine.generated import opcodes
from sqpyte.vm import interp  # noqa: F401  (fills the table)
from sqpyte.vm.opcodes.table import IN_C, KINDS, TABLE, numbers
from tools import opcode_sets
from tools.upgrade import opcode_table

DECLARED = sorted(TABLE.values(), key=lambda declaration: declaration.name)
EVERY = DECLARED + sorted(IN_C.values(), key=lambda declaration: declaration.name)


@pytest.mark.parametrize('declaration', EVERY, ids=lambda declaration: declaration.name)
def test_declaration_agrees_with_upstream(declaration):
    assert opcodes.NAMES[declaration.number] == declaration.name
    flags = {name: value for name, value in vars(opcodes).items() if name.startswith('OPFLG_')}
    assert opcode_table.disagreements(declaration, opcodes.PROPERTIES[declaration.number], flags) == []


@pytest.mark.parametrize('name', opcodes.NAMES)
def test_every_opcode_is_declared(name):
    number = getattr(opcodes, 'OP_' + name)
    assert number in TABLE or number in IN_C


@pytest.mark.parametrize('declaration', EVERY, ids=lambda declaration: declaration.name)
def test_every_opcode_has_its_contract(declaration):
    contract = declaration.contract()
    assert contract and len(contract) >= 8 and contract.rstrip().endswith('.')


def test_the_page_of_opcodes_is_up_to_date():
    from tools import opcode_page
    assert opcode_page.is_current(), 'run `make docs`'


def test_the_scan_opcodes_have_handlers():
    wanted = '''Init Goto Rewind Next Column Rowid RealAffinity Affinity Integer Int64 Real String
        Null Variable Eq Ne Lt Le Gt Ge IsNull NotNull If IfNot IfPos Add Subtract Multiply Divide
        Remainder Concat Copy SCopy Move AggStep AggFinal ResultRow Halt Once Gosub Return'''
    names = {declaration.name for declaration in DECLARED}
    assert set(wanted.split()) <= names


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHANGE = ['registers', 'call', 'read', 'own', 'own-set', 'memo']       # an opcode has one of these at most
# Where an opcode's name stands by right: its handler's file, and its emitter's.
HANDLERS = [os.path.join('sqpyte', 'vm', 'opcodes', ''), os.path.join('codegen', 'opcodes.py'),
            os.path.join('codegen', 'comparisons.py')]


@pytest.mark.parametrize('word', KINDS)
def test_each_kind_has_opcodes_and_a_meaning(word):
    assert numbers(word) and len(KINDS[word]) > 10


@pytest.mark.parametrize('declaration', EVERY, ids=lambda declaration: declaration.name)
def test_an_opcode_changes_one_thing(declaration):
    kinds = [word for word in CHANGE if declaration.number in numbers(word)]
    assert len(kinds) <= 1
    # Only what is known to change nothing of the database is run ahead; nobody writes it by mistake.
    if declaration.name.startswith(('Create', 'Drop', 'V', 'Vacuum', 'Transaction', 'Savepoint', 'OpenWrite')):
        assert kinds == (['registers'] if declaration.name == 'Variable' else [])


def names_of(node):
    """The names of opcodes that a literal has: `opcodes.OP_X`, `OP_X`, or words in a text."""
    found = []
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and one.attr.startswith('OP_'):
            found.append(one.attr[3:])
        elif isinstance(one, ast.Name) and one.id.startswith('OP_'):
            found.append(one.id[3:])
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            found += [word for word in one.value.split() if word in opcodes.NAMES]
    return found


def lists_of_opcodes(path):
    """(line, names) of each name of a module that stands for three opcodes or more, and of each comparison with as
    many."""
    with open(path) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            names = names_of(node.comparators[0])
            if len(set(names)) >= 3:
                yield node.lineno, names
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            # `A, B = OP_A, OP_B` gives each a name.
            several = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
            names = names_of(node.value)
            if len(set(names)) >= 3 and not several:
                yield node.lineno, names


def test_no_list_of_opcodes_is_kept_by_hand():
    found = []
    for room in ('sqpyte', 'pypy_module'):
        for path in glob.glob(os.path.join(ROOT, room, '**', '*.py'), recursive=True):
            if not any(place in path for place in HANDLERS):
                found += ['%s:%d %s' % (os.path.relpath(path, ROOT), line, ' '.join(names))
                          for line, names in lists_of_opcodes(path)]
    assert found == []


# The opcodes that C names, by file, because it does what they mean. Sets of opcodes are in core/opcode_sets.h.
NAMED_IN_C = {
    # The last one of all; what may be named in a setting.
    'c_engine/core/settings.c': 'MemoizeStore IsType',
    'c_engine/core/engine.c': 'IsType',
    # Operands and forms that change while a program runs.
    'c_engine/core/program_key.c': 'Init Once String8 String AggStep1 AggStep AggInverse Function PureFunc Yield',
    # What P2 of a LIMIT means, of a loop's first opcode, of its last one.
    'c_engine/core/cardinality.c': 'DecrJumpZero Rewind Last Next',
    'c_engine/core/tiering.c': 'Goto Once Prev',
    # What ends a statement after one row; what fills a sorter.
    'c_engine/rows/fused.c': 'ResultRow Program VUpdate IncrVacuum Expire Transaction Goto',
    'c_engine/rows/page_batch.c': 'ResultRow Yield AggValue SorterInsert',
    'c_engine/rows/call_log.c': 'Noop',
    'c_engine/rows/sink.c': 'Noop',
    # What they emit, or do in an opcode's place.
    'c_engine/storage/memoize.c': 'Column Gosub Memoize MemoizeStore',
    'c_engine/storage/row_cache.c': 'SeekRowid NotExists DeferredSeek NullRow',
    'c_engine/vm/functions.c': 'AggStep1',
    'c_engine/vm/helpers.c': 'Column',
    'c_engine/vm/seek.c': 'SeekGE SeekGT SeekLT',
}


def test_opcodes_that_c_names():
    found = {}
    for path in glob.glob(os.path.join(ROOT, 'c_engine', '**', '*.[ch]'), recursive=True):
        name = os.path.relpath(path, ROOT)
        if name == 'c_engine/core/opcode_sets.h' or name.startswith('c_engine/effects/'):
            continue
        with open(path) as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
        names = set(re.findall(r'\bOP_(\w+)', text))
        if names:
            found[name] = names
    assert found == {name: set(names.split()) for name, names in NAMED_IN_C.items()}


def test_the_sets_for_c_are_up_to_date():
    with open(opcode_sets.PATH) as file:
        assert file.read() == opcode_sets.header(), 'run `make docs`'


def test_what_nobody_has_looked_at_is_in_no_set():
    lines = {line.split(']')[0].strip(' [') for line in opcode_sets.header().splitlines() if line.startswith('  [OP_')}
    assert 'OP_Next' in lines and 'OP_Yield' in lines and len(lines) <= len(opcodes.NAMES)
    members = dict((name, members) for name, _, members in opcode_sets.SETS)
    assert opcodes.OP_RowData not in members['ROW_CACHE'] | members['NO_CURSOR']
    assert opcodes.OP_SeekScan not in members['ROW_CACHE'] | members['NO_CURSOR']
    assert opcodes.OP_Return not in members['GOES_ON']


def test_each_kind_is_asked_for():
    asked = set()
    for room in ('sqpyte', 'pypy_module', 'tools'):
        for path in glob.glob(os.path.join(ROOT, room, '**', '*.py'), recursive=True):
            with open(path) as file:
                for node in ast.walk(ast.parse(file.read())):
                    if isinstance(node, ast.Call) and getattr(node.func, 'id', '') in ('kind', 'numbers'):
                        asked |= {one.value for one in node.args if isinstance(one, ast.Constant)}
    assert asked == set(KINDS)
