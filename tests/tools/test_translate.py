"""The translation's driver, with a stand-in for RPython."""

import os

import pytest

from tools import environments, translate


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """The driver in a folder of its own; call it with what the stand-in's shell script does."""
    monkeypatch.setattr(translate, 'CACHE', str(tmp_path / 'vm'))
    monkeypatch.setattr(translate, 'LOG', str(tmp_path / 'vm' / 'translate.log'))
    monkeypatch.setattr(translate, 'PRODUCT', str(tmp_path / 'libsqpyte.so'))
    monkeypatch.setattr(environments, 'find_python27', lambda: str(tmp_path / 'python'))
    monkeypatch.setattr(environments, 'make_rpython', lambda python27: str(tmp_path))
    monkeypatch.setattr(translate, 'key_of_inputs', lambda: 'a-key')

    def run(script, key='a-key'):
        path = tmp_path / 'python'
        path.write_text('#!/bin/sh\n%s\n' % script)
        path.chmod(0o755)
        monkeypatch.setattr(translate, 'key_of_inputs', lambda: key)
        return translate.main()

    return run


def product():
    with open(translate.PRODUCT) as file:
        return file.read()


def test_a_translation_is_installed_and_not_repeated(driver, capsys):
    assert driver('echo "[translation:info] RTyping..."; echo one > libsqpyte.so') == 0
    assert product() == 'one\n'
    assert 'RTyping...' in capsys.readouterr().err
    assert driver('exit 1') == 0
    assert 'up to date' in capsys.readouterr().err


def test_an_earlier_result_comes_back_without_a_translation(driver):
    driver('echo one > libsqpyte.so', 'first')
    driver('echo two > libsqpyte.so', 'second')
    assert product() == 'two\n'
    assert driver('exit 1', 'first') == 0
    assert product() == 'one\n'


def test_the_last_few_results_are_kept(driver):
    for number in range(translate.KEPT + 2):
        driver('echo %d > libsqpyte.so' % number, 'key-%d' % number)
        os.utime(os.path.join(translate.CACHE, 'key-%d' % number, 'libsqpyte.so'),
                 (number, number))
    kept = [name for name in os.listdir(translate.CACHE) if name.startswith('key-')]
    assert len(kept) <= translate.KEPT + 1
    assert 'key-%d' % (translate.KEPT + 1) in kept


def test_a_failure_shows_the_end_of_the_log_and_keeps_the_old_library(driver, capsys):
    driver('echo one > libsqpyte.so', 'first')
    script = 'for i in $(seq 100); do echo line $i; done; echo the reason; exit 1'
    assert driver(script, 'second') == 1
    said = capsys.readouterr().err
    assert 'the reason\n' in said and 'line 99\n' in said and 'line 10\n' not in said
    assert translate.LOG in said
    assert product() == 'one\n'
    assert driver(script, 'second') == 1


def test_success_without_a_library_is_a_failure(driver):
    assert driver('exit 0') == 1


def test_without_python27_the_message_is_passed_on(driver, monkeypatch, capsys):
    def refuse():
        raise environments.NoEnvironment('get one there')

    monkeypatch.setattr(environments, 'find_python27', refuse)
    assert driver('exit 0') == 1
    assert 'get one there' in capsys.readouterr().err


def test_the_key_covers_the_vms_sources():
    names = [os.path.relpath(path, translate.ROOT) for path in translate.inputs()]
    assert 'sqpyte/target.py' in names and 'c_engine/generated/layout.py' in names
