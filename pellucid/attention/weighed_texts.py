"""Texts as a model that weighs their units reads them: weights, unit logits and states, from one forward pass.

The head is linear and the weights sum to 1, so the logits under any other weights are the weighted sum of the unit
logits. A text that is read in windows has the mean of its windows' logits: each window's weights are divided by the
number of windows, and what stands in two windows counts as two units.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor

from pellucid.base.errors import ModelCannot, ParityBroken
from pellucid.base.kinds import attention_tests
from pellucid.results.bootstrap import bootstrap_interval, percentile_interval, resampled_means
from pellucid.results.side_by_side import tau_b
from pellucid.results.table import Interval
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.readout import total_variation
from pellucid.run.rounding import tolerance
from pellucid.run.stitching import joined_units
from pellucid.run.windows import in_windows
from pellucid.text.example import Example
from pellucid.text.units import Spans, Units, coarsen

ROUNDING = 1e-3  # of the logits' size
Ranking = tuple[np.ndarray, np.ndarray]  # [word] each: a word's weight, and its score by a method


@dataclass(frozen=True, eq=False)
class WeighedText:
    """One text. weights: [unit], 0 or more, their sum is 1. unit_logits: [unit class]. label: its class, or None.

    Both are in double precision. row: its pieces, which seed random draws. states: [unit width], what the weights
    weigh. units: those of the whole text, spans for a model that weighs spans; numbers: [unit], which of them each is.
    user_weights: [unit], weights that the user gives. rankings: method -> the words' weights and its scores.
    """

    weights: Tensor
    unit_logits: Tensor
    label: int | None
    row: Row
    states: Tensor | None = None
    units: Units | Spans | None = None
    numbers: np.ndarray | None = None
    user_weights: Tensor | None = None
    rankings: Mapping[str, Ranking] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.weights)

    def logits(self, weights: Tensor) -> Tensor:
        """[draw unit] -> [draw class]: what the model answers with these weights in place of its own."""
        return weights.to(self.unit_logits) @ self.unit_logits

    @property
    def predicted(self) -> int:
        """The class that the model answers."""
        return int(self.logits(self.weights[None])[0].argmax())


@dataclass(frozen=True, eq=False)
class WeighedRow:
    """What a model reads at once: weights [unit], logits [unit class], states [unit width], and the units, special ones
    among them.
    """

    weights: Tensor
    logits: Tensor
    states: Tensor
    units: Units | Spans


WeighRows = Callable[[Model, Batch], list[WeighedRow]]  # of a batch whose rows the model reads at once


def weighed_texts(model: Model, examples: Sequence[Example], weigh: WeighRows | None = None) -> list[WeighedText]:
    """The texts in their order, by one forward pass; raises `ModelCannot` for a model without weights.

    weigh: how rows are read, for a model whose weights are not those of units.
    """
    whole = model.encode(examples)
    batch, owners = in_windows(whole)
    rows = (weigh or unit_rows)(model, batch)
    windows: list[list[WeighedRow]] = [[] for _ in examples]
    for row, owner in zip(rows, owners, strict=True):
        windows[owner].append(row)
    return [_joined(model, window, whole, index) for index, window in enumerate(windows)]


def unit_rows(model: Model, batch: Batch) -> list[WeighedRow]:
    """The rows of a model that weighs words or pieces."""
    if "unit_weights" not in model.capabilities:
        raise ModelCannot(
            f"{model.name} has no weights of units, which tests of attention change; train a model with "
            f"pooler='additive' or pooler='dot', or judge methods with compare."
        )
    rows: dict[int, WeighedRow] = {}
    for pack in scheduler_for(model).packs_of(batch.rows):
        trace = model.trace([batch.rows[index] for index in pack])
        units = trace.units
        assert units is not None  # the capability was checked
        columns = zip(pack, units.runs, units.weights, units.logits, units.states, trace.logits, strict=True)
        for index, runs, weights, logits, states, answer in columns:
            real = runs >= 0
            plain = partial(_plain, real)
            parts = coarsen(batch.units[index], units.unit, batch.examples[index].segments)[0]  # type: ignore[arg-type]
            rows[index] = WeighedRow(plain(weights), plain(logits), states[real].detach().cpu(), parts)
            check_sum(model, rows[index], answer)
    return [rows[index] for index in range(len(batch))]


def check_sum(model: Model, row: WeighedRow, answer: Tensor) -> None:
    """Raise `ParityBroken` where the weighted unit logits are not the model's own logits [class]."""
    own_logits = answer.detach().double().cpu()
    gap = float((row.weights @ row.logits - own_logits).abs().max()) if len(row.weights) else 0.0
    if not gap <= max(ROUNDING, tolerance(model, answer.dtype)) * max(1.0, float(own_logits.abs().max())):
        raise ParityBroken(
            f"The weighted logits of a text's units differ from the model's by {gap:.2g}; its weights cannot be "
            f"tested. Please report this with the model."
        )


def _plain(real: Tensor, values: Tensor) -> Tensor:
    return values[real].detach().double().cpu()


def _joined(model: Model, rows: Sequence[WeighedRow], batch: Batch, text_index: int) -> WeighedText:
    """One text of its windows, each with its share of the weight. text_index: its number in the batch of whole ones."""
    example, label = batch.examples[text_index], batch.examples[text_index].label
    if len(rows) == 1:
        units, numbers = rows[0].units, [np.arange(len(rows[0].units))]
    else:
        units, numbers = joined_units([row.units for row in rows], batch.units[text_index], example)
    window_units = [
        which[list(row.units.content)][: len(row.weights)] for row, which in zip(rows, numbers, strict=True)
    ]
    return WeighedText(
        torch.cat([row.weights for row in rows]) / len(rows),
        torch.cat([row.logits for row in rows]),
        model.labels.index(label) if label in model.labels else None,
        batch.rows[text_index],
        torch.cat([row.states for row in rows]),
        units,
        np.concatenate(window_units),
    )


def right_answers(text: WeighedText, weights: Tensor) -> Tensor:
    """[draw unit] -> [draw]: 1 where the answer with these weights is the label, else 0; nan without a label."""
    if text.label is None:
        return torch.full((len(weights),), torch.nan, dtype=torch.float64)
    return (text.logits(weights).argmax(-1) == text.label).double()


def fall_of_right_answers(text: WeighedText, weights: Tensor) -> Tensor:
    """[draw unit] -> [draw]: right with the model's own weights less right with these; -1, 0 or 1, nan without a
    label.
    """
    return right_answers(text, text.weights[None]) - right_answers(text, weights)


def changes_of_answer(text: WeighedText, weights: Tensor) -> Tensor:
    """[draw unit] -> [draw]: total variation distance of the answer with these weights from the model's own, 0 to 1."""
    own_answer = text.logits(text.weights[None]).softmax(-1)
    return total_variation(text.logits(weights).softmax(-1), own_answer)


def permutations(text: WeighedText, count: int, seed: int, name: str) -> Tensor:
    """[draw unit]: the text's weights in random orders, drawn from its pieces and the seed; name: of the test that
    draws.
    """
    generator = generator_for(text.row, name, seed)
    # Sorted noise: a hundred calls of randperm took as long as a text's share of the forward pass.
    return text.weights[torch.rand(count, len(text), generator=generator, dtype=torch.float64).argsort(1)]


# Whether a text's weights rank its words as a method's scores do.


@dataclass(frozen=True)
class WordReading:
    """One text's words by one reading of a transformer's weights, such as rollout. rankings: as of `WeighedText`."""

    rankings: Mapping[str, Ranking]


def kendall_tau(text: WeighedText | WordReading, method: str) -> Tensor:
    """[1]: tau-b of the words' weights and the sizes of their scores, -1 to 1; nan where either is constant."""
    weights, scores = text.rankings[method]
    return torch.tensor([tau_b(weights, np.abs(scores))], dtype=torch.float64)


# What a test of attention over a whole corpus reads, and the lines that it returns.


@dataclass(frozen=True)
class AttentionCorpus:
    """seed: of its draws. imitator: lambda -> a model that is trained to imitate this one; None where nothing is
    trained.
    """

    model: Model
    examples: tuple[Example, ...]
    seed: int
    imitator: Callable[[float], Model] | None = None


@dataclass(frozen=True)
class CorpusLine:
    """One number. part: its name among the test's lines. n: how many texts, or other things, were counted.

    at: where it stands on a curve, nan elsewhere. meaning: what it says, "" for what the test's registration says.
    directed: False for a number to compare others with, of which neither more nor less speaks for the weights.
    """

    part: str
    value: Interval
    n: int
    at: float = math.nan
    meaning: str = ""
    directed: bool = True


# What a test of attention says of a model: the mean over texts with its interval, and the deviation of random draws.

FEWEST = 2  # units: the weight of a single one is 1 whatever is done to it
RESAMPLES = 2000


@dataclass(frozen=True)
class AttentionOutcome:
    """value: mean and 95 % bootstrap interval over texts. deviation: of the mean from draw to draw; nan of a test
    without draws.

    n_texts: how many texts were judged. too_short: texts of fewer than two units. unlabelled: texts that lack what the
    test needs, such as a label of the model. Both are left out.
    """

    value: Interval
    deviation: float
    n_texts: int
    too_short: int
    unlabelled: int


def attention_outcome(
    name: str, texts: Sequence[WeighedText], settings: Mapping[str, object] | None = None
) -> AttentionOutcome:
    """One registered test on these texts; raises `UnknownName` and `BadSetting` as every catalogue does."""
    entry = attention_tests.get(name)
    call = entry.settings(dict(settings or {}))
    values = [entry.make(text, **call).tolist() if len(text) >= FEWEST else [] for text in texts]
    return outcome_of(values, [len(text) for text in texts], str(entry.facts["average"]))


def outcome_of(values: Sequence[Sequence[float]], sizes: Sequence[int], average: str = "texts") -> AttentionOutcome:
    """values: a text's [draw], empty where it is too short, nan where it lacks something. sizes: its units.

    average: "texts", or "units": then a text counts as often as it has units.
    """
    long = [(np.array(draws), size) for draws, size in zip(values, sizes, strict=True) if len(draws)]
    judged = [(draws, size) for draws, size in long if not np.isnan(draws).any()]
    means = np.array([draws.mean() for draws, _ in judged])
    deviation = math.nan
    if judged and len(judged[0][0]) > 1:
        deviation = float(np.stack([draws for draws, _ in judged]).mean(0).std(ddof=1))
    by_unit = average == "units" and len(judged) > 0
    interval = (
        _interval_by_unit(means, np.array([size for _, size in judged])) if by_unit else bootstrap_interval(means)
    )
    return AttentionOutcome(interval, deviation, len(judged), len(values) - len(long), len(long) - len(judged))


def _interval_by_unit(means: np.ndarray, sizes: np.ndarray) -> Interval:
    """The mean over units, from the means of texts; texts are resampled whole."""
    columns = np.stack([means * sizes, sizes], 1).astype(float)
    resampled = resampled_means(columns, RESAMPLES, 0)
    estimate = float(columns[:, 0].sum() / columns[:, 1].sum())
    return percentile_interval(estimate, resampled[:, 0] / resampled[:, 1], len(means))
