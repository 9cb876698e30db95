"""Records of piece tensors for tests that call a pooler without a network."""

import torch
from torch import Tensor

from pellucid.models.pooling.pooler import PieceTensors


def pieces_of(word_index: Tensor, segments: Tensor, mask: Tensor | None = None, **more: Tensor) -> PieceTensors:
    """Pieces [batch piece] of these words and texts; mask: the attention mask, None where all are read."""
    ids = torch.zeros_like(word_index)
    mask = torch.ones_like(word_index) if mask is None else mask
    return PieceTensors(ids, mask, ids, word_index, segments, **more)
