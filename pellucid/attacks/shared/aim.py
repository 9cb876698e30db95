"""Which number of the model's answer an attack moves, and which way."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pellucid.core.passes.target import Target
from pellucid.core.results.prediction import Prediction


@dataclass(frozen=True)
class Aim:
    """target: what an order explains. way: whether the number shall fall, rise, or move either way."""

    target: Target
    way: Literal["down", "up", "either"]

    def column(self, answer: Prediction) -> int:
        """Which of the probabilities the target is, for a text with this answer."""
        of = self.target.of
        if isinstance(of, int):
            return of
        return answer.labels.index(answer.label if of == "predicted" else str(of))

    def first_edited(self, scores: np.ndarray) -> np.ndarray:
        """[unit] scores of the target -> [unit]: the same, with the units first that an attack should edit first."""
        if self.way == "either":
            return np.asarray(np.where(np.isfinite(scores), np.abs(scores), scores))
        return scores if self.way == "down" else np.asarray(np.where(np.isfinite(scores), -scores, scores))

    def gain(self, rise: float) -> float:
        """How far a rise of the number brings an answer nearer to the goal, to first order; minus infinity stays."""
        if not np.isfinite(rise):
            return rise
        return abs(rise) if self.way == "either" else (rise if self.way == "up" else -rise)


PREDICTED_FALLS = Aim(Target("predicted", "probability"), "down")
