"""Hooks of a module that all threads share, for one thread alone."""

import threading
from collections.abc import Callable
from typing import Any


def of_this_thread(hook: Callable) -> Callable:
    """The hook where the calling thread runs the module; nothing where another one does."""
    thread = threading.get_ident()

    def here(*args: Any) -> Any:
        return hook(*args) if threading.get_ident() == thread else None

    return here
