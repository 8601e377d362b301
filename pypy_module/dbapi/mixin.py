"""What the type checker is told: parts of a class use what other parts define."""

TYPE_CHECKING = False  # as typing's; importing typing costs PyPy 5 ms
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object


class Mixin:
    """One part of a Session or a ResultSet; to the type checker it may have any attribute."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...
