"""Decoded programs, and what is known of them before they run."""
