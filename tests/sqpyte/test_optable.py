"""The opcode table against the properties that upstream declares of its opcodes."""
import pytest

from c_engine.generated import opcodes
from sqpyte.vm import interp  # noqa: F401  (fills the table)
from sqpyte.vm.opcodes.table import IN_C, TABLE

# What upstream's properties don't say, because its flags have no word for it: registers named
# by other operands, and jumps that are not "jump" but "jump0".
DECLARED = sorted(TABLE.values(), key=lambda declaration: declaration.name)
EVERY = DECLARED + sorted(IN_C.values(), key=lambda declaration: declaration.name)
# These jump without the property: their P2 is never a label that has to be resolved.
SILENT_JUMPS = {'SequenceTest', 'SorterCompare', 'SeekScan'}


@pytest.mark.parametrize('declaration', EVERY, ids=lambda declaration: declaration.name)
def test_declaration_agrees_with_upstream(declaration):
    properties = opcodes.PROPERTIES[declaration.number]
    assert opcodes.NAMES[declaration.number] == declaration.name
    for flag, register in ((opcodes.OPFLG_IN1, 'P1'), (opcodes.OPFLG_IN2, 'P2'),
                           (opcodes.OPFLG_IN3, 'P3')):
        assert not properties & flag or register in declaration.reads
    for flag, register in ((opcodes.OPFLG_OUT2, 'P2'), (opcodes.OPFLG_OUT3, 'P3')):
        assert not properties & flag or register in declaration.writes
    assert bool(properties & opcodes.OPFLG_JUMP or declaration.name in SILENT_JUMPS) == bool(
        set(declaration.jumps) & {'P1', 'P2', 'P3'})


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
