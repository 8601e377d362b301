"""An edit of upstream's text: `find`, which must occur exactly once, becomes `replace`.

`name` is for messages.
"""
import collections

Edit = collections.namedtuple("Edit", "name find replace")


class EditError(Exception):
    """An edit did not match upstream's text exactly once."""
