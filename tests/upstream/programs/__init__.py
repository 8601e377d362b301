"""SQLite's test programs: built from stock's amalgamation and from ours."""
