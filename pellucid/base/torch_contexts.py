"""Contexts of torch that change what a pass computes: autocast, which rounds products, and a device without numbers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from pellucid.base.errors import ModelCannot

KINDS = ("cpu", "cuda", "mps", "xpu")  # of devices
AutocastTypes = tuple[tuple[str, torch.dtype], ...]


def autocast_types() -> AutocastTypes:
    """The kinds of device on which autocast is active in this thread, with the number type that it rounds to."""
    return tuple((kind, torch.get_autocast_dtype(kind)) for kind in KINDS if torch.is_autocast_enabled(kind))


@contextmanager
def without_autocast() -> Iterator[None]:
    """Autocast switched off, wherever it is active."""
    with ExitStack() as stack:
        for kind, _ in autocast_types():
            stack.enter_context(torch.autocast(kind, enabled=False))
        yield


def autocast_for_good(types: AutocastTypes) -> None:
    """Switch autocast on in this thread until it ends: a process that shares another's work computes as that one does."""
    for kind, dtype in types:
        torch.autocast(kind, dtype=dtype).__enter__()


def check_computes() -> None:
    """Raise `ModelCannot` while tensors are made on the meta device, which has shapes and no numbers."""
    if torch.get_default_device().type == "meta":
        raise ModelCannot(
            "New tensors are made on the meta device here, which computes nothing; call this outside of `with torch.device('meta')`, or "
            "after torch.set_default_device('cpu')."
        )
