"""What poolers that attend to units share: the units of a text, and their weighted sum."""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.models.pooling.pooler import PieceTensors, Pooled
from pellucid.run.batch import Row
from pellucid.run.trace import UnitTrace
from pellucid.text.units import SPECIAL

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

    In torch's own functions, one at a time, so that the rules of relevance meet each of them. A text without any unit pools
    to zero.
    """
    missing = runs < 0
    lowest = scores.masked_fill(missing, torch.finfo(scores.dtype).min)
    weights = torch.softmax(lowest, -1).masked_fill(missing, 0.0)
    vector = torch.matmul(weights[:, None], states)[:, 0]
    return Pooled(
        vector=vector, units=UnitTrace(scores.masked_fill(missing, float("-inf")), states, runs, unit)
    )


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
    """[batch piece width] -> mean vectors [batch part width] and each part's run [batch part], -1 where there is no part.

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

    runs: as `merge_parts` gives them, of texts or of sentences. in_second: [batch part] bool, whether a part is of the second text.
    """
    pairs = in_second.any(1, keepdim=True)
    return runs.masked_fill(pairs & ~in_second, SPECIAL)


def joined(first: Attended, second: Attended) -> Attended:
    """Span attention in both texts of pairs as one: each has half of the weight, or all of it where the other has no spans.

    No span may be in both. Scores become log-weights, so the log-normaliser is 0; -inf where neither has spans.
    """
    has_spans = torch.stack([log_normaliser.isfinite() for _, _, log_normaliser in (first, second)])
    shares = has_spans / has_spans.sum(0).clamp_min(1)  # [text batch]
    one, other = (_log_weights(*each, share) for each, share in zip((first, second), shares, strict=True))
    scores = torch.where(first[0].isneginf(), other, one)
    pooled = (torch.stack([first[1], second[1]]) * shares[..., None].to(first[1])).sum(0)
    return scores, pooled, torch.where(has_spans.any(0), 0.0, -torch.inf).to(scores)


def _log_weights(scores: Tensor, _: Tensor, log_normaliser: Tensor, share: Tensor) -> Tensor:
    """[batch part part]: log of the weights of a text that has this share [batch] of the whole."""
    finite = log_normaliser.masked_fill(~log_normaliser.isfinite(), 0.0)  # -inf - -inf would be nan
    return scores + (share.log().to(finite) - finite)[:, None, None]
