"""Every opcode's declaration: importing this module fills the table (table.TABLE)."""
from sqpyte.vm.opcodes import (  # noqa: F401
    aggregate, compute, control, convert, cursor, function, index, left_in_c, logic, memoize, rowset)
from sqpyte.vm.opcodes.table import IN_C, TABLE  # noqa: F401
