"""The parts of a connection: transactions, functions, hooks, limits, backup."""
