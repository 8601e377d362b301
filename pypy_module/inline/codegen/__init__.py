"""Generates the Python class of a loop."""
