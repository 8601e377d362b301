"""All tests in full: `make test-all`."""
