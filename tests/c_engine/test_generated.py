"""The generated layout and opcode tables against what the C library itself says."""

import ctypes
import os
import re
import subprocess

import pytest

from c_engine.build import build, flags, layout, opcodes
from c_engine.generated import layout as generated
from c_engine.generated import opcodes as generated_opcodes


@pytest.fixture(scope='module')
def engine(engine_library):
    library = ctypes.CDLL(engine_library)
    for name in ('sqlite3_errmsg', 'sqlite3_libversion', 'sqlite3_sql'):
        getattr(library, name).restype = ctypes.c_char_p
    return library


@pytest.fixture
def statement(engine):
    """A prepared statement with a bound value, by its address."""
    db, prepared = ctypes.c_void_p(), ctypes.c_void_p()
    assert engine.sqlite3_open(b':memory:', ctypes.byref(db)) == 0
    sql = b'SELECT ?1, 2, 3'
    assert engine.sqlite3_prepare_v2(db, sql, -1, ctypes.byref(prepared), None) == 0
    assert engine.sqlite3_bind_int64(prepared, 1, ctypes.c_int64(12345678901)) == 0
    yield db, prepared
    engine.sqlite3_finalize(prepared)
    engine.sqlite3_close(db)


def peek(address, offset, size):
    return int.from_bytes(ctypes.string_at(address + offset, size), 'little')


def test_offsets_find_the_fields_of_a_live_statement(engine, statement):
    db, prepared = statement
    vdbe = prepared.value
    assert peek(vdbe, generated.Vdbe_db, generated.Vdbe_db_size) == db.value
    assert peek(vdbe, generated.Vdbe_nVar, 2) == 1
    assert peek(vdbe, generated.Vdbe_nResColumn, generated.Vdbe_nResColumn_size) == 3
    assert ctypes.string_at(peek(vdbe, generated.Vdbe_zSql, 8)) == b'SELECT ?1, 2, 3'
    variable = peek(vdbe, generated.Vdbe_aVar, 8)
    assert peek(variable, generated.Mem_u, 8) == 12345678901
    assert peek(variable, generated.Mem_flags, 2) & generated.MEM_Int


def test_the_first_opcode_is_init_and_the_last_is_goto(statement):
    _, prepared = statement
    code = peek(prepared.value, generated.Vdbe_aOp, 8)
    count = peek(prepared.value, generated.Vdbe_nOp, generated.Vdbe_nOp_size)
    numbers = [peek(code, i * generated.sizeof_VdbeOp + generated.VdbeOp_opcode, 1)
               for i in range(count)]
    names = [generated_opcodes.NAMES[number] for number in numbers]
    assert names[0] == 'Init' and names[-1] == 'Goto'
    assert 'ResultRow' in names and 'Variable' in names and 'Halt' in names


def test_constants_have_the_values_of_the_header(engine, statement):
    _, prepared = statement
    assert engine.sqlite3_step(prepared) == generated.SQLITE_ROW
    assert engine.sqlite3_step(prepared) == generated.SQLITE_DONE
    assert generated.SQLITE_IOERR_READ == generated.SQLITE_IOERR | 1 << 8


def test_every_field_and_pattern_of_the_tables_is_generated(paths):
    names = set(vars(generated))
    for prefix, _, fields in layout.STRUCTS:
        assert 'sizeof_' + prefix in names
        for field in fields.split():
            assert '%s_%s' % (prefix, field.replace('[]', '').replace('.', '_')) in names
    for pattern in layout.CONSTANTS:
        assert any(re.match(pattern + '$', name) for name in names), pattern


def test_the_fields_that_edits_add_are_generated(paths):
    source = build.read(os.path.join(paths.edited, 'sqlite3.c'))
    added = layout.added_fields(source)
    assert added
    for name in added:
        assert hasattr(generated, 'Vdbe_' + name)


def test_a_field_that_is_gone_is_named_by_the_compiler(paths, monkeypatch):
    monkeypatch.setattr(layout, 'STRUCTS', [('Mem', 'Mem', 'noSuchField')])
    monkeypatch.setattr(layout, 'CONSTANTS', ['MEM_Int'])
    monkeypatch.setenv('CC', ' '.join(flags.compiler()) + ' -fsyntax-only')
    with pytest.raises(subprocess.CalledProcessError) as error:
        layout.generate(os.path.join(paths.edited, 'sqlite3.c'))
    assert 'noSuchField' in error.value.stderr


def test_opcode_names_are_the_librarys(engine):
    engine.sqlite3OpcodeName.restype = ctypes.c_char_p
    for number, name in enumerate(generated_opcodes.NAMES):
        assert engine.sqlite3OpcodeName(number).decode() == name
        assert getattr(generated_opcodes, 'OP_' + name) == number


def test_opcode_properties_are_the_librarys(engine):
    count = len(generated_opcodes.NAMES)
    table = (ctypes.c_ubyte * count).in_dll(engine, 'sqlite3OpcodeProperty')
    assert list(table) == generated_opcodes.PROPERTIES
    assert len(generated_opcodes.COMMENTS) == count
    ops = generated_opcodes
    assert ops.PROPERTIES[ops.OP_Goto] & ops.OPFLG_JUMP
    assert ops.PROPERTIES[ops.OP_Integer] & ops.OPFLG_OUT2


def test_a_table_with_gaps_is_refused():
    with pytest.raises(opcodes.OpcodeError, match='gaps'):
        opcodes.read('#define OP_First 0\n#define OP_Third 2\n')


def test_a_table_without_properties_is_refused():
    with pytest.raises(opcodes.OpcodeError, match='OPFLG_INITIALIZER'):
        opcodes.read('#define OP_First 0\n')
    with pytest.raises(opcodes.OpcodeError, match='1 properties for 2 opcodes'):
        opcodes.read('#define OP_First 0\n#define OP_Second 1 /* jump */\n'
                     '#define OPFLG_INITIALIZER {\\\n/* 0 */ 0x01,\\\n}\n')
