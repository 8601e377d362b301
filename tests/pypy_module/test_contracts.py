"""What the parts of the module may know of each other, read from their source."""

import ast
import re
import sqlite3
import sys

import pytest

import sqpyte
from pypy_module.dbapi.statements import tiers
from tests.structure import importing, modules

# Private names of others that are used all the same, by file, each with its reason. It may only shrink.
REACHED = {
    'pypy_module/dbapi/connections/callbacks.py': {'sys._getframe'},    # the way to the caller's frame: as
    'pypy_module/dbapi/deprecation.py': {'sys._getframe'},              # public as it gets, and inspect loads more
    'pypy_module/inline/runtime/trace.py': {'gc._get_stats'},           # the numbers that gc.get_stats() prints
}


# What may leave objects with finalizers, with the reason why that is before or after a program's loops.
FINALIZED = {
    'pypy_module/ffi/interface.py': {'open'},           # when the engine's interface is compiled
    'pypy_module/ffi/code_cache.py': {'open'},          # when a file of code is written
    'pypy_module/commands/run.py': {'open'},            # before the program begins
    'pypy_module/version.py': {'open'},                 # when a checkout is asked for its version
}


def is_private(name):
    """Whether a name begins with one underscore."""
    return name.startswith('_') and not name.startswith('__')


def is_own(node):
    """Whether an expression is the object whose method it stands in: `self`, `cls` or `super()`."""
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name) and node.id in ('self', 'cls', 'super')


def defined(tree):
    """The private names that a file defines: of its functions, classes, and of their attributes (set)."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            found.add(node.attr)
    return found


def reached(tree):
    """The private names that a file uses of what others define (set of str)."""
    own = defined(tree)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if not is_own(node.value) and node.attr not in own:
                found.add('%s.%s' % (getattr(node.value, 'id', '...'), node.attr))
        elif isinstance(node, ast.ImportFrom) and (node.module or '').startswith('pypy_module'):
            found |= {'%s.%s' % (node.module, alias.name) for alias in node.names if is_private(alias.name)}
    return found


def test_private_names_are_used_in_the_file_that_defines_them():
    assert {path: names for _, path, tree in modules('pypy_module') for names in [reached(tree)] if names} == REACHED


@pytest.mark.parametrize('lower, upper', [('ffi', 'dbapi'), ('ffi', 'inline'), ('dbapi', 'inline')])
def test_layers(lower, upper):
    found = [(name, other) for name, others in importing('pypy_module').items() for other in others
             if name.startswith('pypy_module.%s.' % lower) and other.startswith('pypy_module.%s.' % upper)]
    assert found == []


def finalized(tree):
    """What in a module leaves objects with finalizers behind: 'open', and generators with a `yield` in a `try` or
    a `with`, by name (set). PyPy runs finalizers in whatever loop is running, and they become a part of its trace."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'open':
            found.add('open')
        if isinstance(node, ast.FunctionDef) and any(
                isinstance(inner, (ast.Yield, ast.YieldFrom))
                for block in ast.walk(node) if isinstance(block, (ast.Try, ast.With)) for inner in ast.walk(block)):
            found.add(node.name)
    return found


def test_nothing_leaves_finalizers_beside_loops():
    left = {path: finalized(tree) for _, path, tree in modules('pypy_module')}
    assert {path: found for path, found in left.items() if found} == FINALIZED


def test_what_leaves_finalizers_is_found():
    tree = ast.parse('def one():\n  try:\n    yield\n  finally:\n    open(1)\ndef two():\n  yield')
    assert finalized(tree) == {'one', 'open'}


# Names by which the inliner has what tiers.py describes.
OWNERS = {'Statement': {'statement'}, 'ResultSet': {'cursor', 'result', 'owner'}, 'Session': {'session'}}


def used(owner):
    """The attributes of a kind of object that the inliner uses (set of str)."""
    found = set()
    for name, _, tree in modules('pypy_module'):
        if not re.match(r'pypy_module\.inline\.(\w+$|runtime\.)', name):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                value = node.value.func if isinstance(node.value, ast.Call) else node.value
                if getattr(value, 'id', getattr(value, 'attr', '')) in OWNERS[owner]:
                    found.add(node.attr)
    return found


@pytest.mark.parametrize('owner', OWNERS)
def test_the_inliner_uses_what_its_contract_names(owner):
    paragraph = re.search(r'^A %s\b.*?(?=^A |\Z)' % owner, tiers.__doc__, re.M | re.S)
    assert paragraph
    assert used(owner) == set(re.findall(r'`(\w+)', paragraph.group())) - {'rc'}


# sqlite3's, whatever its version, and one of our own.
SURFACE = {
    'Connection': '''DataError DatabaseError Error IntegrityError InterfaceError InternalError NotSupportedError
        OperationalError ProgrammingError Warning autocommit backup blobopen close commit create_aggregate
        create_collation create_function create_window_function cursor deserialize enable_load_extension execute
        executemany executescript getconfig getlimit in_transaction interrupt isolation_level iterdump
        load_extension rollback row_factory serialize set_authorizer set_progress_handler set_trace_callback
        setconfig setlimit text_factory total_changes'''.split(),
    'Cursor': '''arraysize close connection description execute executemany executescript fetchall fetchmany fetchone
        lastrowid row_factory rowcount setinputsizes setoutputsize'''.split(),
    'Blob': 'close read seek tell write'.split(),
    'Row': ['keys'],
}


@pytest.mark.parametrize('name', SURFACE)
def test_no_public_name_but_those_of_sqlite3(name):
    connection = sqpyte.connect(':memory:')
    connection.execute('CREATE TABLE t(a)')
    connection.execute("INSERT INTO t VALUES('x')")
    cursor = connection.execute('SELECT a FROM t')
    objects = {'Connection': connection, 'Cursor': cursor, 'Row': sqpyte.Row(cursor, cursor.fetchone()),
               'Blob': connection.blobopen('t', 'a', 1)}
    assert [one for one in dir(objects[name]) if not one.startswith('_')] == SURFACE[name]
    if sys.version_info >= (3, 13):
        found = {one for one in dir(getattr(sqlite3, name)) if not one.startswith('_')}
        assert found | {'enable_load_extension', 'load_extension'} >= set(SURFACE[name]) >= found
    connection.close()
