"""Tries another version of SQLite: `python -m tools.upgrade 3.53.2`; `make upgrade SQLITE=3.53.2` runs it.

The report says what of ours has to be mended, and what of upstream's to be read again. Exit code 0 if there is
nothing to mend. All files are in build/upgrade/VERSION; the ordinary build isn't touched, but its
sources of SQLite are read.
"""
import argparse
import os
import re
import sys

from c_engine.build import build, fetch, opcodes, pin
from c_engine.patches import apply
from tools.upgrade import interpreter, layouts, obtain, opcode_table, trial, uses
from tools.upgrade.findings import TO_MEND, TO_READ, Findings

FOLDER = os.path.join(build.ROOT, 'build', 'upgrade')


def look_at_edits(text, findings):
    """Note the edits that don't fit the amalgamation `text` (str); return whether all fit (bool)."""
    lines = apply.misfits(text)
    findings.add(TO_MEND, 'edits: each has to match once', lines)
    return not lines


def look_at_opcodes(before, after, findings):
    """Note what has changed in the list of opcodes between two amalgamations (str)."""
    heading = 'opcodes'
    try:
        old, new = (opcode_table.Listed(*opcodes.read(text)) for text in (before, after))
    except opcodes.OpcodeError as error:
        findings.add(TO_MEND, heading, ['%s: c_engine/build/opcodes.py has to read it' % error])
        return
    findings.add(TO_MEND, heading, opcode_table.misfits(old, new))
    findings.add(TO_READ, heading, opcode_table.changes(old, new))


def look_at_interpreter(before, after, diff, findings):
    """Note what has changed in sqlite3VdbeExec, and in functions that our code names, between two amalgamations
    (str). The code goes to the file `diff`."""
    try:
        findings.add(TO_MEND, 'local variables of sqlite3VdbeExec', interpreter.locals_misfits(after))
        old, new = interpreter.cases(before), interpreter.cases(after)
    except ValueError as error:
        findings.add(TO_MEND, 'sqlite3VdbeExec', [str(error)])
        return
    names = interpreter.changed(old, new)
    old_functions, new_functions = interpreter.functions(before), interpreter.functions(after)
    used = uses.files_with(set(interpreter.changed(old_functions, new_functions)) - {'sqlite3VdbeExec'},
                           uses.PYTHON + uses.C)
    build.write(diff, interpreter.differences(old, new, names)
                + interpreter.differences(old_functions, new_functions, sorted(used)))
    shown = os.path.relpath(diff, build.ROOT)
    of_no_opcode = {interpreter.BEFORE, interpreter.BEHIND}
    findings.add(TO_READ, 'code of sqlite3VdbeExec that has changed: %s' % shown,
                 ['%s (%s)' % (name, 'c_engine/patches/tiers.py' if name in of_no_opcode else opcode_table.where(name))
                  for name in names])
    findings.add(TO_READ, 'functions that have changed and that our code names: %s' % shown,
                 ['%s (%s)' % (name, ' '.join(paths)) for name, paths in sorted(used.items())])


def hashes(version, origin, folder):
    """What c_engine/build/pin.py would say (str) of the files in `folder`, which are from `origin` (str)."""
    lines = ['For c_engine/build/pin.py, of these files from %s:' % origin, "VERSION = '%s'" % version, 'SHA256 = {']
    lines += ["    '%s': '%s'," % (name, fetch.sha256(os.path.join(folder, name))) for name in sorted(pin.SHA256)]
    return '\n'.join(lines + ['}', ''])


def compare(version, user_path):
    """Try a version; print the report.

    Args: the version (str), and the user's own copy of it (path) or None.
    Returns: whether all fits (bool). Raises: fetch.FetchError.
    """
    pinned = build.Paths()
    paths = build.Paths(os.path.join(FOLDER, version))
    origin = obtain.obtain(version, paths.upstream, user_path)
    build.say('SQLite %s from %s' % (version, origin))
    sources = [os.path.join(folder, 'sqlite3.c') for folder in (pinned.upstream, paths.upstream)]
    before, after = map(build.read, sources)
    findings = Findings()
    build.say('edits, opcodes, local variables ...')
    fits = look_at_edits(after, findings)
    look_at_opcodes(before, after, findings)
    look_at_interpreter(before, after, os.path.join(paths.build, 'upstream.diff'), findings)
    layouts.compare((sources[0], os.path.join(FOLDER, pin.VERSION, 'layout.txt')),
                    (sources[1], os.path.join(paths.build, 'layout.txt')), findings)
    if not fits:
        build.say('the engine is not compiled, because edits do not fit')
    elif trial.compile_engine(paths, findings):
        trial.smoke(paths.engine_library, version, findings)
    print('\nSQLite %s, beside the pinned %s\n' % (version, pin.VERSION))
    print(findings.text())
    print(hashes(version, origin, paths.upstream))
    if findings.fits():
        print('All fits; the engine compiles and answers. Lines to read again: %d.' % findings.count(TO_READ))
    else:
        print('It does not fit yet. Lines to mend: %d; to read again: %d.' % (
            findings.count(TO_MEND), findings.count(TO_READ)))
    return findings.fits()


def version_number(text):
    """`text` (str) if it is a version's number. Raises: argparse.ArgumentTypeError."""
    if re.fullmatch(r'\d+\.\d+\.\d+(\.\d+)?', text) is None:
        raise argparse.ArgumentTypeError('say which version to try: make upgrade SQLITE=%s' % pin.VERSION)
    return text


def main(arguments):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tools.upgrade', description=__doc__)
    parser.add_argument('version', type=version_number)
    options = parser.parse_args(arguments)
    # Of the version to be tried, not of the pinned one, which the build would take it for.
    user_path = os.environ.pop('SQPYTE_SQLITE', None)
    try:
        return 0 if compare(options.version, user_path) else 1
    except fetch.FetchError as error:
        print('error: %s' % error, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
