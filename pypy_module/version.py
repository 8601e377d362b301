"""The version of sqpyte. pyproject.toml has it, and pip keeps that in an installed copy's metadata."""

import os

from pypy_module.ffi import place


def sqpyte():
    """Return the version (str); 'unknown' of a copy that pip hasn't installed."""
    if place.INSTALLED:
        from importlib import metadata
        try:
            return metadata.version('sqpyte')
        except metadata.PackageNotFoundError:
            return 'unknown'
    with open(os.path.join(place.ROOT, 'pyproject.toml'), encoding='utf-8') as file:
        lines = [line.partition('=') for line in file]
    return next(value.strip().strip('"') for name, _, value in lines if name.strip() == 'version')
