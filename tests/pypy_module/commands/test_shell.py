"""The shell where SQL is refused, or a database can't be opened: it says so in a line, and goes on."""

import signal
import subprocess
import sys
import time

import pytest

import sqpyte
from pypy_module import version
from tests.pypy_module.commands.conftest import OURS

MANY = 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n'
ENDLESS = 'CREATE TABLE t AS SELECT count(*) FROM (%s), (%s)' % (MANY, MANY)


@pytest.mark.parametrize('sql, said', [
    ('SELECT 1; SELECT 2', 'one statement at a time'),
    (b'SELECT "\xff"', 'UnicodeEncodeError: '),
    (b'SELECT \xff', 'UnicodeEncodeError: '),
    ('SELECT x', 'no such column: x')])
def test_a_statement_that_is_refused(shell, sql, said):
    ended = shell(':memory:', sql)
    assert (ended.code, ended.out, ended.err.count('\n')) == (1, '', 1)
    assert said in ended.err and 'Traceback' not in ended.err


@pytest.mark.parametrize('line', [
    b'SELECT 1; SELECT 2;', b'SELECT "\xff";', b'SELECT \0;', b'SELECT x;', b'.explain SELECT x', b'.explain SELECT \0',
    b'.explain SELECT "\xff"', b'.explain SELECT \xff', b'.\xff'])
@pytest.mark.parametrize('locale', ['C', 'C.UTF-8'])
def test_the_session_goes_on(shell, line, locale):
    ended = shell(stdin=line + b'\nSELECT 6 * 7;\n', LC_ALL=locale)
    assert ended.code == 0 and '(42,)' in ended.out and 'Traceback' not in ended.err
    assert 'Error: ' in ended.err or 'Warning: ' in ended.err or 'Error (SQLITE_ERROR): ' in ended.err


def test_explain_without_a_statement(shell):
    ended = shell(stdin=b'.explain\n.explain  \nSELECT 6 * 7;\n')
    assert ended.err.count('Error: .explain takes a statement\n') == 2 and '(42,)' in ended.out


def test_versions(shell):
    for option in ('-v', '--version'):
        assert shell(option).out == 'sqpyte %s, SQLite %s\n' % (version.sqpyte(), sqpyte.sqlite_version)
    assert sqpyte.__version__ == version.sqpyte()


@pytest.mark.parametrize('there', [True, False])
def test_help_needs_no_library(shell, write, tmp_path, there):
    path = write('text', 'no library') if there else str(tmp_path / 'none')
    ended = shell('--help', SQPYTE_LIBRARY=path)
    assert ended.code == 0 and ended.out.startswith('usage: ') and ended.err == ''
    for arguments in ([], ['--version'], ['--self-test']):
        ended = shell(*arguments, SQPYTE_LIBRARY=path)
        assert (ended.code, ended.out, ended.err.count('\n')) == (1, '', 1)
        assert ended.err.startswith("python -m sqpyte: sqpyte: %s can't be used: " % path)


def test_rows_that_the_terminal_cannot_show(shell):
    ended = shell(stdin="SELECT '\N{SNOWMAN}';\nSELECT 42;\n".encode(), PYTHONIOENCODING='ascii:surrogateescape')
    assert ended.code == 0 and '(42,)' in ended.out and 'UnicodeEncodeError' in ended.err


@pytest.mark.parametrize('name', ['a folder', 'nowhere/file.db'])
@pytest.mark.parametrize('sql', [(), ('SELECT 1',)])
def test_a_database_that_cannot_be_opened(shell, tmp_path, name, sql):
    (tmp_path / 'a folder').mkdir()
    ended = shell(name, *sql)
    assert (ended.code, ended.out, ended.err.count('\n')) == (1, '', 1)
    assert ended.err.startswith('Error: unable to open database "%s": ' % name)
    assert 'unable to open database file' in ended.err


def test_a_file_that_is_no_database(shell, write):
    write('text', 'no database ' * 100)
    ended = shell('text', 'SELECT * FROM t')
    assert ended.code == 1 and 'file is not a database' in ended.err and 'Traceback' not in ended.err


@pytest.mark.parametrize('end, code', [
    (b'SELECT 43', 1), (b'SELECT 43\n', 1), (b'SELECT\n43 -- ;', 1), (b'-- the end', 0), (b'/* the\nend */ \n', 0),
    (b'SELECT 43;', 0), (b'SELECT 43; -- note', 0), (b'SELECT 43; -- note\n\n', 0), (b'SELECT 43; /* open', 0),
    (b"SELECT 43; SELECT '--", 1)])
def test_an_end_without_a_semicolon(shell, end, code):
    ended = shell(stdin=b'SELECT 6 * 7;\n' + end)
    assert ended.code == code and '(42,)' in ended.out and ('(43,)' in ended.out) == (not code and b'43' in end)
    assert ('the last statement has no semicolon, and was not run' in ended.err) == bool(code)


@pytest.mark.parametrize('sql', [(), (MANY,)])
def test_a_reader_that_goes_away(tmp_path, environment, sql):
    with subprocess.Popen([sys.executable, *OURS, ':memory:', *sql], cwd=str(tmp_path), env=environment,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(MANY.encode() + b';\n')
        process.stdin.close()
        assert process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(120) == 1 and b'Traceback' not in said and b'BrokenPipe' not in said


@pytest.mark.parametrize('arguments', [('new.db',), ('new.db', ENDLESS)])
def test_ctrl_c_ends_a_statement(environment, tmp_path, arguments):
    def heed():     # what is started in the background ignores Ctrl-C, and hands that on
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen([sys.executable, *OURS, *arguments], cwd=str(tmp_path), env=environment, preexec_fn=heed,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        process.stdin.write(b'' if len(arguments) > 1 else ENDLESS.encode() + b';\n')
        process.stdin.flush()
        while not (tmp_path / 'new.db-journal').exists():       # then it runs
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(b'SELECT 6 * 8;\n')
    assert (process.returncode, b'(48,)' in out) == ((130, False) if len(arguments) > 1 else (0, True)), err
