"""What another SQLite has changed in its code: that of each opcode, sqlite3VdbeExec's local variables, functions."""
import difflib
import os
import re
from typing import Dict, List, Tuple

from c_engine.build import build, exec_locals

PAGE = os.path.join(build.ROOT, 'docs', 'vm.md')
HEADING = '## The local variables of sqlite3VdbeExec'

# Names of what is no opcode's code, in `cases`.
BEFORE, BEHIND = 'before the first opcode', 'behind the last opcode'
# The cases of upstream's switch stand at a line's start; those of switches within an opcode don't.
_LABEL = re.compile(r'^(?:case OP_(\w+)\s*:|default\s*:)', re.M)
_FUNCTION = re.compile(r'^(?:SQLITE_(?:PRIVATE|NOINLINE)|static)\b[^;{}#=]*?\b(\w+)\([^;{}]*\)\s*\{', re.M)
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|/\*.*?\*/', re.S)


def documented():
    """The rows (dict: variable to how it crosses) of the table of local variables in docs/vm.md."""
    section = build.read(PAGE).split(HEADING + '\n')[1].split('\n## ')[0]
    return dict(re.findall(r'^\| `(\w+)` \| (carried|start value|harmless|not compiled): [^|]{8,} \|$',
                           section, re.M))


def locals_misfits(text):
    """What docs/vm.md has to say of the local variables, and doesn't yet.

    Args: text, a version's amalgamation (str).
    Returns: a line (str) for each variable that is new or gone, and for each jump between opcodes that
        carries one.
    """
    found = set(exec_locals.function_locals(text))
    # Ours come with the edits.
    known = {name for name in documented() if 'sqpyte' not in name.lower()}
    lines = ['%s is new: how does it cross to the VM? The table in docs/vm.md says it of each' % name
             for name in sorted(found - known)]
    lines += ['%s is gone: take it out of the table in docs/vm.md' % name for name in sorted(known - found)]
    lines += ['%s, of one opcode, live on in another by `goto %s`' % (', '.join(names), label)
              for label, names in sorted(exec_locals.jumps_into_blocks(text)) if names]
    return lines


def _plain(text):
    """C code (str) without comments and blank lines, so that only what is compiled counts."""
    text = _COMMENT.sub(lambda match: match.group(1) or ' ', text)
    lines = (re.sub(r'[ \t]+', ' ', line).rstrip() for line in text.splitlines())
    return '\n'.join(line for line in lines if line)


def cases(text):
    """The code of each opcode.

    Args: text, an amalgamation (str).
    Returns: {opcode's name, BEFORE or BEHIND: code (str) without comments}. Labels that share code have the
        same; `Noop` and `Explain`, for which upstream has no case, are `Noop`.
    """
    function = exec_locals.whole(text)
    labels = list(_LABEL.finditer(function))
    if not labels:
        return {BEFORE: _plain(function)}
    found = {BEFORE: _plain(function[:labels[0].start()])}
    waiting = []
    for label, following in zip(labels, labels[1:] + [None]):
        end = following.start() if following else function.find('\n}\n', label.end())
        code = _plain(function[label.end():end])
        waiting.append(label.group(1) or 'Noop')
        if code:
            for name in waiting:
                found[name] = code
            waiting = []
    found[BEHIND] = _plain(function[end:])
    return found


def functions(text):
    """The code of upstream's functions, but for its public interface, whose contracts stay.

    Args: text, an amalgamation (str).
    Returns: {name: code (str) without comments}; of a name that several have, such as one for each
        operating system, the code of all.
    """
    text = _plain(text)
    found: Dict[str, str] = {}
    for match in _FUNCTION.finditer(text):
        if not match.group(1).startswith('sqlite3_'):
            code = text[match.start():text.find('\n}', match.end())]
            found[match.group(1)] = found.get(match.group(1), '') + code
    return found


def changed(before, after):
    """Names (list of str, sorted) whose code is in both `before` and `after` (as `cases` or `functions` give
    them) and differs."""
    return sorted(name for name in before if name in after and before[name] != after[name])


def differences(before, after, names):
    """A unified diff (str) of the code of these names, as `changed` gives them; code that several share once."""
    shared: Dict[Tuple[str, str], List[str]] = {}
    for name in names:
        shared.setdefault((before[name], after[name]), []).append(name)
    lines: List[str] = []
    for (old, new), together in shared.items():
        title = ' '.join(together)
        lines += difflib.unified_diff(old.splitlines(), new.splitlines(), title + ' (pinned)', title, lineterm='')
    return ''.join(line + '\n' for line in lines)
