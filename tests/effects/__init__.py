"""The checking build of the C tier: what opcodes do is what the opcode table declares of them."""
