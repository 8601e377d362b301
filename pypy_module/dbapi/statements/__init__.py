"""Statements: bound, run, fetched from, and kept for their SQL."""
