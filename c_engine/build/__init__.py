"""Obtains, checks and builds SQLite, and generates struct layouts and opcodes."""
