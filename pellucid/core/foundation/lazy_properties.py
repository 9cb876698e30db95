"""Properties that are computed once, when they are first read."""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - as in functools
    """functools.cached_property of Python 3.12 and later, which has no lock.

    That of Python 3.11 has one lock for all instances: while a model computes for one thread, all other threads would wait,
    and two threads that wait for each other would wait for ever.
    """

    def __init__(self, compute: Callable[..., Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Value:
        """The value; it is stored in the instance, so that later reads do not come here."""
        if instance is None:
            return self  # type: ignore[return-value]
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
