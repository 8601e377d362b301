"""The drop-in library under clients in other languages, and under what replicates databases: `make test-languages`."""
