"""What the Makefile needs besides make: packages, Python environments, the translation's driver."""
