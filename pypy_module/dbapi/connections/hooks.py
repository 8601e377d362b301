"""Python functions that SQLite calls on occasions: authorizer, progress, trace, collations.

Each counts its calls (`calls`, see callbacks.py), because a connection that is closed by a function
that SQLite calls has to stay open in C until that function has returned.
"""

from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.arguments import c_int, checked_text, folded
from pypy_module.dbapi.connections.callbacks import UTF8, report
from pypy_module.dbapi.connections.functions import COUNT, RESULT, Frame, reader
from pypy_module.dbapi.connections.session import Owner
from pypy_module.dbapi.deprecation import by_position
from pypy_module.dbapi.mixin import exclusive
from pypy_module.dbapi.statements.locks import tried
from pypy_module.ffi.library import NULL, NUMBERS, address_of, ffi, lib, text

OK, DENY = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_DENY']
NOMEM = NUMBERS['SQLITE_NOMEM']
TRACE_STMT = NUMBERS['SQLITE_TRACE_STMT']
DO_RANK = NUMBERS['SQPYTE_DO_RANK']


def authorizer(function, calls):
    """Return the callback for an authorizer written as `function`."""
    @ffi.callback('int(void *, int, const char *, const char *, const char *, const char *)',
                  error=DENY)
    def called(_, action, first, second, database, source):
        calls.depth += 1
        try:
            calls.hear()
            result = function(action, text(first), text(second), text(database), text(source))
            if issubclass(type(result), int):
                result = int.__add__(result, 0)
                if not -2 ** 31 <= result < 2 ** 31:
                    raise OverflowError('Python int too large to convert to C int')
                return result
        except BaseException as error:
            report(error, function)
        finally:
            calls.depth -= 1
        return DENY
    return called


def progress(function, calls):
    """Return the callback for a progress handler written as `function`."""
    @ffi.callback('int(void *)', error=1)
    def called(_):
        calls.depth += 1
        try:
            calls.hear()
            return 1 if function() else 0
        except BaseException as error:
            report(error, function)
            return 1
        finally:
            calls.depth -= 1
    return called


def tracer(function, calls):
    """Return the callback for a trace callback written as `function`."""
    @ffi.callback('int(unsigned, void *, void *, void *)')
    def called(_, __, statement, sql):
        calls.depth += 1
        try:
            calls.hear()
            statement = ffi.cast('sqlite3_stmt *', statement)
            if not versions.TRIGGERS_AGAIN:
                told, own = text(ffi.cast('char *', sql)), text(lib.sqlite3_sql(statement))
                if told not in (own, '-- %s' % own):
                    function(told)
                    return 0
            expanded = lib.sqlite3_expanded_sql(statement)
            if expanded:
                try:
                    shown = ffi.string(expanded).decode()
                finally:
                    lib.sqlite3_free(expanded)
            else:
                error = errors.DataError('Expanded SQL string exceeds the maximum string length')
                report(error, function)
                shown = ffi.string(ffi.cast('char *', sql)).decode()
            function(shown)
        except BaseException as error:
            report(error, function)
        finally:
            calls.depth -= 1
        return 0
    return called


def collation(function, frame, calls):
    """Return the callback for a collation written as `function`.

    What it raises is kept in the Calls, for the session, which raises it when SQLite has returned; until then
    all texts are equal.
    """
    from pypy_module.dbapi.connections import collation_rank  # for those who have a collation
    compared = collation_rank.compared
    cells, doubles, texts = frame.cells, frame.doubles, frame.texts
    read = reader(2)

    def ranked():
        try:
            collation_rank.rank(function, cells[RESULT], cells[COUNT])
        except (UnicodeDecodeError, collation_rank.NotAnOrder):
            return 0    # texts are compared one by one, then
        return 1

    @ffi.callback('int(int)')
    def called(what):
        if calls.raised is not None:
            return 0
        calls.depth += 1
        try:
            if what == DO_RANK:
                return ranked()
            calls.hear_at_times()
            result = function(*read(cells, doubles, texts))
            if type(result) is int:
                return (result > 0) - (result < 0)
            return compared(result)     # by user code, perhaps
        except BaseException as error:
            calls.raised = error
            return 0
        finally:
            calls.depth -= 1
    return called


class Hooks(Owner):
    """The part of a connection that sets hooks; the session's `hooks` keeps their callbacks alive by name."""

    __slots__ = ()

    @by_position('authorizer_callback')
    @exclusive
    def set_authorizer(self, authorizer_callback):
        """Have every use of a table, column or function permitted.

        Args:
            authorizer_callback: called with an action code (int) and four str or None; returns SQLITE_OK,
                SQLITE_DENY or SQLITE_IGNORE. None removes it.
        """
        session = self._session_
        session.check()
        session.before_c_call_that_may_write()
        callback = NULL if authorizer_callback is None else authorizer(
            authorizer_callback, session.calls)
        if lib.sqlite3_set_authorizer(session.db, callback, NULL):
            raise errors.OperationalError('Error setting authorizer callback')
        session.hooks['authorizer'] = callback
        session.plan_anew()

    @by_position('progress_handler')
    @exclusive
    def set_progress_handler(self, progress_handler, n):
        """Have a function called now and then.

        Args:
            progress_handler: called without arguments; a true result interrupts the statement. None
                removes it.
            n: about how many virtual machine instructions lie between two calls (int).
        """
        session = self._session_
        session.check()
        n = c_int(n)
        session.check()     # after user code
        session.before_c_call_that_may_write()
        callback = NULL if progress_handler is None else progress(progress_handler, session.calls)
        lib.sqlite3_progress_handler(session.db, n, callback, NULL)
        session.hooks['progress'] = callback
        session.plan_anew()

    @by_position('trace_callback')
    @exclusive
    def set_trace_callback(self, trace_callback):
        """Have a function called with every statement that runs.

        Args:
            trace_callback: called with the SQL (str), parameters filled in; None removes it.
        """
        session = self._session_
        session.check()
        session.before_c_call_that_may_write()
        callback = NULL if trace_callback is None else tracer(trace_callback, session.calls)
        lib.sqlite3_trace_v2(session.db, TRACE_STMT, callback, NULL)
        session.hooks['trace'] = callback
        session.plan_anew()

    @exclusive
    def create_collation(self, name, callback, /):
        """Define a collation.

        Args:
            name: its name in SQL (str).
            callback: called with two str; returns a negative int, 0 or a positive one. None
                removes the collation.
        Raises:
            OperationalError: it can't be defined.
        """
        session = self._session_
        session.check()
        name = checked_text(name, 'create_collation() argument 1')
        if not versions.COLLATION_NAMES and not (name.isascii() and name.replace('_', 'a').isalnum()):
            raise errors.ProgrammingError('invalid character in collation name')
        if callback is not None and not callable(callback):
            raise TypeError('parameter must be callable')
        session.before_c_call_that_may_write()
        held = None
        if callback is None:
            rc = tried(session, lambda: lib.sqlite3_create_collation_v2(
                session.db, name.encode(), UTF8, NULL, NULL, NULL))
        else:
            frame = Frame(2)
            called = collation(callback, frame, session.calls)
            definition = ffi.new('SqpyteFunction *', [called, frame.cells, frame.words])
            held = (definition, called, frame)
            rc = tried(session, lambda: lib.sqpyte_create_collation(session.db, name.encode(), definition))
        if rc:
            raise errors.from_database(session.db)
        before = session.collations.get(folded(name))
        if before is not None:
            del session.python[address_of(before[0])]
        if held is not None:
            session.python[address_of(held[0])] = callback
        session.collations[folded(name)] = held
        session.plan_anew()
