"""What the generated classes share while they run."""
