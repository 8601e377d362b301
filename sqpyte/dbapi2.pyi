"""The names of `sqpyte`, as `sqlite3.dbapi2` has those of `sqlite3`."""

from sqpyte import *
