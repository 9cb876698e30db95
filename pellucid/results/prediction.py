"""What the model answered, and which number of its answer is explained."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, isclose

from pellucid.text.label_map import ON

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
        """Whether a text can have several of the classes, or none: each probability then follows from its own logit alone.

        Where all classes tie, both ways of computing can give the same numbers; then it is False.
        """
        if not len(self.logits) == len(self.probabilities) > 1:
            return False
        return _same(self.probabilities, map(_sigmoid, self.logits)) and not _same(
            self.probabilities, _softmax(self.logits)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The classes of the answer: the highest one, or, where a text can have several, all with a probability of ½ or more."""
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
    return all(isclose(one, other, rel_tol=1e-9) for one, other in zip(numbers, others, strict=True))


def _softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    powers = [exp(logit - highest) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit))


@dataclass(frozen=True)
class Explained:
    """The explained value: of which class (against which other, or None), which output, and its number."""

    label: str
    against: str | None
    output: str
    value: float

    def __str__(self) -> str:
        return f"{self.output} of {self.label}" + (f" against {self.against}" if self.against else "")
