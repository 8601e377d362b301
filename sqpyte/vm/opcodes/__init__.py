"""The opcode table, and the handlers, one file for each kind of opcode."""
