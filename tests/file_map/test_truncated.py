"""A database file that a stranger truncates in the middle of statements: an error, never the end of the process, never
a wrong row. In all tiers, and with everything inlined."""

import json
import os
import subprocess
import sys

import pytest

from tests.extent import count, everything

ROUNDS = 500 if everything() else 60
WAYS = {'c': {'SQPYTE_VM': 'off'}, 'hot': {'SQPYTE_VM_THRESHOLD': '50'}, 'always': {'SQPYTE_VM': 'always'},
        'inlined': {'SQPYTE_INLINE': 'always'}, 'called': {'SQPYTE_INLINE': '0'}}
ENDINGS = {'done', 'disk I/O error', 'database disk image is malformed'}


@pytest.mark.parametrize('way', sorted(WAYS))
def test_truncations_are_errors(tmp_path, way):
    command = [sys.executable, '-m', 'tests.file_map.truncating', str(tmp_path), str(ROUNDS), str(len(way))]
    done = subprocess.run(command, env=dict(os.environ, **WAYS[way]), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 0, 'the process has ended by %d\n%s' % (-done.returncode, done.stderr)
    counts = json.loads(done.stdout)
    assert counts.pop('maps left') == 0
    assert {ending.split(': ', 1)[1] for ending in counts} <= ENDINGS, counts
    failed = sum(number for ending, number in counts.items() if not ending.endswith(': done'))
    assert failed > ROUNDS / 3 and sum(counts.values()) == ROUNDS
    count('truncations', ROUNDS)
