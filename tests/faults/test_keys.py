"""No memory while the key of a program is measured: it has that size when it is written, each byte of it."""
import json
import subprocess
import sys

from tests.differential import tiers


def test_a_key_is_written_as_it_was_measured():
    process = subprocess.run([sys.executable, "-m", "tests.faults.keys", "engine"], cwd=tiers.ROOT,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    assert process.returncode == 0, process.stdout[-500:] + process.stderr[-2000:]
    found = [json.loads(line) for line in process.stdout.splitlines()]
    assert sum(hits for hits, _, _, _, _ in found) >= 9      # three texts in each of three statements
    for hits, measured, written, whole, _ in found:
        assert (written, whole) == (measured, True), hits
    assert len({str(rows) for _, _, _, _, rows in found}) == 3
