"""The base of the classes that make up a connection, each of which uses what the others define."""

from typing import TYPE_CHECKING, Any


class Part:
    """One part of `Connection`; to the type checker it may have any attribute."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...
