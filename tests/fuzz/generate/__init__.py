"""Generates scripts from seeds."""
