"""What a metric judges: explained examples under one model, and the model's predictions for edited texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.errors import BadInput
from pellucid.results.explanation import Explanation
from pellucid.run.batch import Batch, Operator, Row
from pellucid.run.model import WRITING, Model
from pellucid.run.predicting import refuse_infinite
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.target import Problem, class_logits, class_probabilities
from pellucid.text.example import Example, Rationale, marked
from pellucid.text.ranges import contents_of, tied_orders
from pellucid.text.units import KINDS, Kind, Units

Reference = Literal["gold", "prediction"]


@dataclass(frozen=True)
class Judged:
    """What a metric returns: one value an example, or several columns to combine; nan where an example is not judged.

    columns: [example column]. combine: how the means of the columns become the metric's number: "mean" (of one column),
    or "f1" (two columns, precision and recall: the F1 of their means). curve: [example point], heights over grid
    [point].
    """

    columns: np.ndarray
    combine: Literal["mean", "f1"] = "mean"
    curve: np.ndarray | None = None
    grid: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """Examples of one batch with one explanation each (one row of scores), under one model.

    marked_share: the mean share of marked words over all examples of the comparison that this case is a part of; None:
    over its own examples. _views, _orders, _pieces: caches, filled as metrics read them.
    """

    model: Model
    batch: Batch
    explanations: Sequence[Explanation]
    scheduler: Scheduler = field(repr=False)
    marked_share: float | None = None
    _views: dict[Kind, list[Explanation]] = field(init=False, repr=False, default_factory=dict)
    _orders: dict[Kind, list[list[list[int]]]] = field(init=False, repr=False, default_factory=dict)
    _pieces: dict[tuple[Kind, int], tuple[tuple[int, ...], ...]] = field(init=False, repr=False, default_factory=dict)

    def __len__(self) -> int:
        return len(self.batch)

    def scores(self, unit: Kind) -> list[np.ndarray]:
        """For each example [unit]: the scores of its text's units, without special tokens."""
        return [np.array(view.scores[..., ~view.special]) for view in self.views(unit)]

    def views(self, unit: Kind) -> list[Explanation]:
        """For each example its explanation by this kind of unit, computed once for all metrics."""
        one_of("unit", unit, KINDS)
        if unit not in self._views:
            self._views[unit] = [explanation.view(unit) for explanation in self.explanations]
        return self._views[unit]

    def segments(self, unit: Kind) -> list[np.ndarray]:
        """For each example [unit]: the number of the segment that each unit is in, without special tokens."""
        return [np.array(view.units.segment)[~view.special] for view in self.views(unit)]  # type: ignore[union-attr]

    def orders(self, unit: Kind) -> list[list[list[int]]]:
        """For each example its orders of its text's units by number, highest score first: one, or several where scores
        are equal.

        What a metric makes of an order is averaged over them, so that no reading order decides (`text/ranges.py`). Of a
        model that writes, the units of what it has read: what it is to write stays.
        """
        scored = zip(self.views(unit), self.scores(unit), strict=True)  # refuses what is no unit
        if unit not in self._orders:
            self._orders[unit] = [self._orders_of(*pair) for pair in scored]
        return self._orders[unit]

    def _orders_of(self, view: Explanation, scores: np.ndarray) -> list[list[int]]:
        assert isinstance(view.units, Units)  # views of text units are never spans
        segments = np.array(view.units.segment)[~view.special]
        numbers = np.flatnonzero((segments == 0) | (WRITING not in self.model.capabilities))
        contents = contents_of(view.units)
        orders = tied_orders(scores[numbers], [contents[unit] for unit in numbers])
        return [numbers[order].tolist() for order in orders]

    def without(self, example: int, removed: Sequence[int], unit: Kind, operator: Operator) -> Row:
        """The example's row with these units of its text removed by the operator."""
        if (unit, example) not in self._pieces:
            self._pieces[unit, example] = self.batch.pieces_of(example, unit)
        pieces = self._pieces[unit, example]
        return self.batch.edited(example, [piece for unit_index in removed for piece in pieces[unit_index]], operator)

    def probabilities(self, variants: Sequence[Sequence[Row]]) -> list[np.ndarray]:
        """For each example [variant class]: the model's probabilities for edited rows, each computed once.

        Of a model that gives a value, that value, in its own unit. Of a model that writes one number, the geometric
        mean of the probabilities of the pieces that it writes: that of a whole text is next to nothing, and falls by
        next to nothing.
        """
        if WRITING in self.model.capabilities:
            counts = [sum(id >= 0 for id in rows[0].written) for rows in variants]
            pairs = zip(self._logits(variants), counts, strict=True)
            return [(logits / count).exp().numpy() for logits, count in pairs]
        return [class_answers(logits, self.model.problem).numpy() for logits in self._logits(variants)]

    def predictions(self, variants: Sequence[Sequence[Row]]) -> list[np.ndarray]:
        """For each example [variant]: the class that the model predicts for edited rows, each computed once."""
        return [class_logits(logits, self.model.problem).argmax(-1).numpy() for logits in self._logits(variants)]

    def _logits(self, variants: Sequence[Sequence[Row]]) -> list[Tensor]:
        flat = [row for rows in variants for row in rows]
        logits = evaluate_rows(self.model, self.scheduler, flat).double()
        sizes = [len(rows) for rows in variants]
        owners = [example for example, size in zip(self.batch.examples, sizes, strict=True) for _ in range(size)]
        refuse_infinite(logits, owners, self.model, "with units taken out; try another operator")
        return list(logits.split(sizes))

    def classes(self, reference: Reference) -> list[int]:
        """For each example: the number of its gold class, or of the class that the model predicts for the whole
        text.
        """
        if reference == "prediction":
            labels = list(self.model.labels)
            return [labels.index(explanation.prediction.label) for explanation in self.explanations]
        return gold_classes(self.batch.examples, self.model.labels)

    def explained_classes(self) -> list[int]:
        """For each example: the number of the class that its explanation explains; of a model that writes 0, the
        text.
        """
        if WRITING in self.model.capabilities:
            return [0] * len(self)
        return [list(self.model.labels).index(explanation.target.label) for explanation in self.explanations]

    def decoys(self, unit: Kind) -> list[np.ndarray | None]:
        """For each example [unit] bool: True where the unit is a planted decoy; None where there is none."""
        return [decoy_units(view) for view in self.views(unit)]

    def rationales(self, unit: Kind) -> list[np.ndarray | None]:
        """For each example [unit] bool: True where a person marked the unit; None where nothing is marked."""
        return [marked_units(view) for view in self.views(unit)]


def class_answers(logits: Tensor, problem: Problem) -> Tensor:
    """[..., logit] -> [..., class]: what falls when words are taken out, probabilities or the value itself."""
    return logits if problem == "regression" else class_probabilities(logits, problem)


def gold_classes(examples: Sequence[Example], labels: Sequence[str]) -> list[int]:
    """For each example its label's number; raises `BadInput` where a label is not a class of the model."""
    missing = [example.id for example in examples if example.label not in labels]
    if missing:
        raise BadInput(
            f"{len(missing)} examples (first: {missing[0]!r}) have no label among {', '.join(labels)}, by which they "
            f"are judged; give labelled texts, or reference='prediction' to a metric that takes it."
        )
    return [labels.index(example.label or "") for example in examples]


def marked_units(view: Explanation) -> np.ndarray | None:
    """[unit] bool over a view's text units: True where one overlaps a person's mark; None without marks."""
    assert isinstance(view.units, Units)  # views of text units are never spans
    return marked(view.units, view.example.rationales)


def decoy_units(view: Explanation) -> np.ndarray | None:
    """[unit] bool over a view's text units: True where one overlaps a decoy of `meta["distractors"]`; None without
    any.
    """
    assert isinstance(view.units, Units)  # views of text units are never spans
    return marked(view.units, [Rationale(*mark) for mark in view.example.meta.get("distractors", ())])
