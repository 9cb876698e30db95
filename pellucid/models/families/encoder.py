"""What every encoder of a composed model offers, whether it is Hugging Face's or one of `encoders/`."""

from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor, nn


class EncoderConfiguration(Protocol):
    """model_type: the family's name. hidden_size: numbers of a state."""

    model_type: str
    hidden_size: int

    def to_dict(self) -> dict[str, object]:
        """All values, as JSON can hold them."""
        ...


class EncoderStates(Protocol):
    """What an encoder returns."""

    @property
    def last_hidden_state(self) -> Tensor:
        """[batch piece width]"""
        ...


class Encoder(Protocol):
    """A module that reads ids, an attention mask and position ids [batch piece] and returns states."""

    config: EncoderConfiguration
    training: bool

    def __call__(self, **columns: Tensor) -> EncoderStates:
        """Run it on columns [batch piece], by the names of its parameters."""
        ...

    def get_input_embeddings(self) -> nn.Embedding:
        """The module of word embeddings."""
        ...

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """As of every torch module."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """As of every torch module."""
        ...

    def buffers(self) -> Iterator[Tensor]:
        """As of every torch module."""
        ...


# How much each query of an attention looks at each key, before the softmax.


def attention_scores(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    *,
    is_causal: bool,
    scale: float | None,
    lowest: float | None,
) -> Tensor:
    """Scores [... query key] as scaled_dot_product_attention takes them from query and key [... piece width].

    mask: bool (True attends) or numbers to add. lowest: what a masked key gets: minus infinity, which gives nan where all
    keys are masked, or None for the lowest number there is, which spreads such a row's weight over all keys.
    """
    scores = (query * (query.shape[-1] ** -0.5 if scale is None else scale)) @ key.transpose(-1, -2)
    lowest = torch.finfo(scores.dtype).min if lowest is None else lowest
    if is_causal:
        earlier = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores + _added(earlier, scores, lowest)
    # Adding is cheaper than filling: the mask has no heads, and a sum's gradient is free.
    return scores if mask is None else scores + _added(mask, scores, lowest)


def _added(mask: Tensor, scores: Tensor, lowest: float) -> Tensor:
    """The mask as numbers to add."""
    if mask.dtype != torch.bool:
        return mask.clamp_min(lowest)
    return torch.zeros_like(mask, dtype=scores.dtype).masked_fill_(~mask, lowest)


def shared_heads(query: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
    """Keys and values [... head piece width], repeated where several of the query's heads share one of theirs."""
    return tuple(each.repeat_interleave(query.shape[-3] // each.shape[-3], -3) for each in states)
