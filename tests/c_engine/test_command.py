"""The `sqpyte` command: rows, errors and times as the sqlite3 shell prints them.

The expected texts were taken from Debian 12's sqlite3 3.40.
"""

import os
import re
import subprocess

import pytest

from c_engine.build import build, flags


@pytest.fixture(scope='module')
def command(tmp_path_factory, paths, stock_library):
    """The command, linked to the stock library: what it prints is its own work."""
    binary = str(tmp_path_factory.mktemp('command') / 'sqpyte')
    subprocess.run(flags.compiler() + [
        '-Wall', '-Wextra', '-Werror', '-I', paths.upstream,
        os.path.join(build.ROOM, 'core', 'command.c'), '-o', binary, stock_library,
        '-Wl,-rpath,' + os.path.dirname(paths.stock_link)], check=True)
    return binary


def run(command, *arguments, **options):
    """Return (exit code, standard output, standard error)."""
    process = subprocess.run([command] + list(arguments), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, **options)
    return process.returncode, process.stdout.decode(), process.stderr.decode()


@pytest.mark.parametrize('sql, printed', [
    ("SELECT 1, 'a', NULL, 2.5", '1|a||2.5\n'),
    ("SELECT x'414243', ''", 'ABC|\n'),
    ('SELECT 1e100, -0.0, -1e30, 100.0, 0.1', '1.0e+100|0.0|-1.0e+30|100.0|0.1\n'),
    ('SELECT 9223372036854775807, -9223372036854775808',
     '9223372036854775807|-9223372036854775808\n'),
    ("SELECT 'two' || char(10) || 'lines', 'a|b'", 'two\nlines|a|b\n'),
    ("SELECT 'bl\u00fcte'", 'bl\u00fcte\n'),
    ('VALUES (1, 2), (3, 4)', '1|2\n3|4\n'),
    ('SELECT 1; SELECT 2;', '1\n2\n'),
    ('SELECT 1 WHERE 0', ''),
    ('SELECT ?1 IS NULL, $name', '1|\n'),
    ('-- nothing but a remark', ''),
])
def test_rows(command, sql, printed):
    assert run(command, ':memory:', sql) == (0, printed, '')
    assert run(command, ':memory:', input=sql.encode()) == (0, printed, '')


def test_several_arguments_share_the_connection(command):
    arguments = ['CREATE TABLE t(a)', 'INSERT INTO t VALUES (7)', 'SELECT a FROM t']
    assert run(command, ':memory:', *arguments) == (0, '7\n', '')


def test_an_error_in_an_argument_ends_the_run(command):
    assert run(command, ':memory:', 'SELECT 1', 'SELEC 2', 'SELECT 3') == (
        1, '1\n',
        'Error: in prepare, near "SELEC": syntax error\n  SELEC 2\n  ^--- error here\n')
    assert run(command, ':memory:', 'SELECT abs(-9223372036854775807 - 1)') == (
        1, '', 'Error: stepping, integer overflow\n')


def test_standard_input_goes_on_after_an_error(command):
    sql = (b'CREATE TABLE t(a UNIQUE);\nINSERT INTO t VALUES (1);\n\nINSERT INTO t\nVALUES (1);\n'
           b'SELECT * FROM missing;\nSELECT a FROM t')
    assert run(command, ':memory:', input=sql) == (
        1, '1\n',
        'Runtime error near line 4: UNIQUE constraint failed: t.a (19)\n'
        'Parse error near line 6: no such table: missing\n')


def test_the_place_of_an_error_far_into_the_statement(command):
    sql = 'SELECT %s, 1 1' % ', '.join(['1'] * 40)
    code, _, error = run(command, ':memory:', sql)
    lines = error.splitlines()
    assert code == 1 and lines[0] == 'Error: in prepare, near "1": syntax error'
    assert lines[1].startswith('  ') and len(lines[1]) <= 80
    assert lines[2].endswith('error here ---^') and lines[1][len(lines[2]) - 1] == '1'


def test_a_statement_over_several_lines_with_semicolons_in_a_string(command):
    assert run(command, ':memory:', input=b"SELECT 'a;\nb;',\n 2;\n") == (0, 'a;\nb;|2\n', '')


def test_a_trigger_is_one_statement(command):
    sql = b'''CREATE TABLE t(a);
CREATE TRIGGER r AFTER INSERT ON t BEGIN
  UPDATE t SET a = a + 1;
END;
INSERT INTO t VALUES (1);
SELECT a FROM t;
'''
    assert run(command, ':memory:', input=sql) == (0, '2\n', '')


def test_dot_commands_are_refused(command):
    code, output, error = run(command, ':memory:', input=b'.tables\nSELECT 1;\n')
    assert (code, output) == (1, '1\n') and 'near line 1' in error


def test_timer(command):
    code, output, error = run(command, '--timer', ':memory:', 'SELECT 1; SELECT 2')
    time = r'Run Time: real \d+\.\d{3} user \d+\.\d{6} sys \d+\.\d{6}\n'
    assert code == 0 and error == ''
    assert re.match('1\n%s2\n%s$' % (time, time), output)


def test_readonly(command, tmp_path):
    path = str(tmp_path / 'a.db')
    assert run(command, '--readonly', path, 'SELECT 1') == (
        1, '', 'Error: unable to open database "%s": unable to open database file\n' % path)
    assert run(command, path, 'CREATE TABLE t(a)') == (0, '', '')
    code, _, error = run(command, '--readonly', path, 'INSERT INTO t VALUES (1)')
    assert (code, error) == (
        1, 'Error: stepping, attempt to write a readonly database (8)\n')


def test_a_full_disk_is_an_error(command):
    with open('/dev/full', 'wb') as full:
        process = subprocess.run([command, ':memory:', 'SELECT 1'], stdout=full,
                                 stderr=subprocess.PIPE)
    assert process.returncode == 1 and b'No space left' in process.stderr


@pytest.mark.parametrize('arguments', [[], ['--unknown', 'x']])
def test_usage(command, arguments):
    code, output, error = run(command, *arguments)
    assert code == 1 and output == '' and 'usage: sqpyte' in error
    assert run(command, '--help') == (0, error[error.index('usage'):], '')
