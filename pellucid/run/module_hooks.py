"""Hooks on the modules of a network that all threads share; each hook that looks works only in the thread that
registered it.

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
THREAD = "_pellucid_thread"  # the attribute that names a hook's thread


def hook_input(module: nn.Module, hook: Callable[..., Any], *, with_kwargs: bool = False) -> Remove:
    """Register a forward pre-hook; returns what removes it. with_kwargs: the hook gets keyword arguments too."""
    with _REGISTERING:
        return module.register_forward_pre_hook(_in_this_thread(hook), with_kwargs=with_kwargs).remove


def hook_output(
    module: nn.Module, hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> Remove:
    """Register a forward hook; returns what removes it.

    with_kwargs: the hook gets keyword arguments too. always_call: it is called also where the module raised an error.
    """
    with _REGISTERING:
        handle = module.register_forward_hook(_in_this_thread(hook), with_kwargs=with_kwargs, always_call=always_call)
    return handle.remove


def is_watched(module: nn.Module) -> bool:
    """Whether a hook on the module acts when this thread calls it, whoever registered it."""
    here = threading.get_ident()
    return any(getattr(hook, THREAD, here) == here for hook in _hooks(module))


def is_foreign_watched(module: nn.Module) -> bool:
    """Whether the module has a hook that this package did not register."""
    return any(not hasattr(hook, THREAD) for hook in _hooks(module))


def _hooks(module: nn.Module) -> list[Callable[..., Any]]:
    return [*list(module._forward_hooks.values()), *list(module._forward_pre_hooks.values())]


def after_every_call(module: nn.Module, step: Callable[..., Any]) -> None:
    """Make a step part of the module, in all threads and for as long as it lives: (module, args, kwargs, output) ->
    output.
    """
    with _REGISTERING:
        module.register_forward_hook(step, with_kwargs=True)


def _in_this_thread(hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook for this thread; in other threads it does nothing.

    It takes any number of arguments: while a hook is registered or removed, another thread may call it without its
    options.
    """
    thread = threading.get_ident()

    def in_this_thread(*args: object) -> object:
        return hook(*args) if threading.get_ident() == thread else None

    setattr(in_this_thread, THREAD, thread)
    return in_this_thread
