"""Runs one script on one connection to an empty database in memory, and counts.

A record that fails doesn't end the script, as in the reference runner: the others still count.
"""

import collections
import re

from tests.differential.sessions import capi
from tests.sqllogictest import records, values

HASH = re.compile('^[0-9]+ values hashing to [0-9a-f]{32}$')
SHOWN_LINES = 20

# One record that isn't as it should be: its line (int), SQL, and what was expected and found (str).
Failure = collections.namedtuple('Failure', 'line sql expected got')


def shown(lines):
    """Return some lines as text, the middle left out if there are many."""
    if len(lines) > SHOWN_LINES:
        half = SHOWN_LINES // 2
        left_out = '... (%d more values) ...' % (len(lines) - 2 * half)
        lines = lines[:half] + [left_out] + lines[-half:]
    return '\n'.join(lines) or '(no rows)'


def words_of(error):
    """Return a capi.Error as text."""
    return 'error %d: %s' % (error.code, error.message)


class Script:
    """A run of a script.

    Args:
        library: a capi.Library, its mode already chosen.
        progress: function called with the line (int) of each record before it runs.

    Attributes: passed, failed, skipped (numbers of records), failures (list of Failure);
    in_vm, how many statements entered the VM, of `statements`; why, a Counter of what
    sqpyte_why said of those that didn't.
    """

    def __init__(self, library, progress):
        self.connection = capi.Connection(library)
        self.tiers = library.has_tiers()
        self.progress = progress
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.statements = self.in_vm = 0
        self.why = collections.Counter()
        self.hash_threshold = 0
        self.labels = {}

    def run(self, script):
        """Run records (list); the connection is closed then."""
        halted = False
        for record in script:
            if halted or not records.applies(record):
                self.skipped += 1
            elif isinstance(record, records.Halt):
                halted = True
            elif isinstance(record, records.HashThreshold):
                self.hash_threshold = record.values
            else:
                self.progress(record.line)
                step = self.query if isinstance(record, records.Query) else self.statement
                failure = step(record)
                if failure is None:
                    self.passed += 1
                else:
                    self.failed += 1
                    self.failures.append(Failure(record.line, record.sql, *failure))
        self.connection.close()

    def finished(self, statement):
        """Note where a statement ran, and free it."""
        if self.tiers and statement.statement:
            self.statements += 1
            if statement.entries():
                self.in_vm += 1
            else:
                self.why[statement.why()] += 1
        statement.finalize()

    def statement(self, record):
        """Run all SQL of a Statement; return None, or what was (expected, found)."""
        sql = capi.text_bytes(record.sql)
        try:
            while sql.strip():
                statement = self.connection.prepare(sql.decode('utf-8', 'surrogateescape'))
                sql = statement.tail
                try:
                    while statement.statement and statement.advance():
                        pass
                finally:
                    self.finished(statement)
        except capi.Error as error:
            return ('success', words_of(error)) if record.ok else None
        return None if record.ok else ('an error', 'success')

    def query(self, record):
        """Run a Query and compare its values; return None, or what was (expected, found)."""
        expected = 'values' if record.expected is None else shown(record.expected)
        try:
            rows, columns, error = self.rows(record)
        except capi.Error as error:
            return expected, words_of(error)
        if columns != len(record.types):
            return '%d columns' % len(record.types), '%d columns' % columns
        found = values.ordered(rows, record.sort)
        if error is not None:   # to the reference runner, it ends the rows
            if found == record.expected:
                return None
            return expected, '%s\n%s, after %d rows' % (shown(found), words_of(error), len(rows))
        if record.label is not None:
            line, before = self.labels.setdefault(record.label, (record.line, found))
            if before != found:
                return ('as in line %d, of the same label %s:\n%s'
                        % (line, record.label, shown(before)), shown(found))
        if record.expected is None or found == record.expected:
            return None
        digest = values.hashed(found)
        if [digest] == record.expected:
            return None
        many = self.hash_threshold and len(found) > self.hash_threshold
        if many or record.expected and HASH.match(record.expected[0]):
            return expected, '%s\n%s' % (digest, shown(found))
        return expected, shown(found)

    def rows(self, record):
        """Return (rows, number of columns, error) of a Query.

        The rows are a list of tuples of str, none if the number of columns isn't that of the types;
        the error is the capi.Error behind the last row, or None. Raises capi.Error before the first
        row could be asked for."""
        statement = self.connection.prepare(record.sql)
        try:
            if not statement.statement:
                return [], 0, None
            columns = statement.column_count()
            if columns != len(record.types):
                return [], columns, None
            readers = [values.READERS[letter] for letter in record.types]
            rows = []
            try:
                while statement.advance():
                    rows.append(values.row(statement, readers))
            except capi.Error as error:
                return rows, columns, error
            return rows, columns, None
        finally:
            self.finished(statement)
