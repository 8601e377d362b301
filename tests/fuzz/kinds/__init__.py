"""The kinds of fuzzing: what a case is, how it runs, and what is wrong with it."""
