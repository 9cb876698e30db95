"""What the model answered, and which number of its answer is explained."""

from dataclasses import dataclass

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
    def is_unsure(self) -> bool:
        """Whether the two likeliest classes are less than 0.2 apart; False where there are no probabilities."""
        best = sorted(self.probabilities)[-2:]
        return len(best) == 2 and best[1] - best[0] < UNSURE

    def __repr__(self) -> str:
        return f"<Prediction {answer(self)}>"


def answer(prediction: Prediction) -> str:
    """The predicted class and its probability, in two words."""
    chance = f" {prediction.probability:.2f}" if prediction.probabilities else ""
    return f"{prediction.label}{chance}"


@dataclass(frozen=True)
class Explained:
    """The explained value: of which class (against which other, or None), which output, and its number."""

    label: str
    against: str | None
    output: str
    value: float

    def __str__(self) -> str:
        return f"{self.output} of {self.label}" + (f" against {self.against}" if self.against else "")
