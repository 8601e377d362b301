"""What is run from the command line: `python -m sqpyte` and `sqpyte-run`."""
