"""A digest that identifies a network by its weights and by whatever else its answers depend on."""

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b

import torch
from torch import Tensor, nn

from pellucid.base.errors import ModelCannot
from pellucid.base.torch_state import checksum

PLAIN = (
    str,
    bytes,
    bool,
    int,
    float,
    complex,
    torch.dtype,
    type(None),
)  # whose words are the same in every process


def network_digest(network: nn.Module, settings: object) -> str:
    """32 hexadecimal digits for the weights and for settings, any JSON; raises `ModelCannot` for weights without
    numbers.
    """
    digest = blake2b(digest_size=16)
    for name, entry in sorted(network.state_dict().items(), key=lambda pair: pair[0]):
        digest.update(name.encode())
        for part in parts_of(name, entry):
            if isinstance(part, str):
                digest.update(part.encode())
            elif part.numel():
                digest.update(part.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def network_state(network: nn.Module) -> tuple[tuple[object, ...], ...]:
    """A value that changes when weights are replaced or changed in place, also through `.data`, which torch does not
    count.

    It takes about as long as reading the memory, a fifteenth of the digest's time. It notices every single number that
    changes; it may miss two numbers that change places within 2,048 bytes.
    """
    return tuple(_state(name, entry) for name, entry in network.state_dict().items())


def _state(name: str, entry: object) -> tuple[object, ...]:
    parts = list(parts_of(name, entry))
    if len(parts) == 1 and parts[0] is entry and isinstance(entry, Tensor):
        return entry.data_ptr(), entry._version, checksum(entry)
    return tuple(part if isinstance(part, str) else checksum(part) for part in parts)


def parts_of(name: str, entry: object) -> Iterator[Tensor | str]:
    """What an entry of a state dict is made of: plain tensors, and words for what is none.

    An ordinary tensor is its only part. Quantised, sparse and wrapped ones are taken apart, which makes new tensors at
    each call. name: the entry's. Raises `ModelCannot` for a tensor on the meta device.
    """
    if isinstance(entry, Tensor):
        yield from _tensor_parts(name, entry)
    elif isinstance(entry, Mapping):
        for key, each in entry.items():
            yield str(key)
            yield from parts_of(name, each)
    elif isinstance(entry, tuple | list):
        for each in entry:
            yield from parts_of(name, each)
    else:
        yield repr(entry) if isinstance(entry, PLAIN) else type(entry).__name__


def _tensor_parts(name: str, tensor: Tensor) -> Iterator[Tensor | str]:
    if tensor.is_meta:
        raise ModelCannot(no_numbers(name))
    if hasattr(tensor, "__tensor_flatten__"):  # of torchao and its kin: tensors inside a tensor
        for inner in tensor.__tensor_flatten__()[0]:
            yield from parts_of(name, getattr(tensor, inner))
    elif tensor.is_quantized:
        yield tensor.int_repr()
        yield from _scales(tensor)
    elif tensor.layout is torch.sparse_coo:
        whole = tensor.detach().coalesce()
        yield from (whole.indices(), whole.values())
    elif tensor.layout is not torch.strided:
        yield tensor.detach().to_dense()
    else:
        yield tensor


def _scales(tensor: Tensor) -> Iterator[Tensor | str]:
    """By what the whole numbers of a quantised tensor are multiplied and moved."""
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        yield repr((tensor.q_scale(), tensor.q_zero_point()))
    else:
        yield from (tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points())


def no_numbers(name: str) -> str:
    """What is said of a weight on the meta device."""
    return (
        f"The weight {name} is on the meta device, where there are no numbers (a model that was not filled yet, or "
        f"whose weights wait on a disk); load the weights, and give the whole model in memory."
    )
