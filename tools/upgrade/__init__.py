"""Tries another version of SQLite beside the pinned one, and says what of ours doesn't fit it."""
