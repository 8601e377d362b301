"""Parts of a class: what the type checker is told of them, a class without bases made of them, and methods that have a
connection for themselves."""

from pypy_module.dbapi.deprecation import standing_in

TYPE_CHECKING = False  # as typing's; importing typing costs PyPy 5 ms
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object


# What each class has of its own.
OWN = ('__module__', '__qualname__', '__doc__', '__slots__', '__dict__', '__weakref__', '__annotations__',
       '__firstlineno__', '__static_attributes__')


def made_of(*parts):
    """Decorator for a class: it gets what its parts have, so that its help shows no bases but `object`."""
    def decorate(cls):
        for base in [base for part in parts for base in part.__mro__[:-1]]:
            for name, value in vars(base).items():
                if name not in OWN and name not in base.__slots__ and name not in vars(cls):
                    for function in (value, *(getattr(value, end, None) for end in ('fget', 'fset', 'fdel'))):
                        if hasattr(function, '__qualname__'):
                            function.__qualname__ = '%s.%s' % (cls.__name__, name)
                    setattr(cls, name, value)
        return cls
    return decorate


def exclusive(method):
    """Decorator for a method of what has a Session, which looks itself whether that is open: no other thread uses the
    connection meanwhile, nor closes it."""
    def alone(self, *args, **keywords):
        session = self._session_
        if session.user != -1:
            return method(self, *args, **keywords)
        with session.lock:
            return method(self, *args, **keywords)
    return standing_in(alone, method)


class Mixin:
    """One part of a Session or a ResultSet; to the type checker it may have any attribute."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...
