"""The edits of upstream's text, by area."""
