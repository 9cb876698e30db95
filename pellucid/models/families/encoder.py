"""What every encoder of a composed model offers, whether it is Hugging Face's or one of `encoders/`."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from pellucid.models.families.probes import (
    end_id,
    first_named,
    named_embedding,
    rows_of_table,
    with_config,
    with_value,
)
from pellucid.run.batch import Row
from pellucid.run.module_hooks import hook_input
from pellucid.text.units import SPECIAL


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

    mask: bool (True attends) or numbers to add. lowest: what a masked key gets: minus infinity, which gives nan where
    all keys are masked, or None for the lowest number there is, which spreads such a row's weight over all keys.
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


# Networks that read the last token (decoders with a classification head), in batches and without a padding token.
#
# They look for the last token that is not `config.pad_token_id`. Where the configuration names none, they read the
# last token of a single text, and refuse batches.

Columns = dict[str, Tensor]


def padding_id(network: nn.Module) -> int | None:
    """The id that the network itself treats as padding, if its configuration names one and the vocabulary has it."""
    named = first_named(network.config, "pad_token_id")
    return named if named is not None and 0 <= named < _vocabulary(network) else None


def _vocabulary(network: nn.Module) -> int:
    count = rows_of_table(named_embedding(network))
    return int(first_named(network.config, "vocab_size") or 0) if count is None else count


def with_row_ends(network: nn.Module, columns: Columns) -> tuple[nn.Module, Columns]:
    """A network that knows padding from text in these columns [row position], and the columns with its padding.

    It is a shallow copy of the network with a configuration of its own, which names a padding id that ends no row. The
    network and its configuration, which others may share or run at the same time, stay as they are.
    """
    ids = columns["input_ids"]
    if len(ids) == 1 or "attention_mask" not in columns or padding_id(network) is not None:
        return network, columns
    attended = columns["attention_mask"].bool()
    positions = attended.new_ones(attended.shape).cumsum(1)
    ends = set(ids.gather(1, (positions * attended).argmax(1, keepdim=True))[:, 0].tolist())
    free = next((index for index in range(_vocabulary(network)) if index not in ends), None)
    twin = with_config(network, with_value(network.config, "pad_token_id", free))
    return twin, columns | {"input_ids": ids if free is None else ids.where(attended, free)}


def empty_row(stand_in: int) -> Row:
    """The row of a text whose tokens are all absent: one token that stands for nothing."""
    return Row((stand_in,), (0,), (0,), (SPECIAL,), (SPECIAL,))


# Networks that read the state of a row's last end token (BART, T5), in batches whose rows hold several of them.
#
# They take the last of the end tokens and refuse a batch whose rows hold different numbers of them, as pairs and
# single texts do. So in a batch each row's last end token gets an id that nothing else in it has, in a shallow copy
# of the network that takes this id for the end; the modules that look up ids still read the end token there.

NAMED = ("pad_token_id", "bos_token_id", "decoder_start_token_id")  # ids that such networks look for, too


@contextmanager
def one_end_a_row(
    network: nn.Module, columns: Columns, readers: Sequence[nn.Module]
) -> Iterator[tuple[nn.Module, Columns]]:
    """The network and its columns [row piece], with one end token a row; readers: the modules that look up ids."""
    end, ids = end_id(network.config), columns["input_ids"]
    at_end = (ids == end) & columns["attention_mask"].bool()
    last = at_end & (at_end.flip(1).cumsum(1).flip(1) == 1)
    named = {getattr(network.config, name, None) for name in NAMED}
    known = {*ids.unique().tolist(), *named}
    free = next((index for index in range(rows_of_table(readers[0]) or 0) if index not in known), None)
    if free is None or not bool(last.any(1).all()):
        yield network, columns
        return
    config: Any = copy.copy(network.config)  # Any: torch's modules declare no configuration
    config.eos_token_id = free
    twin = with_config(network, config)

    def read_as_end(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0].masked_fill(args[0] == free, end), *args[1:])

    with ExitStack() as stack:
        for module in readers:
            stack.callback(hook_input(module, read_as_end))
        yield twin, columns | {"input_ids": ids.masked_fill(last, free)}
