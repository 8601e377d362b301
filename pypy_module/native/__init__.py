"""CPython's own sqlite3 module, on our library."""
