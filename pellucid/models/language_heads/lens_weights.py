"""Digests of what a lens is made of: its tensors, and what the ids of a model mean."""

from collections.abc import Mapping
from hashlib import blake2b

import torch
from torch import Tensor

from pellucid.base.json_text import json_digest
from pellucid.run.model import Model


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """32 hexadecimal digits for named tensors and their shapes."""
    digest = blake2b(digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name}{list(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def vocabulary_digest(model: Model) -> str:
    """32 hexadecimal digits for the pieces of a model's tokenizer by their ids; of a model without one, for its ids."""
    tokenizer = getattr(model, "tokenizer", None)
    if callable(vocabulary := getattr(tokenizer, "get_vocab", None)):
        return json_digest(sorted(vocabulary().items()))
    return json_digest([model.vocabulary.tolist(), sorted(model.blank_ids().items())])
