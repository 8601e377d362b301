"""The DB-API module; of the inliner it knows statements/tiers.py alone."""
