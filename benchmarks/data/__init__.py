"""The databases that are queried: generated, loaded, kept."""
