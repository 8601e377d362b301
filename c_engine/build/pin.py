"""The one place that says which SQLite is built: version, hashes, and who ships these very bytes.

To move to another SQLite, try it first: `make upgrade SQLITE=x.y.z` says what doesn't fit, and prints the hashes
that stand here. CONTRIBUTING.md, "To move to another SQLite", has the way from there.
"""

VERSION = '3.54.1'

# The amalgamation with the UPDATE/DELETE ... LIMIT grammar in its parser, as Debian builds it.
SHA256 = {
    'sqlite3.c': '75a4760a7b9727a4c4c877aec92eacf39e52a8f2921ce00bd33be6d3a8e8e254',
    'sqlite3.h': 'd6c84557261893439b341d2e6c35187ae3ea24fbfd843ad94616f72d89242b8c',
}

# Tried in this order after a path given by the user and the cache. `kind` names a function in
# c_engine/build/fetch.py; the rest are its arguments. crates.io has no entry for this pin: the crate with
# this version (libsqlite3-sys 0.39.1) was generated without the LIMIT grammar, so its bytes differ.
SOURCES = [
    {'kind': 'npm', 'package': 'better-sqlite3', 'version': '13.2.0',
     'directory': 'package/deps/sqlite3'},
    {'kind': 'sqlite_org', 'url': 'https://sqlite.org/2026/sqlite-src-3540100.zip',
     'options': '-DSQLITE_ENABLE_UPDATE_DELETE_LIMIT'},
]
