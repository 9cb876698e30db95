"""How hints are written: as an argument in Python, or as an option while the command line runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)


@contextmanager
def command_line_syntax() -> Iterator[None]:
    """Within it, hints are written as options of the command line."""
    before = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(before)


def in_syntax(python: str, command_line: str) -> str:
    """The option while the command line runs, else the argument in Python."""
    return command_line if _on_command_line.get() else python
