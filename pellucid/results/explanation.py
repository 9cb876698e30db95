"""The explanation of one text: raw, signed scores, the model's answer, and everything that is needed to judge and
repeat them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, isclose
from typing import TYPE_CHECKING

import numpy as np

from pellucid.base.checks import shortened
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import renderers
from pellucid.results.unit_scores import RowAxis as RowAxis
from pellucid.results.unit_scores import Scored as Scored
from pellucid.results.unit_scores import UnitScores
from pellucid.text.example import Example
from pellucid.text.label_map import ON
from pellucid.text.passages import place_of
from pellucid.text.units import Spans, Units

WRITTEN = "log-probability"  # what is explained of words that a model writes
NO_CLASS = "none"  # what is written for an answer without a class
UNSURE = 0.2  # two classes of which one has 0.6 or more are further apart


@dataclass(frozen=True, repr=False)
class Prediction:
    """The model's prediction: its highest class, its logits, and one probability a class (none for a regression)."""

    label: str
    labels: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """The predicted class's probability."""
        return self.probabilities[self.labels.index(self.label)] if self.probabilities else float("nan")

    @property
    def gives_several(self) -> bool:
        """Whether a text can have several of the classes, or none: each probability then follows from its own logit
        alone.

        Where all classes tie, both ways of computing can give the same numbers; then it is False.
        """
        if not len(self.logits) == len(self.probabilities) > 1:
            return False
        return _same(self.probabilities, map(_sigmoid, self.logits)) and not _same(
            self.probabilities, _softmax(self.logits)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The classes of the answer: the highest one, or, where a text can have several, all with a probability of ½ or
        more.
        """
        if not self.gives_several:
            return (self.label,)
        pairs = zip(self.labels, self.probabilities, strict=True)
        return tuple(label for label, probability in pairs if probability >= ON)

    @property
    def is_unsure(self) -> bool:
        """Whether the two likeliest classes are less than 0.2 apart; False where there are no probabilities."""
        best = sorted(self.probabilities)[-2:]
        return len(best) == 2 and best[1] - best[0] < UNSURE

    def __repr__(self) -> str:
        return f"<Prediction {answer(self)}>"


def answer(prediction: Prediction) -> str:
    """The predicted class and its probability, in two words; of several classes all, each with its own."""
    if prediction.gives_several:
        pairs = zip(prediction.labels, prediction.probabilities, strict=True)
        return ", ".join(f"{label} {chance:.2f}" for label, chance in pairs if chance >= ON) or NO_CLASS
    chance = f" {prediction.probability:.2f}" if prediction.probabilities else ""
    return f"{prediction.label}{chance}"


def _same(numbers: Iterable[float], others: Iterable[float]) -> bool:
    return all(isclose(value, other_value, rel_tol=1e-9) for value, other_value in zip(numbers, others, strict=True))


def _softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    powers = [exp(logit - highest) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit))


@dataclass(frozen=True)
class Explained:
    """The explained value: of which class (against which other, or None), which output, and its number.

    of_rows: where each row of the scores' first axis explains a label of its own, the number of each; else empty.
    """

    label: str
    against: str | None
    output: str
    value: float
    of_rows: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.output} of {self.label}" + (f" against {self.against}" if self.against else "")


if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(UnitScores):
    """One text's explanation by one method; its views (`words`, `top`, ...), which are those of
    `UnitScores`, return new objects and never change it.

    example: the text. units: what scores belong to, special tokens among them. scores: [*rows, unit] in float32, raw,
    signed, never normalised. target: what is explained. prediction: the model's answer. method, settings, seed: how;
    settings are all of the method's. model, model_hash: its name and the digest of its weights. rows: kind and labels
    of each leading axis (layer, head, draw), outermost first. diagnostics: how far the scores can be believed, as
    numbers; caveats: as sentences. row_diagnostics, row_caveats: the same for each label of the first axis by itself,
    or empty. of_row: which row of several this is, as (kind, label), outermost first. Raises `BadSetting` for scores of
    another shape.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> explanation = pellucid.explain(model, "A good film.")[0]
    >>> explanation
    <Explanation 'A good film.' positive 0.90 by occlusion>
    >>> len(explanation), dict(explanation)["film"]
    (4, 0.0)
    """

    example: Example
    units: Units | Spans
    scores: np.ndarray
    target: Explained
    prediction: Prediction
    method: str
    settings: Mapping[str, object]
    seed: int
    model: str
    model_hash: str
    rows: tuple[RowAxis, ...] = ()
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    row_diagnostics: tuple[Mapping[str, float], ...] = ()
    row_caveats: tuple[tuple[str, ...], ...] = ()
    of_row: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=np.float32)
        expected = (*(len(labels) for _, labels in self.rows), len(self.units))
        if scores.shape != expected:
            raise BadSetting(f"Scores of shape {scores.shape} do not fit rows and units of shape {expected}.")
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        names = self.__dataclass_fields__.keys() - {"scores"}
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and self.scores.tobytes() == other.scores.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        place = place_of(self.example)
        subject = "" if place is None or place.text == self.prediction.label else f"{place.text!r} "
        return f"<Explanation {shortened(self.example.text)!r} {subject}{answer(self.prediction)} by {self.method}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return self.to_html()

    def to_html(self) -> str:
        """The fragment of HTML that a notebook draws, with its own style sheet.

        >>> "good" in explanation.to_html()
        True
        """
        return renderers.get("notebook_html").make(self)

    def to_svg(self) -> str:
        """A picture of the text on a background that shows each word's score, as SVG.

        >>> explanation.to_svg().startswith("<svg")
        True
        """
        return renderers.get("text_svg").make(self)

    def plot(self) -> "Figure":
        """The text as a figure of matplotlib, which the extra `plot` installs; `pellucid.figure` writes it to a file.

        >>> explanation.plot().savefig("text.png")
        """
        return renderers.get("text_figure").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_text").make(self)

    @property
    def is_of_written(self) -> bool:
        """Whether the model writes, and the last text is what it wrote."""
        return self.target.output == WRITTEN or self.prediction.labels == (self.example.segments[-1],)

    @property
    def predicted_value(self) -> float | None:
        """The number that a regression model gives the text; None of a model with classes, and of one that writes."""
        prediction = self.prediction
        is_value = len(prediction.logits) == 1 and not prediction.probabilities and not self.is_of_written
        return prediction.logits[0] if is_value else None

    @property
    def answer(self) -> str | float:
        """What the model answers: the class, several with commas between them, or a value."""
        value = self.predicted_value
        return ", ".join(self.prediction.names) if value is None else value

    @property
    def is_correct(self) -> bool | None:
        """Whether the prediction is the label; None where the label is none of the model's classes, or there is none.

        None too where a text can have several classes, and for a value: an answer is then not simply right or wrong.
        """
        label, prediction = self.example.label, self.prediction
        if label not in prediction.labels or prediction.gives_several or self.predicted_value is not None:
            return None
        return label == prediction.label
