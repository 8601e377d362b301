"""Test suites of projects that use sqlite3, on stock and on our library: `make test-ecosystem`."""
