"""What names a network among all others: a digest of its weights and of what else its answers depend on."""

import json
from hashlib import blake2b
from typing import Any

import torch
from torch import nn


def network_digest(network: nn.Module, told: Any) -> str:
    """32 hexadecimal digits for the weights and for told, anything that JSON can hold."""
    digest = blake2b(digest_size=16)
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode())
        if tensor.numel():
            digest.update(tensor.detach().cpu().flatten().view(torch.uint8).numpy().tobytes())
    digest.update(json.dumps(told, sort_keys=True, default=str).encode())
    return digest.hexdigest()
