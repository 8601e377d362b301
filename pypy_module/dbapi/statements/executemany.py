"""A cursor's `executemany`: a statement, run for each item of an iterable."""

from pypy_module.dbapi import errors
from pypy_module.dbapi.mixin import Any, Mixin
from pypy_module.ffi.library import NUMBERS

ROW, CHANGES = NUMBERS['SQLITE_ROW'], NUMBERS['SQPYTE_ROW_CHANGES']


class ExecuteMany(Mixin):
    """The part of a ResultSet that runs a statement for many rows of parameters."""

    session: Any
    rowcount: int
    rollbacks: Any

    def execute_many(self, sql, parameters):
        """`Cursor.executemany` without its checks."""
        if not isinstance(sql, str):
            raise errors.not_sql('executemany()', sql)
        session = self.session
        try:
            self.ready = False
            iterator = parameters if hasattr(type(parameters), '__next__') else iter(parameters)
            builtin = type(parameters) is list or type(parameters) is tuple     # whose iterators run no code of others
            if session.closed:      # by `__iter__`
                session.check_open()
            self.drop()
            self.row = self.columns = None
            self.rollbacks = session.rollbacks
            statement = session.acquire(sql)
            if statement.readonly:
                session.release(statement)
                raise errors.ProgrammingError('executemany() can only execute DML statements.')
            self.rowcount = 0 if statement.is_dml else -1
            try:
                session.begin_for(statement)
                while True:
                    try:
                        values = next(iterator) if builtin else session.outside_lock(next, iterator)
                    except StopIteration:
                        break
                    if session.user == 0:   # closed by the iterator
                        session.check_open()
                    self._execute_row(statement, values)
            except BaseException:
                session.give_up(statement)
                raise
            session.release(statement)
        except BaseException:
            self.rowcount = -1
            if session.db:
                self.drop()     # the rows before are over, also where `iter` fails
            raise
        finally:
            self.ready = True

    def _execute_row(self, statement, values):
        """Run a statement of `executemany` once; rows that it returns are dropped."""
        session = self.session
        rc = session.run(statement, values, False)     # a transaction is begun once, before the first row
        if rc == ROW:
            statement.rewind()
        elif statement.is_dml:
            self.rowcount += statement.cells[CHANGES]
        if session.raised is not None:
            session.reraise()
        self.columns = statement.description
