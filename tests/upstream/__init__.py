"""SQLite's own test suite and fuzz corpus, run on the stock library and on ours; see README.md."""
