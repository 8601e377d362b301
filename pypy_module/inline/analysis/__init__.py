"""Which loops of a program can be inlined, and how; no code is made here."""
