"""What is staged for a wheel: builds that run at once don't see each other, and nothing is left of one."""

import gc
import importlib
import os
import sys
import threading
import types

import pytest

from c_engine.build import build as engine
from tools.wheel import linking, staging


@pytest.fixture
def hook(monkeypatch, tmp_path):
    """A function that returns a new Hook, without hatchling; the C library is a file of its own for each."""
    interface = types.ModuleType('hatchling.builders.hooks.plugin.interface')
    interface.BuildHookInterface = object       # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    monkeypatch.delitem(sys.modules, 'tools.wheel.hook', raising=False)
    monkeypatch.setattr(sys, 'path', sys.path[:])
    module = importlib.import_module('tools.wheel.hook')
    monkeypatch.delitem(sys.modules, 'tools.wheel.hook')
    monkeypatch.setattr(engine, 'main', lambda arguments: 0)
    monkeypatch.setattr(engine, 'Paths', lambda: types.SimpleNamespace(build=str(tmp_path)))
    monkeypatch.setattr(linking, 'translation', lambda: 'a translation')

    def link(target, glibc, vm):
        with open(target, 'x') as file:
            file.write(target)
    monkeypatch.setattr(linking, 'link', link)
    return module.Hook


def packed(build_data):
    """Return the one folder that a wheel is made of."""
    (folder, name), = build_data['force_include'].items()
    assert name == 'sqpyte'
    return folder


def test_builds_at_once(hook, tmp_path):
    builds = [(hook(), {'force_include': {}}) for _ in range(3)]
    threads = [threading.Thread(target=one.initialize, args=('standard', data)) for one, data in builds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folders = [packed(data) for _, data in builds]
    assert len(set(folders)) == 3
    for folder in folders:
        with open(os.path.join(folder, 'lib', 'libsqlite3.so.0')) as file:
            assert folder.startswith(os.path.dirname(file.read()) + os.sep)
        assert os.path.exists(os.path.join(folder, 'pypy_module', 'commands', 'children', 'sitecustomize.py'))
    for one, data in builds:
        one.finalize('standard', data, 'sqpyte.whl')
    assert os.listdir(str(tmp_path / 'wheel')) == ['tree']


def test_a_build_that_fails(hook, tmp_path, monkeypatch):
    def fails(*arguments):
        raise ValueError('wrong')
    monkeypatch.setattr(staging, 'stage', fails)
    one = hook()
    with pytest.raises(ValueError):
        one.initialize('standard', {'force_include': {}})
    assert len(os.listdir(str(tmp_path / 'wheel'))) == 1
    del one
    gc.collect()
    gc.collect()
    assert os.listdir(str(tmp_path / 'wheel')) == []


def test_an_editable_installation_stages_nothing(hook, tmp_path):
    one, data = hook(), {}
    one.initialize('editable', data)
    one.finalize('editable', data, '')
    assert data == {} and not (tmp_path / 'wheel').exists()
