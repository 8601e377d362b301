"""Damaged databases: the VM's answers and errors are stock's, and it reads no byte that isn't
its own.  `damage` makes them, `guard` sees what is read, `run` is a process that queries them."""
