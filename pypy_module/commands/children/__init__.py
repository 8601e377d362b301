"""What Python programs have on their PYTHONPATH that a program of `sqpyte-run` starts."""
