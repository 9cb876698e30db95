"""Weights in the order in which a route reads them, each made anew after its weight has changed in any way."""

import threading
from dataclasses import dataclass
from functools import partial
from weakref import ref

import torch
from torch import Tensor

from pellucid.core.foundation.tensor_checksum import checksum
from pellucid.models.routing.linear_product import packed


@dataclass(frozen=True)
class _Packed:
    """weight: the weight itself, so that a number that a later object has got again is not taken for it."""

    weight: "ref[Tensor]"
    state: tuple[int, int]
    copy: Tensor


class PackedWeights:
    """The packed copies of a network's weights; they live as long as their weights."""

    def __init__(self) -> None:
        self._by_id: dict[tuple[int, torch.dtype], _Packed] = {}
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._by_id)

    def of(self, weight: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """The packed copy of a weight as it is now. dtype: of the copy."""
        # Torch does not count the changes that fused optimizers, `.data` and numpy make; a sum of all bytes notices these.
        state, key = (weight.data_ptr(), checksum(weight)), (id(weight), dtype)
        entry = self._by_id.get(key)
        if entry is not None and entry.weight() is weight and entry.state == state:
            return entry.copy
        copy = packed(weight.detach().to(dtype))
        # By a weak reference: else a route that nobody uses would live until Python looks for cycles. The function is bound, since
        # at the end of a process a module's names may be gone before its weights.
        forget = partial(_forget, ref(self), key)
        with self._changing:
            self._by_id[key] = _Packed(ref(weight, forget), state, copy)
        return copy


def _forget(owner: "ref[PackedWeights]", key: tuple[int, torch.dtype], weight: object) -> None:
    """Drop the copy of a weight that is no more."""
    weights = owner()
    if weights is not None:
        weights._by_id.pop(key, None)
