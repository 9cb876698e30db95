"""While a stranger's folder is read, the libraries ask no questions at the terminal and load no kernels from the hub."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from transformers import dynamic_module_utils
from transformers.integrations import hub_kernels

_lock = Lock()
_inside = 0
Switches = tuple[int, Callable]  # seconds that the library waits for an answer; what fetches a kernel
_before: Switches = (dynamic_module_utils.TIME_OUT_REMOTE_CODE, hub_kernels.get_kernel)


@contextmanager
def guarded() -> Iterator[None]:
    """The libraries neither ask on standard input nor load kernels; afterwards all is as before.

    These switches belong to the whole process, so threads that load at the same time are counted.
    """
    global _inside, _before
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = _closed()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _set(*_before)


def _closed() -> Switches:
    before = (dynamic_module_utils.TIME_OUT_REMOTE_CODE, hub_kernels.get_kernel)
    _set(0, _no_kernel)  # with no time for an answer, the question is an error at once
    return before


def _set(seconds: int, get: Callable) -> None:
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = seconds
    hub_kernels.get_kernel = get


def _no_kernel(name: str, *_: object, **__: object) -> None:
    """The library goes on without a kernel that is not there."""
    raise FileNotFoundError(f"the kernel {name} is code of the hub, which is not loaded")
