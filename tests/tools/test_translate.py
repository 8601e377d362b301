"""The translation's driver, with a stand-in for RPython and a tiny engine, and the key it goes by."""

import ctypes
import os
import shutil
import subprocess
import types

import pytest

from c_engine.build import build as engine
from c_engine.build import flags
from sqpyte.vm.base import capi
from tools import environments, translate, vm_inputs

# What the stand-in leaves where RPython leaves it. The answer is what the sources' copy said.
RPYTHON = r'''
test "$(cat allowed)" = yes || { seq 100 | sed 's/^/line /'; echo the reason; exit 1; }
echo "[translation:info] RTyping..."
made=$PYPY_USESSION_DIR/usession-unknown-0/testing_1
mkdir -p $made
answer=$(sed -n 's/^ANSWER = //p' source/sqpyte/vm/target.py)
echo "int sqpyte_vm_run(void){ return $answer; }" > $made/vm.c
echo "double cos(double); double vm_cos(double x){ return cos(x); }" > $made/more.c
(cd $made && gcc -fPIC -c vm.c more.c)
printf 'OBJECTS = vm.o \\\n          more.o\n\nLIBS = -lm \\\n       -lpthread\n\nCC = gcc\n' > $made/Makefile
touch libsqpyte.so
'''
ENGINE = 'int sqpyte_vm_run(void); int sqpyte_answer(void){ return %d + sqpyte_vm_run(); }'
TREE = {
    'sqpyte/vm/target.py': 'ANSWER = 1\nfrom sqpyte.vm import inner\n',
    'sqpyte/vm/inner.py': ('from c_engine.generated import opcodes\n'
                        'from c_engine.generated.layout import Vdbe_pc\n'
                        'FUNCTIONS = ["sqpyte_used"]\nCODE = "SQPYTE_USED"\n'),
    'c_engine/__init__.py': '',
    'c_engine/generated/__init__.py': '',
    'c_engine/generated/layout.py': 'Vdbe_pc = 8\nVdbe_rc = 12\n',
    'c_engine/generated/opcodes.py': 'NAMES = [\n    "Init",\n]\n',
    'c_engine/core/engine.h': ('#define SQPYTE_USED 1\n#define SQPYTE_OTHER 2\n'
                          'typedef int (*callback)(void *);\n'
                          '/* a remark */\nint sqpyte_used(void *p);\n'
                          'extern int sqpyte_other(int);\n'),
}


class Project:
    """A small source tree under `root`, and an engine's object."""

    def __init__(self, root):
        self.root = root
        self.engine_object = str(root / 'engine.o')
        for name, text in TREE.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.engine(0)

    def change(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def engine(self, number):
        """Compile an engine that adds a number to what the VM answers."""
        source = self.root / 'engine.c'
        source.write_text(ENGINE % number)
        subprocess.run(flags.compiler() + ['-fPIC', '-c', str(source), '-o', self.engine_object], check=True)

    def allow(self, yes):
        """Let the stand-in for RPython work, or fail."""
        self.allowed = yes

    def run(self):
        """Run the driver; return its exit code."""
        return translate.main()

    def answer(self):
        """What the product says: the engine's number and the VM's."""
        copy = self.root / ('copy-%d.so' % len(os.listdir(self.root)))
        shutil.copyfile(translate.PRODUCT, copy)
        return ctypes.CDLL(str(copy)).sqpyte_answer()


@pytest.fixture
def tree(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def project(tree, tmp_path, monkeypatch):
    cache = tmp_path / 'build' / 'vm'
    monkeypatch.setattr(translate, 'ROOT', str(tmp_path))
    monkeypatch.setattr(translate, 'CACHE', str(cache))
    monkeypatch.setattr(translate, 'LOG', str(cache / 'translate.log'))
    monkeypatch.setattr(translate, 'PRODUCT', str(tmp_path / 'build' / 'libsqpyte.so'))
    monkeypatch.setattr(translate.engine, 'Paths', lambda: types.SimpleNamespace(
        engine_object=tree.engine_object))
    monkeypatch.setattr(environments, 'find_python27', lambda: str(tmp_path / 'python'))
    monkeypatch.setattr(environments, 'make_rpython', lambda python27: str(tmp_path))
    translate_for_real = translate.translate

    def with_leave(python27, directory):
        with open(os.path.join(directory, 'allowed'), 'w') as file:
            file.write('yes' if tree.allowed else 'no')
        return translate_for_real(python27, directory)

    monkeypatch.setattr(translate, 'translate', with_leave)
    python = tmp_path / 'python'
    python.write_text('#!/bin/sh\n' + RPYTHON)
    python.chmod(0o755)
    tree.allow(True)
    return tree


def kept():
    return sorted(name for name in os.listdir(translate.CACHE)
                  if os.path.isdir(os.path.join(translate.CACHE, name)))


def test_a_translation_is_linked_and_not_repeated(project, capsys):
    assert project.run() == 0
    assert project.answer() == 1
    assert 'RTyping...' in capsys.readouterr().err
    project.allow(False)
    assert project.run() == 0
    assert capsys.readouterr().err.count('up to date') == 2
    assert len(kept()) == 1


def test_a_changed_engine_is_linked_without_a_translation(project):
    project.run()
    project.allow(False)
    project.engine(10)
    assert project.run() == 0
    assert project.answer() == 11


@pytest.mark.parametrize('change', [
    ('sqpyte/vm/target.py', 'ANSWER = 1', 'ANSWER = 2'),
    ('c_engine/generated/layout.py', 'Vdbe_pc = 8', 'Vdbe_pc = 16'),
    ('c_engine/core/engine.h', 'sqpyte_used(void *p)', 'sqpyte_used(void *p, int n)')])
def test_an_old_translation_is_not_linked_to_an_engine_of_other_layout(project, change):
    project.run()
    project.allow(False)
    project.engine(10)
    project.change(*change)
    assert project.run() == 1
    assert project.answer() == 1
    project.allow(True)
    assert project.run() == 0
    assert project.answer() in (11, 12)


def test_an_earlier_state_comes_back_without_a_translation(project):
    project.run()
    project.change('sqpyte/vm/target.py', 'ANSWER = 1', 'ANSWER = 2')
    project.run()
    assert project.answer() == 2
    project.allow(False)
    project.change('sqpyte/vm/target.py', 'ANSWER = 2', 'ANSWER = 1')
    assert project.run() == 0
    assert project.answer() == 1


def test_a_function_that_the_engine_lacks_stops_the_link(project, capsys):
    project.run()
    source = project.root / 'engine.c'
    source.write_text('int absent(void); int sqpyte_answer(void){ return absent(); }')
    subprocess.run(flags.compiler() + ['-fPIC', '-c', str(source), '-o', project.engine_object], check=True)
    assert project.run() == 1
    assert 'error: this command failed' in capsys.readouterr().err
    assert project.answer() == 1


def test_only_the_exported_names_are_visible(project):
    project.run()
    names = subprocess.run(['nm', '-D', '--defined-only', translate.PRODUCT], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    assert 'sqpyte_answer' in names and 'vm_cos' not in names


def test_the_last_few_results_are_kept(project):
    for number in range(translate.KEPT + 2):
        (project.root / 'sqpyte' / 'vm' / 'target.py').write_text('ANSWER = %d\n' % number)
        assert project.run() == 0
        for name in kept():
            path = os.path.join(translate.CACHE, name, translate.OBJECT)
            os.utime(path, (os.path.getmtime(path) - 10, os.path.getmtime(path) - 10))
    assert len(kept()) == translate.KEPT
    project.allow(False)
    assert project.run() == 0


def test_a_failure_shows_the_end_of_the_log_and_keeps_the_old_library(project, capsys):
    project.run()
    project.allow(False)
    project.change('sqpyte/vm/target.py', 'ANSWER = 1', 'ANSWER = 2')
    assert project.run() == 1
    said = capsys.readouterr().err
    assert 'the reason\n' in said and 'line 99\n' in said and 'line 10\n' not in said
    assert translate.LOG in said
    assert project.answer() == 1


def test_sources_that_change_while_they_are_copied_are_not_translated(project, monkeypatch, capsys):
    copy = vm_inputs.copy

    def change_and_copy(root, target):
        project.change('sqpyte/vm/target.py', 'ANSWER = 1', 'ANSWER = 2')
        copy(root, target)

    monkeypatch.setattr(vm_inputs, 'copy', change_and_copy)
    assert project.run() == 1
    assert 'being changed' in capsys.readouterr().err


def test_another_machine_is_told_what_there_is_without_the_vm(project, monkeypatch, capsys):
    monkeypatch.setattr(translate.platform, 'machine', lambda: 'aarch64')
    assert project.run() == 1
    said = capsys.readouterr().err
    assert 'this machine is aarch64' in said and 'The engine serves without the VM' in said


def test_without_python27_the_message_is_passed_on(project, monkeypatch, capsys):
    def refuse():
        raise environments.NoEnvironment('get one there')

    monkeypatch.setattr(environments, 'find_python27', refuse)
    assert project.run() == 1
    assert 'get one there' in capsys.readouterr().err


@pytest.mark.parametrize('name, old, new', [
    ('sqpyte/vm/inner.py', 'sqpyte_used', 'sqpyte_other'),
    ('sqpyte/vm/inner.py', 'import Vdbe_pc', 'import Vdbe_pc, Vdbe_rc'),
    ('c_engine/generated/layout.py', 'Vdbe_pc = 8', 'Vdbe_pc = 16'),
    ('c_engine/generated/layout.py', 'Vdbe_pc = 8\n', ''),
    ('c_engine/generated/opcodes.py', 'Init', 'Goto'),
    ('c_engine/core/engine.h', 'int sqpyte_used', 'long sqpyte_used'),
    ('c_engine/core/engine.h', 'SQPYTE_USED 1', 'SQPYTE_USED 2'),
    ('c_engine/core/engine.h', '(*callback)(void *)', '(*callback)(long)'),
    ('c_engine/core/engine.h', '#define SQPYTE_OTHER 2', '#define void long')])
def test_the_key_changes_with_what_rpython_reads(tree, name, old, new):
    before = vm_inputs.key(str(tree.root))
    tree.change(name, old, new)
    assert vm_inputs.key(str(tree.root)) != before


@pytest.mark.parametrize('name, old, new', [
    ('c_engine/generated/layout.py', 'Vdbe_rc = 12', 'Vdbe_rc = 16\nVdbe_new = 20'),
    ('c_engine/generated/layout.py', 'Vdbe_pc = 8', 'Vdbe_pc = 8  # the same'),
    ('c_engine/core/engine.h', 'a remark', 'another'),
    ('c_engine/core/engine.h', 'SQPYTE_OTHER 2', 'SQPYTE_OTHER 3\n#define SQPYTE_NEW 4'),
    ('c_engine/core/engine.h', 'sqpyte_other(int);', 'sqpyte_other(long);\nint sqpyte_new(void);')])
def test_the_key_stays_when_what_rpython_does_not_read_changes(tree, name, old, new):
    before = vm_inputs.key(str(tree.root))
    tree.change(name, old, new)
    assert vm_inputs.key(str(tree.root)) == before


@pytest.mark.parametrize('statement', [
    'import c_engine.generated.layout', 'from c_engine.generated import layout',
    'from c_engine.generated.layout import *'])
def test_of_a_module_that_is_imported_as_a_whole_everything_counts(tree, statement):
    tree.change('sqpyte/vm/target.py', 'ANSWER = 1', statement)
    before = vm_inputs.key(str(tree.root))
    tree.change('c_engine/generated/layout.py', 'Vdbe_rc = 12', 'Vdbe_rc = 16')
    assert vm_inputs.key(str(tree.root)) != before


def test_the_public_package_is_not_the_translations(tree, tmp_path):
    before = vm_inputs.key(str(tree.root))
    (tree.root / 'sqpyte' / '__init__.py').write_text('import nothing')
    (tree.root / 'sqpyte' / 'public.py').write_text('import nothing')
    assert vm_inputs.key(str(tree.root)) == before
    vm_inputs.copy(str(tree.root), str(tmp_path / 'copy'))
    assert [path.name for path in (tmp_path / 'copy' / 'sqpyte').iterdir() if path.is_file()] == ['__init__.py']
    assert (tmp_path / 'copy' / 'sqpyte' / '__init__.py').read_text() == ''


def test_the_key_changes_with_a_module_the_compiler_and_its_flags(tree, monkeypatch):
    keys = [vm_inputs.key(str(tree.root))]
    (tree.root / 'sqpyte' / 'vm' / 'more.py').write_text('')
    keys.append(vm_inputs.key(str(tree.root)))
    os.rename(tree.root / 'sqpyte' / 'vm' / 'more.py', tree.root / 'sqpyte' / 'vm' / 'renamed.py')
    keys.append(vm_inputs.key(str(tree.root)))
    monkeypatch.setenv('CFLAGS', '-O1')
    keys.append(vm_inputs.key(str(tree.root)))
    monkeypatch.setattr(engine, 'compiler_identity', lambda: 'another')
    keys.append(vm_inputs.key(str(tree.root)))
    monkeypatch.setattr(environments, 'RPYTHON_PACKAGES', ['rpython==0'])
    keys.append(vm_inputs.key(str(tree.root)))
    assert len(set(keys)) == len(keys)


def test_the_copy_is_all_that_the_key_depends_on(tree, tmp_path):
    vm_inputs.copy(str(tree.root), str(tmp_path / 'copy'))
    assert vm_inputs.key(str(tmp_path / 'copy')) == vm_inputs.key(str(tree.root))


def test_of_the_vm_every_function_constant_and_opcode_counts():
    declared = ' '.join(vm_inputs.declarations(translate.ROOT))
    for name in capi.FUNCTIONS:
        assert name + '(' in declared
    taken = vm_inputs.generated(translate.ROOT)
    assert any(line.startswith('layout.Vdbe_pc = ') for line in taken)
    assert any(line.startswith('opcodes\n') and 'OP_Init = ' in line for line in taken)
    assert not [line for line in taken if line.endswith(' = None')]


def test_make_vm_leaves_the_library_newer_than_the_engine():
    """An engine made again of the same bytes isn't linked again, and pypy_module takes the newer of the two."""
    recipe = subprocess.run(['make', '--no-print-directory', '-n', 'vm'], cwd=environments.ROOT, check=True,
                            stdout=subprocess.PIPE, universal_newlines=True).stdout
    assert recipe.index('-m tools.translate\n') < recipe.index('touch build/libsqpyte.so\n')
