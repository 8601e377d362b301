"""What a program may call between two rows: all of the C API that has a connection or a statement, by what it changes.

What is kept, computed ahead or located ahead has to be given up where a call changes what later rows are.
programs/amid_rows.c tries that. A call that a new SQLite adds is neither there nor here: say where it belongs.
"""

import os
import re

import pytest

from c_engine.build import build

HEADER = build.read(os.path.join(build.Paths().upstream, 'sqlite3.h'))
PROGRAM = build.read(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs', 'amid_rows.c'))
# Why a call changes nothing of what is kept of a statement that is amid its rows. By name, without sqlite3_.
HARMLESS = {
    'it only tells': '''
        last_insert_rowid changes changes64 total_changes total_changes64 is_interrupted errcode
        extended_errcode errmsg errmsg16 error_offset set_errmsg extended_result_codes sql expanded_sql
        normalized_sql stmt_readonly stmt_isexplain stmt_busy bind_parameter_count bind_parameter_name
        bind_parameter_index column_count column_name column_name16 column_database_name column_database_name16
        column_table_name column_table_name16 column_origin_name column_origin_name16 column_decltype
        column_decltype16 data_count expired get_clientdata set_clientdata get_autocommit db_handle db_name
        db_filename db_readonly txn_state next_stmt table_column_metadata db_mutex str_new db_status db_status64
        stmt_status stmt_scanstatus stmt_scanstatus_v2 stmt_scanstatus_reset system_errno vtab_on_conflict
        preupdate_old preupdate_count preupdate_depth preupdate_new preupdate_blobwrite serialize''',
    'it is of the row that is there': '''
        column_blob column_double column_int column_int64 column_text column_text16 column_value column_bytes
        column_bytes16 column_type''',
    'it is refused while a statement runs': '''
        bind_blob bind_blob64 bind_double bind_int bind_int64 bind_null bind_text bind_text16 bind_text64
        bind_value bind_pointer bind_zeroblob bind_zeroblob64 carray_bind carray_bind_v2 stmt_explain close
        declare_vtab vtab_config snapshot_open deserialize''',
    'it ends the statement, or begins another': '''
        finalize reset close_v2 step exec get_table prepare prepare_v2 prepare_v3 prepare16 prepare16_v2
        prepare16_v3''',
    'it only says what is called later, when something is written, waited for or compiled': '''
        busy_handler busy_timeout setlk_timeout commit_hook rollback_hook update_hook autovacuum_pages
        preupdate_hook wal_hook wal_autocheckpoint unlock_notify collation_needed collation_needed16
        create_module create_module_v2 drop_modules overload_function enable_load_extension load_extension
        rtree_geometry_callback rtree_query_callback trace profile trace_v2''',
    'it does what another does that is tried': '''
        create_function16 create_function_v2 create_window_function create_collation_v2 create_collation16''',
    'it writes as any statement does, or copies': '''
        backup_init wal_checkpoint wal_checkpoint_v2 snapshot_get snapshot_recover''',
}
# Opcodes of sqlite3_file_control, likewise, without SQLITE_FCNTL_.
HARMLESS_OPCODES = '''
    LOCKSTATE GET_LOCKPROXYFILE SET_LOCKPROXYFILE LAST_ERRNO SIZE_HINT CHUNK_SIZE FILE_POINTER SYNC_OMITTED
    WIN32_AV_RETRY PERSIST_WAL OVERWRITE VFSNAME POWERSAFE_OVERWRITE PRAGMA BUSYHANDLER TEMPFILENAME TRACE
    HAS_MOVED SYNC COMMIT_PHASETWO WIN32_SET_HANDLE WAL_BLOCK ZIPVFS RBU VFS_POINTER JOURNAL_POINTER
    WIN32_GET_HANDLE PDB BEGIN_ATOMIC_WRITE COMMIT_ATOMIC_WRITE ROLLBACK_ATOMIC_WRITE LOCK_TIMEOUT DATA_VERSION
    SIZE_LIMIT CKPT_DONE RESERVE_BYTES CKPT_START EXTERNAL_READER CKSM_FILE BLOCK_ON_CONNECT FILESTAT'''.split()


def calls():
    """The names of the API's functions whose first argument is a connection or a statement (list of str)."""
    text = re.sub(r'/\*.*?\*/', '', HEADER, flags=re.S)
    found = re.findall(r'SQLITE_API[^;{]*?\bsqlite3_(\w+)\s*\(\s*(?:const )?sqlite3(?:_stmt)?\s*\*[^;]*\)\s*;', text)
    assert len(found) > 140
    return sorted(set(found))


@pytest.mark.parametrize('name', calls())
def test_every_call_is_tried_or_changes_nothing(name):
    reasons = [reason for reason, names in HARMLESS.items() if name in names.split()]
    assert len(reasons) + bool(re.search(r'\bsqlite3_%s\(' % name, PROGRAM)) >= 1, 'try it in amid_rows.c'
    assert len(reasons) <= 1


@pytest.mark.parametrize('name', re.findall(r'#define SQLITE_FCNTL_(\w+)', HEADER))
def test_every_opcode_of_file_control_is_tried_or_changes_nothing(name):
    assert (name in HARMLESS_OPCODES) != ('SQLITE_FCNTL_%s,' % name in PROGRAM), 'try it in amid_rows.c'
