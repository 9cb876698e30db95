"""What a check is given: a comparison's texts and scores, the model, and, where they came, twins and other things it
needs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from pellucid.base.catalogue import Call
from pellucid.base.processes import Progress, silent
from pellucid.comparison.scored_text import Explained, ScoredText, joined, scored_text
from pellucid.results.bootstrap import bootstrap_interval, judged_rows
from pellucid.results.interval import CheckLine, Curve, Interval
from pellucid.run.explaining import Request, explain_batch
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Target
from pellucid.text.example import Example

# What a check returns, and how it makes lines from values a text.


@dataclass(frozen=True)
class Findings:
    """lines, curves: as in `CheckOutcome`. notes: what could not be judged, in sentences."""

    lines: Sequence[CheckLine]
    curves: Sequence[Curve] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class TextIntervals:
    """How intervals are drawn, the same for all lines of a comparison."""

    resamples: int
    seed: int

    def interval(self, values: Sequence[float] | np.ndarray) -> Interval:
        """The mean of values [text] with its interval over texts; nan where a text is not judged."""
        return bootstrap_interval(np.asarray(values, dtype=np.float64), resamples=self.resamples, seed=self.seed)

    def line(self, method: str, measure: str, values: Sequence[float] | np.ndarray, beside: str = "") -> CheckLine:
        """A line from one value a text; nan where a text is not judged."""
        rows = judged_rows(np.asarray(values, dtype=np.float64))
        return CheckLine(method, measure, self.interval(values), len(rows), beside)


def judged_lines(lines: Sequence[CheckLine], *, below: float) -> list[CheckLine]:
    """The lines, each passed where its whole interval lies below a limit and failed where it lies at or above."""
    return [replace(line, passed=is_below(line.value, below)) for line in lines]


def is_below(interval: Interval, limit: float) -> bool | None:
    """Whether an interval lies below a limit; None where it lies on both sides, or is not known."""
    if interval.high < limit:
        return True
    return False if interval.low >= limit else None


AT_ONCE = 16  # texts that are explained together
Corpus = Mapping[str, Sequence[ScoredText]]  # method's title -> the texts of another data set


class ModelChanges(Protocol):
    """Copies of a model that are changed in a known way; each raises `ModelCannot` where a model has no such copy."""

    def with_random_weights(self, model: Model, first: float, last: float, seed: int) -> Model:
        """The weights of the parts in this range, 0 at the head and 1 at the word vectors, in random order."""
        ...

    def with_shifted_vectors(self, model: Model, size: float, seed: int) -> Model:
        """All word vectors shifted, and the shift taken back before the network reads them."""
        ...

    def without_first_word(self, model: Model, examples: Sequence[Example]) -> tuple[Model, list[Example]]:
        """A model that cannot read the first word of a text, and the examples with such a word in front."""
        ...


Train = Callable[[Sequence[Example], str], Model]  # labelled texts, a name for its folder -> the model


@dataclass(frozen=True)
class CheckCase:
    """request: the model, methods, target and seed. explained: method's title -> one scored text an example.

    twins: name -> further training of the model. train: labelled texts, and trained: a model that is trained on texts
    as the model was. corpora: name -> explanations of another data set. changes: changed copies of models. metrics: of
    the comparison. folder: where its files are.
    """

    request: Request
    examples: tuple[Example, ...]
    explained: Explained
    intervals: TextIntervals
    changes: ModelChanges
    twins: Mapping[str, Model] = field(default_factory=dict)
    train: tuple[Example, ...] = ()
    trained: Train | None = None
    corpora: Mapping[str, Corpus] = field(default_factory=dict)
    metrics: Sequence[Call] = ()
    folder: Path | None = None
    progress: Progress = silent

    @property
    def model(self) -> Model:
        """The judged model."""
        return self.request.model

    @property
    def methods(self) -> tuple[str, ...]:
        """The titles of the methods, in order."""
        return tuple(call.title for call in self.request.calls)

    def facts(self, method: str) -> Mapping[str, object]:
        """What a method's file declares of it."""
        return next(call.entry.facts for call in self.request.calls if call.title == method)

    def needs(self, method: str) -> frozenset[str]:
        """The capabilities of a model that a method reads."""
        return next(call.entry.facts["needs"] for call in self.request.calls if call.title == method)

    def first(self, n_texts: int) -> "CheckCase":
        """The case of the first texts alone."""
        texts = {method: of_method[:n_texts] for method, of_method in self.explained.items()}
        return replace(self, examples=self.examples[:n_texts], explained=texts)

    def explain(
        self,
        model: Model | None = None,
        examples: Sequence[Example] | None = None,
        *,
        classes: Sequence[str] | None = None,
        seed: int | None = None,
        methods: Sequence[str] | None = None,
    ) -> Explained:
        """The same methods again: under another model, on other texts, with another seed.

        classes: what is explained of each text instead of the model's own answer, so that a changed model explains the
            same.
        methods: the titles of those that run; None: all.
        """
        request = replace(self.request, model=self.model if model is None else model)
        if seed is not None:
            request = replace(request, seed=seed)
        if methods is not None:
            request = replace(request, calls=[call for call in request.calls if call.title in methods])
        texts = self.examples if examples is None else examples
        numbers = self._class_numbers(request.model, len(texts), classes)
        return _explained(request, texts, numbers)

    def classes_explained(self) -> list[str]:
        """The model's own answer to each text."""
        return [text.predicted for text in next(iter(self.explained.values()))]

    def _class_numbers(self, model: Model, count: int, classes: Sequence[str] | None) -> list[int | None]:
        """For each text the number of the class that stands in place of the model's own answer; None: the target as it
        is.
        """
        target = self.request.target
        if classes is None or not isinstance(target, Target) or target.of != "predicted":
            return [None] * count
        return [model.labels.index(label) for label in classes]


def _explained(request: Request, examples: Sequence[Example], classes: Sequence[int | None]) -> Explained:
    """Text by text in order; texts of one class share passes."""
    titles = [call.title for call in request.calls]
    scheduler, parts, order = scheduler_for(request.model), [], []
    for class_number in sorted(set(classes), key=str):
        places = [place for place, text_class in enumerate(classes) if text_class == class_number]
        of_class = request if class_number is None else replace(request, target=_of_class(request, class_number))
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            batch = request.model.encode([examples[place] for place in some])
            explanations = explain_batch(of_class, batch, scheduler, silent)
            parts.append({title: list(map(scored_text, explanations[title])) for title in titles})
            order += some
            scheduler.forget()
    texts = joined(parts, titles)
    return {title: [text for _, text in sorted(zip(order, texts[title], strict=True), key=_place)] for title in titles}


def _of_class(request: Request, class_number: int) -> Target:
    assert isinstance(request.target, Target)  # `_class_numbers` asked
    return Target(class_number, request.target.output)


def _place(pair: tuple[int, ScoredText]) -> int:
    return pair[0]


# When a method passes a check. Each number stands here once, with its reason; none was fitted to a result.

# Kendall's tau between explanations of the trained model and of one whose weights, or labels, mean nothing. Unrelated
# rankings have 0 on average, and scores that ignore the model have 1. Scores may still follow what the text and the
# architecture alone give (a full stop's gradient is small in most networks), so 0 itself is not asked for. The middle
# is: nearer to "knows nothing of the model" than to "follows what it has learnt" fails.
RANDOMISED_TAU = 0.5

# The same after a part of the weights alone was randomised. The rest still carries what it learnt, so more may stay the
# same; but scores that hardly notice it (the order of one pair of words in twenty changes, tau .9) do not read that
# part.
PART_RANDOMISED_TAU = 0.9

# The share of a word that the model cannot read, times the number of words: 1 for a word of average weight, which is
# what scores give it that know nothing of it, 0 for exact ones. Sampling methods leave a rest that shrinks with their
# samples; half of an average word is more than a rest.
DEAD_SHARE = 0.5

# How far scores move when all word vectors are shifted and the shift is taken back before the network reads them, as a
# share of the scores. The function of the text is the same, so exact scores move by rounding alone; a twentieth leaves
# room for that in sixteen bits.
SHIFT_CHANGE = 0.05
