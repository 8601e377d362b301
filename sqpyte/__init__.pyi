"""The types of `sqpyte`: those of sqlite3 in the version of Python that runs, and ours."""

from collections.abc import Iterable
from sqlite3 import *
from sqlite3 import Connection
from typing import Any, Literal

from sqpyte import dbapi2 as dbapi2

__version__: str

class _Backend(str):
    reason: str

class _Step:
    place: str
    pc: int
    opcode: str
    p1: int
    p2: int
    p3: int
    p4: str
    p5: int

class _Plan:
    sql: str
    tier: str
    reason: str
    detail: str
    program: list[_Step]

class _Explanation(list[_Plan]): ...
class _Status(dict[str, Any]): ...

backend: _Backend

def configure(
    *,
    vm: Literal['off', 'hot', 'always'] | None = None,
    threshold: int | None = None,
    memory: int | None = None,
    inline: bool | Literal['always'] | None = None,
    without: str | Iterable[str] | None = None,
) -> dict[str, Any]: ...
def explain(connection: Connection, sql: str, /) -> _Explanation: ...
def install() -> None: ...
def status() -> _Status: ...
