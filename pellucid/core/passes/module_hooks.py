"""Hooks on the modules of a network that all threads share; each hook works only in the thread that registered it.

So another thread that runs the network, such as the user's own, gets the network's own answer. No other file of the
package registers hooks (`tests/test_architecture.py`).
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
    """The hook for this thread; in other threads it does nothing.

    It takes any number of arguments: while a hook is registered or removed, another thread may call it without its options.
    """
    thread = threading.get_ident()

    def in_this_thread(*args: Any) -> Any:
        return hook(*args) if threading.get_ident() == thread else None

    return in_this_thread
