"""Hooks on the modules of a network that all threads share, each heard by the thread that registered it alone.

So whoever runs the network in another thread, the user himself for one, gets the network's own answer. No other file of
the package registers hooks (`tests/test_architecture.py`).
"""

import threading
from collections.abc import Callable
from typing import Any

from torch import nn

# Torch numbers hooks without a lock: of two that are registered at the same moment one could replace the other.
_REGISTERING = threading.Lock()
Remove = Callable[[], None]


def hook_input(module: nn.Module, hook: Callable, **options: Any) -> Remove:
    """Register a forward pre-hook with torch's options; returns what removes it."""
    with _REGISTERING:
        return module.register_forward_pre_hook(_in_this_thread(hook), **options).remove


def hook_output(module: nn.Module, hook: Callable, **options: Any) -> Remove:
    """Register a forward hook with torch's options; returns what removes it."""
    with _REGISTERING:
        return module.register_forward_hook(_in_this_thread(hook), **options).remove


def _in_this_thread(hook: Callable) -> Callable:
    """The hook where the calling thread runs the module; nothing where another one does.

    However many arguments come: while a hook is registered or removed, another thread may meet it without its options.
    """
    thread = threading.get_ident()

    def heard(*args: Any) -> Any:
        return hook(*args) if threading.get_ident() == thread else None

    return heard
