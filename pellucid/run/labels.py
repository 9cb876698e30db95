"""Several labels of a text as the target: an explanation for each, from the same passes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from pellucid.base.catalogue import Call
from pellucid.base.checks import quoted
from pellucid.base.errors import BadSetting
from pellucid.results.explanation import Explained, Explanation
from pellucid.results.results import Results
from pellucid.run.batch import Row
from pellucid.run.forward_pass import ForwardPass, SharedPoints
from pellucid.run.model import Scores
from pellucid.run.readout import LOGITS, Readout, WindowAnswers
from pellucid.run.target import Output, Problem, ResolvedTarget, Target, class_probabilities
from pellucid.text.example import Example
from pellucid.text.label_map import ON

PREDICTED, ALL = "all predicted", "all"
LABEL = "label"  # the kind of their rows
NONE_LIKELY = "No label has a probability of {threshold:g} or more; the likeliest is explained."


@dataclass(frozen=True)
class Labels:
    """Several labels as the target: `explain(model, texts, target=Labels(threshold=0.3))`.

    which: "all predicted", the labels whose probability is at least the threshold, or the likeliest where none is;
        "all", every label of the model; or a list of names or numbers.
    threshold: 0 to 1. output: "logit", "probability" or "loss", as `explain` sets it.

    `explain` then returns an explanation for each label of each text, the likeliest first, or in the order of the list.
    Raises `BadSetting` for an empty list, a name twice, or a threshold that is no probability.

    >>> pellucid.Labels(["food", "transport"])
    Labels(which=('food', 'transport'), threshold=0.5)
    """

    which: str | Sequence[str | int] = PREDICTED
    threshold: float = ON
    output: Output = field(default="logit", repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.threshold, int | float) or not 0 <= self.threshold <= 1:
            raise BadSetting(f"threshold={quoted(self.threshold)} is no probability; give a number from 0 to 1.")
        if isinstance(self.which, str):
            if self.which not in (PREDICTED, ALL):
                raise BadSetting(
                    f"which={quoted(self.which)} is not possible; give 'all predicted', 'all' or a list of labels."
                )
            return
        names = tuple(self.which)
        for name in names:
            if isinstance(name, tuple):
                raise BadSetting(
                    f"{quoted(name)} is a pair, which is a target by itself; a list holds names of labels."
                )
            Target(name)  # raises for what names no class
        if not names or len(set(names)) < len(names):
            raise BadSetting(f"The labels {quoted(list(self.which))} are none, or one is there twice; name each once.")
        object.__setattr__(self, "which", names)

    def in_words(self, labels: Sequence[str]) -> str:
        """The target in words."""
        return "each label" if isinstance(self.which, str) else ", ".join(map(str, self.which))

    def resolve(
        self, examples: Sequence[Example], logits: Tensor, labels: Sequence[str], problem: Problem
    ) -> "ResolvedLabels":
        """The labels of each example, by the model's logits [example logit]."""
        if isinstance(self.which, tuple):
            named = [
                Target(name, self.output).resolve(examples, logits, labels, problem).classes for name in self.which
            ]
            return ResolvedLabels(tuple(zip(*named, strict=True)), self.output, problem)
        chances = class_probabilities(logits.double(), problem)
        return ResolvedLabels(tuple(tuple(self._likely(row)) for row in chances), self.output, problem)

    def _likely(self, chances: Tensor) -> list[int]:
        """The numbers of the labels [label], the likeliest first."""
        order = chances.argsort(descending=True, stable=True).tolist()
        if self.which == ALL:
            return order
        return [index for index in order if chances[index] >= self.threshold] or order[:1]


@dataclass(frozen=True)
class ResolvedLabels:
    """Several labels with the numbers of each example's; as `Explainable` it stands for each example's first one."""

    classes: tuple[tuple[int, ...], ...]
    output: Output
    problem: Problem
    windows: WindowAnswers | None = None

    @property
    def first(self) -> ResolvedTarget:
        """Each example's first label."""
        return self._at(0)

    def _at(self, rank: int) -> ResolvedTarget:
        """Each example's label of this rank; of one that has fewer labels, its first."""
        numbers = tuple(classes[rank if rank < len(classes) else 0] for classes in self.classes)
        return ResolvedTarget(numbers, None, self.output, self.problem, self.windows)

    def one_a_row(self) -> list[ResolvedTarget]:
        """The target of each rank; all of them share the points of a path."""
        shared = SharedPoints()
        targets = [replace(self._at(rank), shared_points=shared) for rank in range(max(map(len, self.classes)))]
        shared.targets = targets
        return targets

    @property
    def readout(self) -> Readout:
        """Reads the logits off a pass."""
        return LOGITS

    def values(self, logits: Tensor) -> Tensor:
        """[example logit] -> [example]: those of the first labels."""
        return self.first.values(logits)

    def values_of(self, example: int, logits: Tensor) -> Tensor:
        """[variant logit] -> [variant]: that of an example's first label."""
        return self.first.values_of(example, logits)

    def select(self, indices: Sequence[int]) -> "ResolvedLabels":
        """The target of these examples."""
        windows = None if self.windows is None else self.windows.select(indices)
        return replace(self, classes=tuple(self.classes[index] for index in indices), windows=windows)

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The first label's value, with that of each of the example's labels beside it."""
        every = [self._at(rank).explained(example, answer, labels) for rank in range(len(self.classes[example]))]
        return replace(every[0], of_rows=tuple(explained.value for explained in every))

    def pieces_read(self, rows: Sequence[Row]) -> None:
        """Those that the head reads."""
        return


def scores_of_labels(call: Call, forward: ForwardPass, target: ResolvedLabels) -> Scores:
    """A method's scores with a row for each label of each example; a method that is of no class runs once."""
    targets, counts = target.one_a_row(), [len(classes) for classes in target.classes]
    if call.entry.facts["of_class"]:
        of_rows = [call(forward, row) for row in targets]
    else:
        of_rows = [call(forward, target.first)] * len(targets)
    labels = forward.model.labels
    return Scores(
        tuple(torch.stack([scores.values[index] for scores in of_rows[:count]]) for index, count in enumerate(counts)),
        units=of_rows[0].units,
        of_rows=tuple(tuple(scores.facts(index) for scores in of_rows[:count]) for index, count in enumerate(counts)),
        rows_of=tuple(
            ((LABEL, tuple(labels[class_number] for class_number in classes)), *of_rows[0].rows)
            for classes in target.classes
        ),
    )


def by_label(results: Results, target: Labels) -> Results:
    """Each explanation with a row for each label as one explanation a label."""
    several = [list(_each_label(explanation, target)) for explanation in results]
    numbers = (place for place, of_text in zip(results.numbers, several, strict=True) for _ in of_text)
    flat = tuple(explanation for of_text in several for explanation in of_text)
    return Results(flat, numbers=tuple(numbers), failures=results.failures)


def _each_label(explanation: Explanation, target: Labels) -> Iterator[Explanation]:
    """An explanation for each row, with its own label and value."""
    labels, value_of = explanation.rows[0][1], explanation.target.of_rows
    below = (
        target.which == PREDICTED and len(labels) == 1 and max(explanation.prediction.probabilities) < target.threshold
    )
    caveats = (NONE_LIKELY.format(threshold=target.threshold),) if below else ()
    for label, value in zip(labels, value_of, strict=True):
        row = explanation.row(label)
        explained = Explained(label, None, explanation.target.output, value)
        yield replace(row, of_row=(), target=explained, caveats=(*row.caveats, *caveats))
