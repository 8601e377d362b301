"""Every opcode's declaration: importing this module fills the table (optable.TABLE)."""
from sqpyte import (  # noqa: F401
    ops_aggregate, ops_compute, ops_control, ops_convert, ops_cursor, ops_function, ops_in_c,
    ops_index, ops_logic, ops_recall, ops_rowset)
from sqpyte.optable import IN_C, TABLE  # noqa: F401
