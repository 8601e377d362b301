"""`make upgrade`: what a trial of another SQLite says, on small texts; nothing is fetched or compiled."""
import os
import subprocess

import pytest

from c_engine.build import build, fetch, pin
from c_engine.patches import apply
from sqpyte.vm.opcodes.every import TABLE
from tools.upgrade import __main__ as command
from tools.upgrade import interpreter, layouts, obtain, opcode_table, smoke, trial, uses
from tools.upgrade.findings import TO_MEND, TO_READ, Findings

# npm's packages and their SQLite; the oldest ship it in another form.
PACKAGES = {'1.0.0': None, '2.0.0': None, '9.0.0': '3.40.0', '10.0.0': '3.44.1', '10.0.1': '3.44.2', '11.0.0': '3.49.0',
            '12.0.0': '3.53.2', '12.1.0': '3.53.2', '13.0.0': '3.53.4', '13.1.0': '3.54.1'}

INTERPRETER = '''\
SQLITE_PRIVATE int sqlite3VdbeExec(
  Vdbe *p                    /* The VDBE */
){
  Op *aOp = p->aOp;          /* Copy of p->aOp */
  int rc = SQLITE_OK;        /* Value to return */
  assert( p->eVdbeState==VDBE_RUN_STATE );  /* sqlite3_step() verifies this */
  switch( pOp->opcode ){
/* Opcode: Goto * P2 * * *
*/
case OP_Goto: {             /* jump */
jump_to_p2:
  pOp = &aOp[pOp->p2 - 1];
  break;
}
case OP_Add:                /* out3 */
case OP_Subtract: {
  switch( pOp->opcode ){
    case OP_Add: rB += rA; break;
    default: { rB -= rA; }
  }
  zName = "/* no comment */";
  break;
}
default: {          /* This is really OP_Noop, OP_Explain */
  break;
}
  }
abort_due_to_error:
  return rc;
}
/************** End of vdbe.c ****/
'''
FLAGS = {'OPFLG_JUMP': 1, 'OPFLG_IN1': 2, 'OPFLG_IN2': 4, 'OPFLG_IN3': 8, 'OPFLG_OUT2': 16, 'OPFLG_OUT3': 32,
         'OPFLG_NCYCLE': 64}


def ask(asked=None):
    """A package's SQLite, as npm would give it; the packages asked are appended to the list `asked`."""
    def answer(package):
        if asked is not None:
            asked.append(package)
        if PACKAGES[package] is None:
            raise fetch.Unavailable('no sqlite3.c')
        return PACKAGES[package]
    return answer


@pytest.mark.parametrize('wanted', sorted({one for one in PACKAGES.values() if one}))
def test_the_package_of_a_version_is_found(wanted):
    package, _ = obtain.search(wanted, list(PACKAGES), ask())
    assert PACKAGES[package] == wanted


def test_the_newest_is_found_with_one_question():
    asked = []
    assert obtain.search('3.54.1', list(PACKAGES), ask(asked))[0] == '13.1.0'
    assert asked == ['13.1.0']


@pytest.mark.parametrize('wanted', ['3.1.0', '3.44.3', '3.60.0'])
def test_a_version_that_no_package_has_is_not_found(wanted):
    package, asked = obtain.search(wanted, list(PACKAGES), ask())
    assert package is None and asked


def folder_of(path, version):
    """A folder with both files of a version that says so, padded as upstream does at times."""
    os.makedirs(str(path))
    (path / 'sqlite3.c').write_text('/* amalgamation */')
    (path / 'sqlite3.h').write_text('#define SQLITE_VERSION        "%s"\n' % version)
    return path


def test_the_users_copy_is_taken_and_its_version_checked(tmp_path):
    mine = folder_of(tmp_path / 'mine', '3.99.0')
    target = tmp_path / 'trial'
    for path in (mine, mine / 'sqlite3.c'):
        assert str(mine) in obtain.obtain('3.99.0', str(target), str(path))
    assert obtain.version_of(str(target)) == '3.99.0'
    # What an earlier trial has put there needs no npm.
    assert 'an earlier trial (your copy' in obtain.obtain('3.99.0', str(target))
    with pytest.raises(fetch.FetchError, match='has SQLite 3.99.0, and 3.98.0 was asked for'):
        obtain.obtain('3.98.0', str(target), str(mine))


def test_a_version_that_cannot_be_had_tells_what_to_do(tmp_path, monkeypatch):
    def refuse():
        raise fetch.Unavailable('npm is not installed')

    monkeypatch.setattr(obtain, 'packages_of_npm', refuse)
    with pytest.raises(fetch.FetchError) as caught:
        obtain.obtain('3.99.0', str(tmp_path / 'trial'))
    for words in ('npm is not installed', 'make upgrade SQLITE=3.99.0 SQPYTE_SQLITE=', 'UPDATE_DELETE_LIMIT'):
        assert words in str(caught.value)


def test_all_misfits_are_named_with_their_files():
    lines = apply.misfits('/* an empty amalgamation */')
    assert len(lines) > len(apply.EDITS) + len(apply.VISIBLE)
    assert any("'memoize-exec' of c_engine/patches/memoize.py matches 0 times" in line for line in lines)
    assert any('effects-halt' in line and 'patches/effects.py' in line for line in lines)
    assert any('sqlite3BtreeNext, of VISIBLE' in line for line in lines)


def test_the_code_of_an_opcode_is_what_is_compiled():
    found = interpreter.cases(INTERPRETER)
    assert set(found) == {'Goto', 'Add', 'Subtract', 'Noop', interpreter.BEFORE, interpreter.BEHIND}
    assert found['Add'] == found['Subtract'] and 'rB -= rA' in found['Add']
    assert '"/* no comment */"' in found['Add'] and 'jump */' not in found['Goto']
    assert 'abort_due_to_error' in found[interpreter.BEHIND] and 'abort' not in found['Noop']


@pytest.mark.parametrize('change,names', [
    (('/* jump */', '/* jump, in1 */'), []),
    (('  break;\n}\ncase OP_Add:', '\n     break;  /* done */\n}\ncase OP_Add:'), []),
    (('p2 - 1]', 'p2]'), ['Goto']),
    (('rB += rA', 'rB = rA'), ['Add', 'Subtract']),
    (('no comment', 'text'), ['Add', 'Subtract']),
    (('return rc', 'return 0'), [interpreter.BEHIND]),
    (('case OP_Goto: {', 'case OP_New: {\n  break;\n}\ncase OP_Goto: {'), []),
])
def test_opcodes_whose_code_changes_are_named(change, names):
    before, after = interpreter.cases(INTERPRETER), interpreter.cases(INTERPRETER.replace(*change, 1))
    assert interpreter.changed(before, after) == names
    diff = interpreter.differences(before, after, names)
    assert diff.count('+++') == (1 if names else 0)


def test_functions_are_compared_but_for_the_public_interface():
    text = ('SQLITE_PRIVATE int sqlite3One(int);\nSQLITE_PRIVATE int sqlite3One(\n  int n  /* how many */\n){\n'
            '  return n;\n}\nstatic void two(void){\n}\nSQLITE_API int sqlite3_three(void){\n  return 3;\n}\n')
    found = interpreter.functions(text)
    assert set(found) == {'sqlite3One', 'two'} and found['sqlite3One'].endswith('return n;')
    again = interpreter.functions(text.replace('how many', 'a number').replace('void two(void){', 'void two(int n){'))
    assert interpreter.changed(found, again) == ['two']


def test_the_files_that_name_a_function_are_found(tmp_path):
    for room, name in (('sqpyte', 'a.py'), ('pypy_module', 'b.py'), ('sqpyte', 'c.txt')):
        (tmp_path / room).mkdir(exist_ok=True)
        (tmp_path / room / name).write_text('# as sqlite3One does\n')
    assert uses.files_with(['sqlite3One', 'two'], ['sqpyte'], str(tmp_path)) == {
        'sqlite3One': [os.path.join('sqpyte', 'a.py')]}


def test_an_unknown_interpreter_is_told():
    with pytest.raises(ValueError, match='exec_locals'):
        interpreter.cases('/* no interpreter */')


def test_local_variables_that_are_new_or_gone_are_told(monkeypatch):
    monkeypatch.setattr(interpreter, 'documented', lambda: {'aOp': '', 'rc': '', 'nSqpyteBudget': ''})
    assert interpreter.locals_misfits(INTERPRETER) == []
    new = INTERPRETER.replace('  int rc = SQLITE_OK;', '  int nNew = 0;')
    assert [line.split(':')[0] for line in interpreter.locals_misfits(new)] == ['nNew is new', 'rc is gone']
    jump = INTERPRETER.replace('case OP_Goto: {', 'case OP_Goto: {\n  int nKept;').replace(
        '  zName =', '  goto jump_to_p2; zName =')
    assert interpreter.locals_misfits(jump) == ['nKept, of one opcode, live on in another by `goto jump_to_p2`']


def listed(**opcodes):
    """Opcodes (Listed), each given as (properties, comment)."""
    return opcode_table.Listed(list(opcodes), [one[0] for one in opcodes.values()],
                               [one[1] for one in opcodes.values()], FLAGS)


def test_opcodes_that_are_new_gone_or_contradicted_have_to_be_mended():
    before = listed(Goto=(1, 'jump'), Rowid=(16, 'r[P2]=PX rowid of P1'))
    assert opcode_table.misfits(before, before) == []
    new, contradicted, gone = sorted(opcode_table.misfits(before, listed(Goto=(3, 'jump'), Brew=(1, 'coffee'))))
    assert new.startswith('Brew is new and not declared') and 'will run in C' in new and '"coffee", JUMP' in new
    assert contradicted.startswith('Goto: upstream says now that it reads P1') and 'control.py' in contradicted
    assert gone.startswith('Rowid is gone') and os.path.join('opcodes', 'cursor.py') in gone


def test_the_declarations_of_our_own_opcodes_are_not_gone():
    assert 'Memoize' in opcode_table.declarations()
    before = listed(Goto=(1, 'jump'))
    assert opcode_table.misfits(before, before) == []


def test_other_properties_and_comments_are_to_be_read():
    before, after = listed(Goto=(1, 'jump')), listed(Goto=(65, 'jumps'))
    assert opcode_table.changes(before, before) == []
    lines = opcode_table.changes(before, after)
    assert 'were JUMP, and are JUMP NCYCLE' in lines[0] and 'was "jump", and is "jumps"' in lines[1]


def test_every_handler_has_a_file_to_open():
    for declaration in TABLE.values():
        assert os.path.isfile(os.path.join(build.ROOT, opcode_table.where(declaration.name))), declaration.name


def test_structs_that_change_are_told_by_struct():
    before = {'Mem_n': 16, 'sizeof_Mem': 56, 'sqlite3_context_argv': 56, 'MEM_Int': 4, 'MEM_Old': 8}
    after = dict(before, Mem_n=24, sizeof_Mem=64, sqlite3_context_argv=64, MEM_New=8)
    del after['MEM_Old']
    assert layouts.changes(before, before) == []
    assert sorted(layouts.changes(before, after)) == [
        'MEM: MEM_New new; MEM_Old gone', 'Mem: Mem_n 24, was 16; sizeof_Mem 64, was 56',
        'sqlite3_context: sqlite3_context_argv 64, was 56']


def test_a_field_that_is_gone_is_named_by_the_compiler(monkeypatch):
    def fail(source, target):
        raise subprocess.CalledProcessError(1, ['gcc'], stderr=(
            "/tmp/x/layout.c: In function 'main':\n/tmp/x/layout.c:9:3: error: 'Mem' has no member named 'n'\n"
            "/tmp/x/layout.c:9:3: error: 'Mem' has no member named 'n'\n"))

    monkeypatch.setattr(layouts, 'measure', fail)
    findings = Findings()
    layouts.compare(('a', 'b'), ('c', 'd'), findings)
    assert not findings.fits()
    assert findings.text().splitlines()[2:] == ["    error: 'Mem' has no member named 'n'"]


def test_a_constant_that_is_gone_and_used_has_to_be_mended(monkeypatch):
    numbers = {'a': {'MEM_Int': 4, 'SQLITE_UNHEARD_OF': 1}, 'c': {}}
    monkeypatch.setattr(layouts, 'measure', lambda source, target: numbers[source])
    findings = Findings()
    layouts.compare(('a', 'b'), ('c', 'd'), findings)
    assert findings.count(TO_MEND) == 1 and 'MEM_Int is gone, but used in ' in findings.text()
    assert findings.count(TO_READ) == 2


def test_the_report_has_two_lists():
    findings = Findings()
    assert findings.fits() and findings.text() == ''
    findings.add(TO_READ, 'opcodes', ['Goto'])
    findings.add(TO_READ, 'nothing', [])
    assert findings.fits()
    findings.add(TO_MEND, 'edits', ['one', 'two\nof two lines'])
    assert not findings.fits()
    assert findings.text().splitlines() == [
        'To mend (2)', '  edits', '    one', '    two', '    of two lines',
        'To read again (1)', '  opcodes', '    Goto']


def test_the_few_queries_pass_in_the_engine_and_find_a_wrong_version(engine_library):
    findings = Findings()
    trial.smoke(engine_library, pin.VERSION, findings)
    assert findings.fits(), findings.text()
    assert smoke.main([engine_library, '3.0.0']) == 1
    trial.smoke('/no/such/library.so', pin.VERSION, findings)
    assert not findings.fits()


def test_the_pinned_version_fits_itself(paths, tmp_path, monkeypatch, capsys):
    """All but compiling, which is replaced."""
    monkeypatch.setattr(command, 'FOLDER', str(tmp_path))
    monkeypatch.setattr(trial, 'compile_engine', lambda paths, findings: False)
    monkeypatch.setattr(layouts, 'measure', lambda source, target: {'Mem_n': 16})
    monkeypatch.setenv('SQPYTE_SQLITE', paths.upstream)
    assert command.main([pin.VERSION]) == 0
    shown = capsys.readouterr().out
    assert 'All fits' in shown and pin.SHA256['sqlite3.c'] in shown
    assert build.read(str(tmp_path / pin.VERSION / 'upstream.diff')) == ''


def test_a_version_that_does_not_fit_ends_with_one_and_compiles_nothing(paths, tmp_path, monkeypatch, capsys):
    mine = folder_of(tmp_path / 'mine', '3.99.0')
    text = build.read(os.path.join(paths.upstream, 'sqlite3.c'))
    (mine / 'sqlite3.c').write_text(text.replace(apply.EDITS[0].find, ''))
    monkeypatch.setattr(command, 'FOLDER', str(tmp_path / 'upgrade'))
    monkeypatch.setattr(trial, 'compile_engine', lambda paths, findings: pytest.fail('it compiles'))
    monkeypatch.setattr(layouts, 'measure', lambda source, target: {'Mem_n': 16})
    monkeypatch.setenv('SQPYTE_SQLITE', str(mine))
    assert command.main(['3.99.0']) == 1
    shown = capsys.readouterr().out
    assert apply.EDITS[0].name in shown and "VERSION = '3.99.0'" in shown and 'does not fit yet' in shown


@pytest.mark.parametrize('version', ['', '3.54', 'newest', '../3.54.1'])
def test_a_version_has_three_numbers(version, capsys):
    with pytest.raises(SystemExit):
        command.main([version])
    assert 'make upgrade SQLITE=' in capsys.readouterr().err
