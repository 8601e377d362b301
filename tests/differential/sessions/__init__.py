"""Runs scripts: over the C API, over a DB-API module, in a process of its own."""
