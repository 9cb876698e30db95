"""One label of a text that can have several is switched."""

import numpy as np

from pellucid.attacks.shared.aim import Aim
from pellucid.core.foundation.checks import known
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.passes.target import Target
from pellucid.core.results.prediction import Prediction
from pellucid.core.text.label_map import ON


@attack_goals.add("label", problems=frozenset({"multi_label"}))
class Label:
    """A label that the text has goes, or one that it has not comes. Nearness is the probability of the other state."""

    def __init__(self, answer: Prediction, start: np.ndarray, *, label: str) -> None:
        """label: its name; a text has it from a probability of one half. Raises `UnknownName` for one that the model does not have."""
        known("label of the model", label, answer.labels)
        self.number = answer.labels.index(label)
        self.is_on = bool(start[self.number] >= ON)
        self.aim = Aim(Target(self.number, "probability"), "down" if self.is_on else "up")

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: 0 to 1."""
        chances = answers[:, self.number]
        return np.asarray(1 - chances if self.is_on else chances)

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.asarray((answers[:, self.number] >= ON) != self.is_on)
