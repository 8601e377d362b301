"""The databases that Sessions have open in this process, until they are closed, which a finalizer may do late."""

_open: dict = {}        # of each: its `sqlite3 *` and its Calls, by the Session's id


def note(session):
    """A Session has opened its database."""
    _open[id(session)] = session.db, session.calls


def forget(session):
    """A Session closes its database."""
    _open.pop(id(session), None)


def databases():
    """Return the `sqlite3 *` of each (list)."""
    return [db for db, _ in list(_open.values())]


def calling(but=None):
    """Whether SQLite is calling a Python function, for any of them, or any but that of the Session `but` (bool).

    It then holds the mutexes of a shared cache, for which whatever is done to another connection of it waits: for ever,
    if a finalizer does it in that function.
    """
    own = but and but.calls
    return any(calls.depth for _, calls in list(_open.values()) if calls is not own)
