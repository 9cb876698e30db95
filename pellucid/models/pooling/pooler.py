"""What every pooler is: a module from piece states to one vector a text, and what the network must know of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import one_of
from pellucid.run.batch import Row
from pellucid.run.trace import GateTrace, SpanTrace, UnitTrace
from pellucid.text.units import SPECIAL

# What a pooler returns: one vector a text and, if it explains itself, its own weights.


@dataclass(frozen=True, kw_only=True)
class OwnWeights:
    """The weights of a self-explaining pooler; None where it has no such weights.

    A new kind of weights is a field here and in `core.passes.trace.Trace`; the code between them passes all fields on.
    """

    spans: SpanTrace | None = None
    gates: GateTrace | None = None
    units: UnitTrace | None = None

    @property
    def weights(self) -> SpanTrace | UnitTrace | None:
        """Those weights that sum to 1, of spans or of units."""
        return self.units if self.spans is None else self.spans

    @property
    def own_weights(self) -> dict[str, Any]:  # Any: to be handed on as keyword arguments
        """The fields of this class by name, also of a class with more."""
        return {each.name: getattr(self, each.name) for each in fields(OwnWeights)}


@dataclass(frozen=True, kw_only=True)
class Pooled(OwnWeights):
    """vector: [batch width]."""

    vector: Tensor


# What a composed network reads about every piece of its rows: one frozen record of tensors.


@dataclass(frozen=True, eq=False)
class PieceTensors:
    """Tensors [batch piece] of whole numbers, padded on the right; position i of each is about the same piece.

    input_ids: the tokenizer's ids. attention_mask: 1 for pieces that are read, 0 for padding and absent pieces.
    position_ids: the ids of the encoder's position table. word_index: the number of each piece's word. segments: the
    number of its text, 0 or 1. Both are -1 for special tokens and padding. token_type_ids: for encoders that know them,
    else None. sentences, content: the number of each piece's sentence, and 1 where its word is a content word; None
    where the pooler does not read them.
    """

    input_ids: Tensor
    attention_mask: Tensor
    position_ids: Tensor
    word_index: Tensor
    segments: Tensor
    token_type_ids: Tensor | None = None
    sentences: Tensor | None = None
    content: Tensor | None = None

    def window(self, pieces: Sequence[int]) -> "PieceTensors":
        """These pieces of every row alone; their positions count from the first one on."""
        columns = {name: column[:, list(pieces)] for name, column in self.columns().items()}
        return piece_tensors(columns | {"position_ids": self.position_ids[:, : len(pieces)]})

    def columns(self) -> dict[str, Tensor]:
        """The tensors that there are, by field."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: column for name, column in columns.items() if column is not None}

    def of_encoder(self) -> dict[str, Tensor]:
        """What every encoder takes, by the names of its parameters; token types are left out."""
        return {name: getattr(self, name) for name in ("input_ids", "attention_mask", "position_ids")}


def piece_tensors(columns: Mapping[str, Tensor]) -> PieceTensors:
    """The record of those columns that it has a field for."""
    return PieceTensors(**{each.name: columns[each.name] for each in fields(PieceTensors) if each.name in columns})


class Pooler(nn.Module):
    """The base of every pooler; one that needs more than the usual sets these attributes in `__init__`.

    pooled_width: of its vector; None: as wide as the encoder's states. reads_sentences, reads_content: whether it reads
    `PieceTensors.sentences` and `.content`. most_units: the most units of a text that it can read; None: any number.
    layer: how many of the encoder's blocks are used; None: all. layer_mix: whether it reads a learnt mean of the states
    of all layers.
    """

    pooled_width: int | None = None
    reads_sentences: bool = False
    reads_content: bool = False
    most_units: int | None = None
    layer: int | None = None
    layer_mix: bool = False

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch pooled_width]; padding and neighbours in the batch must change nothing."""
        raise NotImplementedError


# What poolers that attend to units share: the units of a text, and their weighted sum.

Weights = Literal["learned", "uniform"]


def check_units(unit: str, weights: str) -> None:
    """Raise `BadSetting` for a unit other than word and piece, and for weights other than learned and uniform."""
    one_of("unit", unit, ("word", "piece"))
    one_of("weights", weights, get_args(Weights))


def units_of(states: Tensor, pieces: PieceTensors, unit: str) -> tuple[Tensor, Tensor]:
    """[batch piece width] -> the units' states [batch unit width] and the number of each unit's text, -1 in padding.

    Special tokens and absent pieces are in no unit, so they have no weight (corrections.md A4.3).
    """
    return merge_parts(states, pieces.word_index, pieces.segments, unit)


def weighted_sum(states: Tensor, runs: Tensor, scores: Tensor, unit: str) -> Pooled:
    """Units' states [batch unit width] and scores [batch unit] -> the sum of alpha h, alpha the softmax of scores.

    In torch's own functions, one at a time, so that the rules of relevance meet each of them. A text without any unit
    pools to zero.
    """
    missing = runs < 0
    lowest = scores.masked_fill(missing, torch.finfo(scores.dtype).min)
    weights = torch.softmax(lowest, -1).masked_fill(missing, 0.0)
    vector = torch.matmul(weights[:, None], states)[:, 0]
    return Pooled(vector=vector, units=UnitTrace(scores.masked_fill(missing, float("-inf")), states, runs, unit))


# From piece vectors to the vectors of the units that spans are made of: words, or the pieces themselves.


def part_numbers(words: Tensor, segments: Tensor, unit: str) -> Tensor:
    """[batch piece]: each piece's part, counted from 0 in its row; -1 for special tokens and padding.

    Parts that an edit removed are closed up, so the numbers have no gaps.
    """
    content = segments != SPECIAL
    if unit == "piece":
        return torch.where(content, content.cumsum(1) - 1, SPECIAL)
    before = torch.nn.functional.pad(words[:, :-1], (1, 0), value=SPECIAL)
    fresh = content & (words != before)
    return torch.where(content, fresh.cumsum(1) - 1, SPECIAL)


def n_units(row: Row, unit: str) -> int:
    """How many parts a row has."""
    return int(part_numbers(torch.tensor([row.word_index]), torch.tensor([row.segments]), unit).max()) + 1


def parts_with(pieces: Tensor, words: Tensor, segments: Tensor, unit: str) -> Tensor:
    """[batch piece] -> [batch part]: 1 for the parts that have a marked piece, else 0; pieces: 1 where marked."""
    numbers = part_numbers(words, segments, unit)
    count = max(int(numbers.max()) + 1, 1)
    marked = pieces.new_zeros((len(pieces), count + 1))
    marked.scatter_reduce_(1, torch.where(numbers < 0, count, numbers), pieces, "amax")
    return marked[:, :count]


def merge_parts(states: Tensor, words: Tensor, segments: Tensor, unit: str) -> tuple[Tensor, Tensor]:
    """[batch piece width] -> mean vectors [batch part width] and each part's run [batch part], -1 where there is no
    part.

    A run number rises at every border between texts, so spans of one run cross neither a border nor a
    separator. The mean is a matrix product: deterministic on every device.
    """
    numbers = part_numbers(words, segments, unit)
    count = max(int(numbers.max()) + 1, 1)
    member = numbers[:, None, :] == torch.arange(count, device=numbers.device)[None, :, None]
    weights = member.to(states.dtype)
    vectors = weights @ states / weights.sum(-1, keepdim=True).clamp_min(1.0)
    runs = segments.new_full((len(segments), count + 1), SPECIAL)
    # All pieces of a part stand in one text; pieces of no part write to one more column, which is dropped.
    runs.scatter_(1, torch.where(numbers < 0, count, numbers), segments)
    return vectors, runs[:, :count]


# Which text of a pair spans may lie in: both, the second alone, or each with half of the weight.

Of = Literal["all", "second", "each"]
Attended = tuple[Tensor, Tensor, Tensor]  # scores, pooled vectors and log-normalisers of span attention


def second_text(runs: Tensor, in_second: Tensor) -> Tensor:
    """[batch part]: the runs of the second texts, -1 in the first ones; those of single texts as they are.

    runs: as `merge_parts` gives them, of texts or of sentences. in_second: [batch part] bool, whether a part is of the
    second text.
    """
    pairs = in_second.any(1, keepdim=True)
    return runs.masked_fill(pairs & ~in_second, SPECIAL)


def joined(first: Attended, second: Attended) -> Attended:
    """Span attention in both texts of pairs as one: each has half of the weight, or all of it where the other has no
    spans.

    No span may be in both. Scores become log-weights, so the log-normaliser is 0; -inf where neither has spans.
    """
    has_spans = torch.stack([log_normaliser.isfinite() for _, _, log_normaliser in (first, second)])
    shares = has_spans / has_spans.sum(0).clamp_min(1)  # [text batch]
    first_scores, second_scores = (
        _log_weights(*each, share) for each, share in zip((first, second), shares, strict=True)
    )
    scores = torch.where(first[0].isneginf(), second_scores, first_scores)
    pooled = (torch.stack([first[1], second[1]]) * shares[..., None].to(first[1])).sum(0)
    return scores, pooled, torch.where(has_spans.any(0), 0.0, -torch.inf).to(scores)


def _log_weights(scores: Tensor, _: Tensor, log_normaliser: Tensor, share: Tensor) -> Tensor:
    """[batch part part]: log of the weights of a text that has this share [batch] of the whole."""
    finite = log_normaliser.masked_fill(~log_normaliser.isfinite(), 0.0)  # -inf - -inf would be nan
    return scores + (share.log().to(finite) - finite)[:, None, None]
