"""Generates values, tables, queries and scripts, with hypothesis."""
