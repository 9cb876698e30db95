"""A device whose tensors lie in main memory, and which refuses what a GPU refuses, so that a machine without one can
test for it.

Tensors of both devices in one operation, a tensor read by NumPy without `.cpu()`, and a generator of the other device
raise as CUDA does. What CUDA allows is allowed: numbers without dimensions, and indices on the CPU.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.utils._device
from torch import Tensor
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

NAME = "pretended"
ON_THE_CPU = (  # operations that read some of their arguments from the CPU
    "copy_", "_to_copy", "_foreach_copy_", "index", "index_put", "index_put_", "_index_put_impl_",
)  # fmt: skip
COMPUTED = (
    "arange",
    "linspace",
    "eye",
    "rand",
    "randn",
    "randint",
    "randperm",
    "tril_indices",
    "triu_indices",
)
COPIED = ("tensor", "as_tensor", "asarray")


class PretendedTensor(torch.Tensor):
    """inner: the tensor in main memory."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> "PretendedTensor":
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=f"{NAME}:0",
        )

    def __init__(self, inner: Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        return _computed(operation, args, kwargs or {})

    def __getitem__(self, key: Any) -> Any:
        return torch.Tensor.__getitem__(self, _without_lists(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        torch.Tensor.__setitem__(self, _without_lists(key), value)

    def tolist(self) -> Any:
        return self.detach().inner.tolist()

    def data_ptr(self) -> int:
        return self.detach().inner.data_ptr()

    def new_tensor(self, value: Any, dtype: Any = None) -> Tensor:
        return torch.tensor(value, dtype=dtype or self.dtype).to(self.device)

    def numpy(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"can't convert {NAME}:0 device type tensor to numpy. Use Tensor.cpu() first.")

    __array__ = numpy


def _without_lists(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_without_lists, key))
    if isinstance(key, list | range):
        return torch.as_tensor(key) if len(key) else torch.zeros(0, dtype=torch.long)
    return key


def _computed(operation: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The operation's answer, computed in main memory, on the device that a GPU would have it on."""
    name, on_cpu, here = operation._schema.name.removeprefix("aten::"), [], []

    def inner(value: Any) -> Any:
        if isinstance(value, PretendedTensor):
            here.append(value)
            return value.inner
        if isinstance(value, Tensor) and value.ndim:
            on_cpu.append(value)
        return torch.device("cpu") if isinstance(value, torch.device) and value.type == NAME else value

    device = kwargs.get("device")
    args, kwargs = (
        tree_map(inner, args),
        tree_map(inner, {**kwargs, "pin_memory": False} if "pin_memory" in kwargs else kwargs),
    )
    alone = name == "index" and any(args[0] is value for value in on_cpu)
    if here and on_cpu and (name not in ON_THE_CPU or alone):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two, cpu and {NAME}:0 ({name})"
        )
    answer = operation(*args, **kwargs)
    if device is not None and torch.device(device).type == "cpu":
        return answer
    own = {id(value.inner): value for value in here}

    def outer(value: Any) -> Any:
        if not isinstance(value, Tensor) or any(value is one for one in on_cpu):
            return value
        return own[id(value)] if id(value) in own else PretendedTensor(value)

    return tree_map(outer, answer)


def _copied(make: Callable) -> Callable:
    def patched(value: Any, *args: Any, device: Any = None, requires_grad: bool = False, **kwargs: Any) -> Tensor:
        if isinstance(value, PretendedTensor):
            answer = value.to(device=device or value.device, dtype=kwargs.get("dtype") or value.dtype)
        else:
            answer = make(value, *args, **kwargs)
            answer = answer if device is None else answer.to(device)
        return answer.requires_grad_() if requires_grad else answer

    return patched


def _created(make: Callable) -> Callable:
    def patched(*args: Any, device: Any = None, **kwargs: Any) -> Tensor:
        if device is None or torch.device(device).type != NAME:
            return make(*args, device=device, **kwargs)
        if kwargs.get("generator") is not None:
            raise RuntimeError(f"Expected a '{NAME}' device type for generator but found 'cpu'")
        return make(*args, **kwargs).to(device)

    return patched


class _Module(_DummyBackendModule):
    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    def get_rng_state(self, device: Any = None) -> Tensor:
        return torch.zeros(0, dtype=torch.uint8)  # its random numbers are the CPU's

    def set_rng_state(self, state: Tensor, device: Any = None) -> None:
        pass


def switch_on() -> torch.library.Library:
    """Make the device known to this process, for good; the library must live as long as it is used."""
    torch.utils._device._device_constructors()  # remembers torch's own functions before they are exchanged
    for name in COPIED:
        setattr(torch, name, _copied(getattr(torch, name)))
    for name in COMPUTED:
        setattr(torch, name, _created(getattr(torch, name)))
    move = torch.nn.Module.to

    def to(self: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
        torch.__future__.set_swap_module_params_on_conversion(
            True
        )  # a tensor of another kind cannot be written into one
        try:
            return move(self, *args, **kwargs)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(False)

    torch.nn.Module.to = to  # type: ignore[method-assign]
    _setup_privateuseone_for_python_backend(NAME, _Module())
    library = torch.library.Library("_", "IMPL")
    library.fallback(lambda operation, *args, **kwargs: _computed(operation, args, kwargs), "PrivateUse1")
    return library
