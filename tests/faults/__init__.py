"""Failures of malloc, of files and of locks at every point of a workload: the VM's outcome is
stock's, nothing is leaked, no lock is left.  `faults.c` makes them fail, `workload` is what is
done, `run` is a process that does it again and again."""
