"""While a stranger's folder is read, the libraries ask no questions at the terminal and load no kernels from the hub."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

from transformers import dynamic_module_utils
from transformers.integrations import hub_kernels

# The library changes classes of its own while it loads, such as `PreTrainedModel.tie_weights`, and puts back what it met.
# Two that load at once would leave the change behind for the rest of the process, so the second one waits.
_LOADING = RLock()


@contextmanager
def guarded() -> Iterator[None]:
    """The libraries neither ask on standard input nor load kernels; afterwards all is as before.

    These switches belong to the whole process, so one thread at a time is inside; the others wait.
    """
    with _LOADING:
        seconds, get = dynamic_module_utils.TIME_OUT_REMOTE_CODE, hub_kernels.get_kernel
        _set(0, _no_kernel)  # with no time for an answer, the question is an error at once
        try:
            yield
        finally:
            _set(seconds, get)


def _set(seconds: int, get: Callable) -> None:
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = seconds
    hub_kernels.get_kernel = get


def _no_kernel(name: str, *_: object, **__: object) -> None:
    """The library goes on without a kernel that is not there."""
    raise FileNotFoundError(f"the kernel {name} is code of the hub, which is not loaded")
