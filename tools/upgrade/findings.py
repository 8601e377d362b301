"""What a trial has found, in two lists: what has to be mended, and what only has to be read again."""

from typing import Dict, List

TO_MEND, TO_READ = 'To mend', 'To read again'


class Findings:
    """The findings of a trial, by list and heading, in the order in which they were made."""

    def __init__(self):
        self._lists: Dict[str, Dict[str, List[str]]] = {TO_MEND: {}, TO_READ: {}}

    def add(self, kind, heading, lines):
        """Add `lines` (list of str; nothing happens if it is empty) under `heading` (str) to the list `kind`,
        TO_MEND or TO_READ."""
        if lines:
            self._lists[kind].setdefault(heading, []).extend(lines)

    def fits(self):
        """Whether there is nothing to mend (bool)."""
        return not self._lists[TO_MEND]

    def count(self, kind):
        """How many lines (int) a list has."""
        return sum(len(lines) for lines in self._lists[kind].values())

    def text(self):
        """Both lists (str), without those that are empty."""
        shown = []
        for kind, headings in self._lists.items():
            if headings:
                shown.append('%s (%d)' % (kind, self.count(kind)))
            for heading, lines in headings.items():
                shown.append('  %s' % heading)
                # A compiler's or an error's message may have lines of its own.
                shown += ['    ' + part for line in lines for part in line.splitlines()]
        return ''.join(line + '\n' for line in shown)
