"""What comes of a call, as a value that tests compare."""


def outcome(function, *args):
    """What a call returned, or the name and the text of what it raised (str)."""
    try:
        return function(*args)
    except Exception as error:
        return '%s: %s' % (type(error).__name__, error)
