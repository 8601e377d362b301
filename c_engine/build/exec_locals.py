"""What sqlite3VdbeExec keeps in C's local variables, read from the amalgamation's text.

The function's own variables live from opcode to opcode; whatever they hold has to cross to the VM and
back. Those of a block within it live as long as one opcode, unless a jump leads from one opcode's block
into another's.
"""
import re

_HEAD = 'SQLITE_PRIVATE int sqlite3VdbeExec(\n  Vdbe *p'
_BODY = 'assert( p->eVdbeState==VDBE_RUN_STATE );  /* sqlite3_step() verifies this */'
_END = re.compile(r'\n(#undef SQPYTE_BEFORE_OPCODE|/\*{14} End of vdbe\.c)')
_DECLARED = re.compile(
    r'^[ \t]*(?:(?:static|const|struct|unsigned|volatile)\s+)*(?P<type>[A-Za-z_]\w*)(?:\s+const)?'
    r'(?P<names>[\s*]+[A-Za-z_]\w*\s*(?:\[[^\]]*\])?\s*(?:=[^;,]*)?(?:,[\s*]*[A-Za-z_]\w*\s*'
    r'(?:\[[^\]]*\])?\s*(?:=[^;,]*)?)*);', re.M)
_STATEMENTS = {'return', 'goto', 'case', 'else', 'break', 'continue'}


def whole(text):
    """The text (str) of sqlite3VdbeExec in an amalgamation (str), and what stands behind it in its file.

    Raises: ValueError, if upstream has changed the function's head or its file's end.
    """
    if _HEAD not in text:
        raise ValueError('no sqlite3VdbeExec in this amalgamation: c_engine/build/exec_locals.py knows another head')
    body = text[text.index(_HEAD):]
    end = _END.search(body)
    if end is None:
        raise ValueError("no end of vdbe.c in this amalgamation: c_engine/build/exec_locals.py knows another")
    return body[:end.start()]


def function(text):
    """The text (str) of sqlite3VdbeExec in an amalgamation (str), comments and literals blanked."""
    body = whole(text)
    body = re.sub(r'/\*.*?\*/', lambda match: re.sub(r'[^\n]', ' ', match.group()), body, flags=re.S)
    body = re.sub(r'"(\\.|[^"\\\n])*"', '""', body)
    return re.sub(r"'(\\.|[^'\\\n])'", "' '", body)


def declared(text):
    """The names (list of str) that a piece of C declares, in order."""
    found = []
    for match in _DECLARED.finditer(text):
        if match.group('type') not in _STATEMENTS:
            for name in match.group('names').split(','):
                found += re.findall(r'\w+', name)[:1]
    return found


def function_locals(text):
    """The local variables (list of str) of sqlite3VdbeExec itself, for all compile-time options."""
    body = function(text)
    body = body[body.index('{') + 1:]
    return declared(body[:body.index(re.sub(r'/\*.*', '', _BODY).strip())])


def _blocks(body):
    opened, found = [], []
    for match in re.finditer('[{}]', body):
        if match.group() == '{':
            opened.append(match.start())
        else:
            found.append((opened.pop(), match.start()))
    assert not opened
    return found


def jumps_into_blocks(text):
    """The jumps from outside of a block to a label in it, as a set of (label, tuple of the names that the
    block declares before the label or after it, not in blocks within it)."""
    body = function(text)
    blocks = _blocks(body)
    labels = {match.group(1): match.start(1)
              for match in re.finditer(r'^[ \t]*(?!default)([a-z_]\w*):(?!:)', body, re.M)}
    found = set()
    for match in re.finditer(r'\bgoto\s+(\w+)', body):
        place = labels[match.group(1)]
        for start, end in blocks:
            if start < place < end and not start < match.start() < end:
                inside = body[start + 1:end]
                for inner_start, inner_end in blocks:
                    if start < inner_start and inner_end < end:
                        a, b = inner_start - start - 1, inner_end - start - 1
                        inside = inside[:a] + re.sub(r'[^\n]', ' ', inside[a:b]) + inside[b:]
                found.add((match.group(1), tuple(declared(inside))))
    return found
