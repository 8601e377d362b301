"""The databases that Sessions have open in this process, until they are closed, which a finalizer may do late."""

from _thread import get_ident

_open: dict = {}        # of each: its `sqlite3 *`, its Calls and the thread that may use it, by the Session's id


def note(session):
    """A Session has opened its database."""
    _open[id(session)] = session.db, session.calls, session.user


def forget(session):
    """A Session closes its database."""
    _open.pop(id(session), None)


def databases():
    """Return of each its `sqlite3 *`, and whether only this thread may use it (list of pairs)."""
    return [(db, user == get_ident()) for db, _, user in list(_open.values())]


def calling(but=None):
    """Whether SQLite is calling a Python function, for any of them, or any but that of the Session `but` (bool).

    It then holds the mutexes of a shared cache, for which whatever is done to another connection of it waits: for ever,
    if a finalizer does it in that function.
    """
    own = but and but.calls
    return any(calls.depth for _, calls, _ in list(_open.values()) if calls is not own)
