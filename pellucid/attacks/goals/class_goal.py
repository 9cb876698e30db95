"""A class that the user names."""

import numpy as np

from pellucid.core.foundation.checks import known
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.results.prediction import Prediction


@attack_goals.add("class")
class ClassGoal:
    """The model shall predict this class. Nearness is its probability."""

    def __init__(self, answer: Prediction, *, label: str) -> None:
        """Raises `UnknownName` for a class that the model does not have."""
        known("class of the model", label, answer.labels)
        self.label = answer.labels.index(label)

    def nearness(self, probabilities: np.ndarray) -> np.ndarray:
        """[text]: 0 to 1."""
        return np.asarray(probabilities[:, self.label])

    def reached(self, probabilities: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.asarray(probabilities.argmax(-1) == self.label)
