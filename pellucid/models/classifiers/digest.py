"""A digest that identifies a network by its weights and by whatever else its answers depend on."""

import json
from hashlib import blake2b

import torch
from torch import nn

from pellucid.core.foundation.tensor_checksum import checksum


def network_digest(network: nn.Module, settings: object) -> str:
    """32 hexadecimal digits for the weights and for settings, any JSON."""
    digest = blake2b(digest_size=16)
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode())
        if tensor.numel():
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def network_state(network: nn.Module) -> tuple[tuple[int, int, int], ...]:
    """A value that changes when weights are replaced or changed in place, also through `.data`, which torch does not count.

    It takes about as long as reading the memory, a fifteenth of the digest's time. It notices every single number that
    changes; it may miss two numbers that change places within 2,048 bytes.
    """
    tensors = network.state_dict().values()
    return tuple((tensor.data_ptr(), tensor._version, checksum(tensor)) for tensor in tensors)
