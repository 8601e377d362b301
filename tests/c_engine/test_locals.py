"""What sqlite3VdbeExec keeps from opcode to opcode, and how it crosses to the VM: docs/vm.md has a table."""
import os

import pytest

from c_engine.build import build, exec_locals
from tools.upgrade.interpreter import documented


@pytest.fixture(scope='module')
def amalgamation(paths):
    """The edited amalgamation: upstream's variables, and ours."""
    return build.read(os.path.join(paths.edited, 'sqlite3.c'))


def test_every_local_variable_is_in_the_table_and_none_else(amalgamation):
    found = exec_locals.function_locals(amalgamation)
    assert len(found) == len(set(found)) > 15
    assert sorted(found) == sorted(documented())


def test_upstream_has_them_but_for_ours(amalgamation, paths):
    upstream = exec_locals.function_locals(build.read(os.path.join(paths.upstream, 'sqlite3.c')))
    ours = set(exec_locals.function_locals(amalgamation)) - set(upstream)
    assert all('sqpyte' in name.lower() for name in ours), ours


def test_no_variable_of_an_opcode_crosses_a_jump_to_another(amalgamation):
    found = exec_locals.jumps_into_blocks(amalgamation)
    assert ('jump_to_p2', ()) in found
    assert {jump for jump in found if jump[1]} == set()


def test_a_new_variable_is_found(amalgamation):
    changed = amalgamation.replace('  u64 nVmStep = ', '  Mem *pNew, *aOther[2];\n  u64 nVmStep = ', 1)
    assert set(exec_locals.function_locals(changed)) - set(documented()) == {'pNew', 'aOther'}


def test_a_jump_into_a_block_with_variables_is_found(amalgamation):
    changed = amalgamation.replace('case OP_Goto: {', 'case OP_Goto: {\n  int nKept;', 1)
    assert ('check_for_interrupt', ('nKept',)) in exec_locals.jumps_into_blocks(changed)
