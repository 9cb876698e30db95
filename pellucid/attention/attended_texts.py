"""Texts under a transformer whose attention weights are set to others, block by block, and readings of its own weights.

A transformer's answer is no sum by its weights, so what it answers under other weights takes a pass of its own. In that
pass a block computes with weights that were changed after its softmax. What a mask hides (padding, later pieces, what
lies outside a window) keeps the weight 0, and the weights of a query keep their sum.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pellucid.attention.weighed_texts import WordReading
from pellucid.base.catalogue import Choice
from pellucid.base.errors import ParityBroken
from pellucid.base.packages import cached_property
from pellucid.base.processes import silent
from pellucid.results.explanation import Explanation
from pellucid.results.unit_scores import coarser
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import generator_for
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.model import Model
from pellucid.run.packing import packing_of, scheduler_for
from pellucid.run.parity import residuals
from pellucid.run.rounding import tolerance
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.target import Target, class_probabilities
from pellucid.run.trace import ChangeAttention, Want, last_block
from pellucid.run.windows import in_windows
from pellucid.text.units import SPECIAL, Spans

# What stands in the place of a block's weights [example head query key]; movable: the keys whose weights may change.
# Every other key keeps its weight, and the movable ones keep their sum.


def equal_weights(weights: Tensor, movable: Tensor) -> Tensor:
    """All movable keys of a query share their weight equally."""
    share = (weights * movable).sum(-1, keepdim=True) / movable.sum(-1, keepdim=True).clamp_min(1)
    return torch.where(movable, share, weights)


def shuffled_weights(weights: Tensor, movable: Tensor, noise: Tensor) -> Tensor:
    """The weights of a query's movable keys change places, in the order of noise [example head query key]."""
    before = (~movable).byte().argsort(dim=-1, stable=True)
    after = noise.masked_fill(~movable, torch.inf).argsort(dim=-1, stable=True)
    return weights.scatter(-1, before, weights.gather(-1, after))


def weights_from(others: Tensor, weights: Tensor, movable: Tensor) -> Tensor:
    """The movable keys share their weight as in others [example head query key]; equally where those have none."""
    at_movable = others * movable
    there = at_movable.sum(-1, keepdim=True)
    total = (weights * movable).sum(-1, keepdim=True)
    shared = torch.where(movable, at_movable * total / there.clamp_min(torch.finfo(weights.dtype).tiny), weights)
    return torch.where(there > 0, shared, equal_weights(weights, movable))


@dataclass(frozen=True)
class LayerPlace:
    """Where weights are changed. layer, head: from 1; None: in all. words: special tokens keep their weights."""

    layer: int | None = None
    head: int | None = None
    words: bool = False

    def __str__(self) -> str:
        layer = "all layers" if self.layer is None else f"layer {self.layer}"
        head = "" if self.head is None else f", head {self.head}"
        return f"{layer}{head}{', words alone' if self.words else ''}"

    def change(self, rows: Sequence[Row], new: Callable[[int, Tensor, Tensor], Tensor]) -> ChangeAttention:
        """new: (block, the weights of all rows of the pass, movable) -> weights of these; further rows keep theirs."""

        def changed(block: int, weights: Tensor, open_keys: Tensor) -> Tensor:
            if self.layer not in (None, block + 1):
                return weights
            count = len(rows)
            movable = open_keys[:count]
            if self.words:
                movable = movable & _content(rows, weights.shape[-1]).to(weights.device)[:, None, None]
            movable = movable.expand(weights[:count].shape)
            there = new(block, weights, movable)
            if self.head is not None:
                heads = torch.arange(weights.shape[1], device=weights.device)[:, None, None] == self.head - 1
                there = torch.where(heads, there, weights[:count])
            return torch.cat([there, weights[count:]])

        return changed


def _content(rows: Sequence[Row], length: int) -> Tensor:
    """[row piece] bool: the pieces of text."""
    content = torch.zeros(len(rows), length, dtype=torch.bool)
    for line, row in zip(content, rows, strict=True):
        line[: len(row)] = torch.tensor([segment != SPECIAL for segment in row.segments])
    return content


def _noise(rows: Sequence[Row], block: int, shape: torch.Size, seed: int, draw: int) -> Tensor:
    """[row head query key]: noise of each row's own, whatever the rows beside it, its padding and the layer."""
    noise = torch.zeros(shape, dtype=torch.float32)
    for line, row in zip(noise, rows, strict=True):
        generator = generator_for(row, f"permuted attention {block} {draw}", seed)
        line[:, : len(row), : len(row)] = torch.rand(shape[1], len(row), len(row), generator=generator)
    return noise


def resampled(weights: Tensor, lengths: Sequence[int], wanted: Sequence[int], size: int) -> Tensor:
    """[example head query key] of rows of these lengths -> [.. size size]: by rows of the wanted lengths.

    Query and key i of n are those of the nearest place of m, i (m - 1) / (n - 1), so first and last pieces, which are
    special tokens, meet each other; of equal lengths all do.
    """
    sampled = weights.new_zeros(len(wanted), weights.shape[1], size, size)
    for line, of_row, length, n in zip(sampled, weights, lengths, wanted, strict=True):
        places = torch.linspace(0, length - 1, n, dtype=torch.float64).round().long().to(weights.device)
        line[:, :n, :n] = of_row[:, places][:, :, places]
    return sampled


READINGS: Mapping[str, Choice] = {
    "last layer": "attention",
    "mean of layers": ("attention", {"flow": "mean"}),
    "rollout": ("attention", {"flow": "rollout"}),
}
"""Reading -> the method that reads it off the weights: what a user would show as the model's attention."""
RANDOM_ORDERS: Choice = ("chance", {"n_draws": 10})

# What lines of tests are called, after a place or a reading.
CHANGED = "answers changed"  # beside the distance of the answers, the share of texts that get another class
RANDOM, LEAST = "less random words", "less the least attended"  # 0 for irrelevant weights


@dataclass(frozen=True, eq=False)
class AttendedTexts:
    """A part of the texts, as tests of a transformer's attention read them.

    donors: for each row that the model reads at once (a text, or a window of one) a row of another text, whose weights
    stand in for its own; None where there is none. methods: those whose scores tests hold against readings.
    """

    model: Model
    batch: Batch
    donors: Sequence[Row | None]
    seed: int
    methods: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.batch)

    @cached_property
    def scheduler(self) -> Scheduler:
        """One for all passes of the part, so that edited texts of several readings are computed once."""
        return scheduler_for(self.model)

    @cached_property
    def windows(self) -> tuple[tuple[Row, ...], tuple[int, ...]]:
        """The rows that the model reads at once, and for each the number of its text."""
        windows, owners = in_windows(self.batch)
        return windows.rows, owners

    @property
    def n_heads(self) -> int:
        """Of a block."""
        with torch.no_grad():
            trace = self.model.trace(self.windows[0][:1], Want(attention=True, keep=last_block))
        return trace.attention[0].shape[1]

    @cached_property
    def own_answers(self) -> Tensor:
        """[text class]: the answers where each block's weights are set to what they are; they are the model's.

        Raises `ParityBroken` where they are not, since then nothing that is set can be believed.
        """
        rows, _ = self.windows
        set_back = self._logits(lambda _: lambda _, weights, __: weights)
        plain = evaluate_rows(self.model, self.scheduler, rows).to(set_back)
        gap = float(residuals(set_back, plain).max())
        if not gap <= tolerance(self.model, torch.float32):
            raise ParityBroken(
                f"{self.model.name} answers otherwise (by {gap:.2g}) when its attention weights are set to what they "
                f"are; its weights cannot be tested. Please report this with the model."
            )
        return self._answers(set_back)

    def with_equal(self, place: LayerPlace) -> Tensor:
        """[text class]: the answers where all keys that a query may see have the same weight."""

        def new(_: int, weights: Tensor, movable: Tensor) -> Tensor:
            return equal_weights(weights, movable)

        return self._answers(self._logits(lambda rows: place.change(rows, new)))

    def with_permuted(self, place: LayerPlace, draw: int, seed: int) -> Tensor:
        """[text class]: the answers where the weights of each query change places, those of each head by themselves."""

        def of_pack(rows: Sequence[Row]) -> ChangeAttention:
            def new(block: int, weights: Tensor, movable: Tensor) -> Tensor:
                noise = _noise(rows, block, weights.shape, seed, draw)
                return shuffled_weights(weights, movable, noise.to(weights.device))

            return place.change(rows, new)

        return self._answers(self._logits(of_pack))

    def with_another_texts(self, place: LayerPlace) -> Tensor:
        """[text class]: the answers with the weights of the donors; nan of a text without, and of a model whose rows of
        unequal length must not share a pass: donors run beside the texts, so one block's weights are in memory at once.
        """
        lacks = torch.tensor([donor is None for donor in self.donors])
        if lacks.all() or packing_of(self.model, self.windows[0], self.scheduler.tokens) != "padded":
            return torch.full_like(self.own_answers, torch.nan)

        def of_pack(rows: Sequence[Row]) -> ChangeAttention:
            own_rows, beside = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            lengths, wanted = ([len(row) for row in some] for some in (beside, own_rows))

            def new(_: int, weights: Tensor, movable: Tensor) -> Tensor:
                own_weights, others = weights.chunk(2)
                return weights_from(resampled(others, lengths, wanted, weights.shape[-1]), own_weights, movable)

            return place.change(own_rows, new)

        beside = [donor or row for row, donor in zip(self.windows[0], self.donors, strict=True)]
        logits = self._logits(of_pack, beside)
        logits[lacks] = torch.nan
        return self._answers(logits)

    def _logits(
        self, of_pack: Callable[[Sequence[Row]], ChangeAttention], beside: Sequence[Row] | None = None
    ) -> Tensor:
        """[row logit]: under what `of_pack` makes of the rows of a pass. beside: [row], rows that run after those of a
        pass.
        """
        rows, _ = self.windows
        logits: dict[int, Tensor] = {}

        def run(pack: list[int]) -> None:
            together = [some[index] for some in (rows, beside) if some is not None for index in pack]
            with torch.no_grad():
                trace = self.model.trace(together, Want(change_attention=of_pack(together)))
            logits.update(zip(pack, trace.logits[: len(pack)].double().cpu(), strict=True))

        with torch.inference_mode(False):
            for pack in self.scheduler.packs_of(rows):
                self.scheduler.halving(pack, run)
        return torch.stack([logits[index] for index in range(len(rows))])

    def _answers(self, logits: Tensor) -> Tensor:
        """[row logit] -> [text class]: the probabilities of each text, whose logits are the mean of its windows'."""
        owners = torch.tensor(self.windows[1])
        means = torch.stack([logits[owners == text].mean(0) for text in range(len(self))])
        return class_probabilities(means, self.model.problem)

    @cached_property
    def explained(self) -> Mapping[str, list[Explanation]]:
        """Reading or method -> an explanation of each text; and "chance", with a row a draw."""
        calls = method_calls([*READINGS.values(), *self.methods, RANDOM_ORDERS], self.model)
        request = Request(self.model, calls, Target("predicted", "probability"), self.seed)
        explained = explain_batch(request, self.batch, self.scheduler, silent)
        by_name = dict(zip([*READINGS, *self.methods, "chance"], explained.values(), strict=True))
        return by_name | {name: [_in_steps(text) for text in by_name[name]] for name in READINGS}

    def readings(self, text: int) -> dict[str, list[WordReading]]:
        """Reading -> the text's words by it; and "random order": one for each of chance's draws."""
        scored = {method: _words(self.explained[method][text]) for method in self.methods}
        rankings = {name: [_words(self.explained[name][text])] for name in READINGS}
        chance = self.explained["chance"][text]
        rankings["random order"] = [_words(chance.row(label)) for label in chance.rows[0][1]]
        return {name: [_reading(weights, scored) for weights in draws] for name, draws in rankings.items()}


STEP = 1e-5  # of a text's largest weight


def _in_steps(explanation: Explanation) -> Explanation:
    """The explanation whose scores differ by more than rounding or not at all, so that equal weights make no order.

    Steps are powers of two, whose sums over the pieces of a word are exact.
    """
    largest = float(np.abs(explanation.scores).max(initial=0.0))
    if not largest > 0:
        return explanation
    step = 2.0 ** math.floor(math.log2(largest * STEP))
    return replace(explanation, scores=(np.round(explanation.scores / step) * step).astype(explanation.scores.dtype))


def _reading(weights: np.ndarray, scored: Mapping[str, np.ndarray]) -> WordReading:
    return WordReading({method: (weights, scores) for method, scores in scored.items()})


def _words(explanation: Explanation) -> np.ndarray:
    """[word]: the scores of a text's words, without special tokens."""
    segments = explanation.example.segments
    words, scores = coarser(explanation.units, explanation.scores.astype(np.float64), "word", segments)
    assert not isinstance(words, Spans)  # words of a text
    return scores[list(words.content)]
