"""A cursor's `executemany`: many rows of parameters in one call to C, where nobody can tell."""

from pypy_module.dbapi import errors
from pypy_module.dbapi.mixin import Any, Mixin
from pypy_module.dbapi.statements.execution import MANY_ROWS
from pypy_module.ffi.library import NUMBERS

ROW, CHANGES = NUMBERS['SQLITE_ROW'], NUMBERS['SQPYTE_ROW_CHANGES']


class ExecuteMany(Mixin):
    """The part of a cursor that runs a statement for many rows of parameters."""

    _connection: Any
    _rowcount: int

    def executemany(self, sql, parameters, /):
        """Run one INSERT, UPDATE, DELETE or REPLACE for each item of `parameters`.

        Args:
            sql: the statement (str).
            parameters: an iterable of what `execute` takes.
        Returns:
            the cursor itself.
        Raises:
            ProgrammingError: it is another kind of statement.
            Error: as SQLite says.
        """
        self._check()
        with self._connection._lock:
            self._check_ready()
            self._executemany(sql, parameters)
        return self

    def _executemany(self, sql, parameters):
        connection = self._connection
        self._ready = False
        try:
            iterator = iter(parameters)
            self._drop()
            self._row = self._description = None
            statement = connection._acquire(sql)
            if statement.readonly:
                statement.busy = False
                raise errors.ProgrammingError('executemany() can only execute DML statements.')
            self._rowcount = 0 if statement.is_dml else -1
            try:
                connection._begin_for(statement)
                if type(parameters) is list or type(parameters) is tuple:
                    self._execute_rows(statement, parameters)
                else:
                    for values in iterator:
                        self._execute_row(statement, values)
            except BaseException:
                statement.reset()
                raise
            finally:
                connection._release(statement)
        except BaseException:
            self._rowcount = -1
            raise
        finally:
            self._ready = True

    def _execute_row(self, statement, values):
        """Run a statement of `executemany` once; rows that it returns are dropped."""
        connection = self._connection
        rc = connection._run(statement, values)
        if rc == ROW:
            statement.reset()
            statement.busy = True
        elif statement.is_dml:
            self._rowcount += statement.cells[CHANGES]
        if connection._raised is not None:
            connection._reraise()
        self._description = statement.description

    def _execute_rows(self, statement, rows):
        """Run a statement of `executemany` for all `rows` (list or tuple), many in one call.

        Nobody can tell: packing plain values runs no code of the user's. With an iterator somebody
        could, because it may use the connection.
        """
        connection = self._connection
        if statement.rows_in < MANY_ROWS < len(rows):
            statement.allot_parameters(MANY_ROWS)
        start = 0
        while start < len(rows):
            count = 0
            if statement.rows_in >= MANY_ROWS:
                count, changes = connection._run_many(statement, rows, start)
                if statement.is_dml:
                    self._rowcount += changes
                if connection._raised is not None:
                    connection._reraise()
                self._description = statement.description
            if count:
                start += count
            else:
                self._execute_row(statement, rows[start])
                start += 1
