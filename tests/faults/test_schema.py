"""No memory in the middle of a DROP TABLE: the schema in memory is that of the file afterwards."""
import json
import os
import subprocess
import sys

import pytest

from tests.differential import tiers


def outcomes(tier):
    """What happens for each allocation of a DROP that fails (list of tuples, see schema.py)."""
    environment = dict(os.environ, **tiers.EAGER)
    process = subprocess.run([sys.executable, "-m", "tests.faults.schema", tier], cwd=tiers.ROOT,
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             universal_newlines=True)
    assert process.returncode == 0, process.stdout[-500:] + process.stderr[-2000:]
    return [json.loads(line)[1:] for line in process.stdout.splitlines()]


@pytest.mark.parametrize("tier", ["untranslated-always", "translated-always"])
def test_a_write_after_a_drop_that_failed_goes_to_its_own_table(tier, request):
    if tier.startswith("translated"):
        request.getfixturevalue("vm_library")
    expected = outcomes("stock")
    assert len(expected) > 30
    found = outcomes(tier)
    for dropped, written, of_t7, of_t8, integrity in found:
        assert of_t7 == [] and integrity == ["(t'ok')"], (dropped, written, of_t7)
        assert [dropped, written, of_t7, of_t8, integrity] in expected
