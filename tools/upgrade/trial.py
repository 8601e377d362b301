"""Compiles the engine of another SQLite in a folder of its own, and asks it a few queries."""
import subprocess
import sys

from c_engine.build import build
from tools.upgrade.findings import TO_MEND
from tools.upgrade.layouts import complaints

SMOKE_TIMEOUT_S = 120


def compile_engine(paths, findings):
    """Apply the edits, which have to fit, and build the engine.

    Args:
        paths: of the trial's folder (c_engine.build.build.Paths).
        findings: takes the compiler's errors.

    Returns: whether it was built (bool).
    """
    try:
        build.build_edited(paths)
        build.build_engine(paths)
    except subprocess.CalledProcessError as error:
        findings.add(TO_MEND, 'the engine does not compile', complaints(error))
        return False
    return True


def smoke(library, version, findings):
    """Run tools/upgrade/smoke.py, in a process of its own because the engine may crash.

    Args:
        library: path of the engine.
        version: what it has to say of itself (str).
        findings: takes what went wrong.
    """
    build.say('a few queries in %s' % library)
    try:
        done = subprocess.run([sys.executable, '-m', 'tools.upgrade.smoke', library, version], cwd=build.ROOT,
                              timeout=SMOKE_TIMEOUT_S, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
    except subprocess.TimeoutExpired:
        findings.add(TO_MEND, 'queries', ['no answer within %d s' % SMOKE_TIMEOUT_S])
        return
    if done.returncode:
        findings.add(TO_MEND, 'queries', [
            'exit code %d (below zero: the signal that ended it)' % done.returncode] + done.stdout.splitlines()[-10:])
