"""The C library as Python sees it, raw memory, and compiled source."""
