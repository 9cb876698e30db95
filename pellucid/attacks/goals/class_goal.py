"""A class that the user names."""

import numpy as np

from pellucid.attacks.shared.aim import PREDICTED_FALLS
from pellucid.core.foundation.checks import known
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.results.prediction import Prediction


@attack_goals.add("class", problems=frozenset({"single_label", "one_logit"}))
class ClassGoal:
    """The model shall predict this class. Nearness is its probability."""

    aim = PREDICTED_FALLS

    def __init__(self, answer: Prediction, start: np.ndarray, *, label: str) -> None:
        """Raises `UnknownName` for a class that the model does not have."""
        known("class of the model", label, answer.labels)
        self.label = answer.labels.index(label)

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: 0 to 1."""
        return np.asarray(answers[:, self.label])

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.asarray(answers.argmax(-1) == self.label)
