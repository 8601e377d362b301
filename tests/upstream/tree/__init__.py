"""SQLite's source tree: obtained, edited, ready to be built."""
