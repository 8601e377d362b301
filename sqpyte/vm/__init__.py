"""The RPython VM: SQLite's bytecode programs, run by a meta-tracing JIT."""
