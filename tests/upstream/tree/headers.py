"""SQLite's own headers, taken apart again from the amalgamation.

The amalgamation is a concatenation with markers: which file begins, is included, goes on, ends. The
tests' C files include internal headers (struct layouts, opcode numbers); those of the tree belong to
another version, so the ones of the pinned amalgamation take their place.
"""

import re

MARK = re.compile(r'^/\*{14} (Begin file|End of|Include|Continuing where we left off in) ([\w.]+)'
                  r'(?: in the middle of [\w.]+)? \*+/$')
# How the amalgamation writes an #include of what is there already.
DONE = re.compile(r'^/\* (#\s*include ["<][^">\n]*[">]).*\*/$', re.MULTILINE)


class Malformed(Exception):
    """The amalgamation's markers don't nest; the message says where."""


def take_apart(text):
    """Return {name: text} of the headers in an amalgamation.

    Args:
        text: of sqlite3.c.

    Raises:
        Malformed: the markers don't nest.
    """
    parts = {}
    inside = []
    for number, line in enumerate(text.splitlines(True), 1):
        mark = MARK.match(line)
        if mark is None:
            if inside:
                parts[inside[-1]].append(line)
        elif mark.group(1) == 'Begin file':
            inside.append(mark.group(2))
            parts[mark.group(2)] = []
        elif mark.group(1) == 'End of':
            if not inside or inside.pop() != mark.group(2):
                raise Malformed('line %d: %s ends, but did not begin' % (number, mark.group(2)))
        elif mark.group(1) == 'Include' and inside:
            parts[inside[-1]].append('#include "%s"\n' % mark.group(2))
    if inside:
        raise Malformed('%s does not end' % inside[-1])
    return {name: DONE.sub(r'\1', ''.join(lines)) for name, lines in parts.items() if name.endswith('.h')}
