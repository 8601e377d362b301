"""Which library a checkout takes."""

import os
import warnings

import pytest

from pypy_module.ffi import place


@pytest.fixture
def build(tmp_path, monkeypatch):
    """An empty build folder."""
    monkeypatch.delenv('SQPYTE_LIBRARY', raising=False)
    monkeypatch.setattr(place, 'BUILD', str(tmp_path))
    return tmp_path


def made(path, time):
    """Make a file of that time; returns its path (str)."""
    path.write_bytes(b'')
    os.utime(path, (time, time))
    return str(path)


def test_the_newer_one(build):
    with pytest.raises(ImportError, match='neither'):
        place.find()
    engine = made(build / 'libsqpyte-engine.so', 1000)
    assert place.find() == engine
    with_vm = made(build / 'libsqpyte.so', 2000)
    assert place.find() == with_vm


def test_a_vm_that_is_too_old_is_told_of(build):
    engine = made(build / 'libsqpyte-engine.so', 2000)
    made(build / 'libsqpyte.so', 1000)
    with pytest.warns(RuntimeWarning, match='make vm'):
        assert place.find() == engine


def test_one_that_is_named_is_taken(build, monkeypatch):
    made(build / 'libsqpyte-engine.so', 2000)
    made(build / 'libsqpyte.so', 1000)
    monkeypatch.setenv('SQPYTE_LIBRARY', '/elsewhere.so')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert place.find() == '/elsewhere.so'
