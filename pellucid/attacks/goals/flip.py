"""Another class than the one that the model predicts for the text as it is."""

import numpy as np

from pellucid.attacks.shared.aim import PREDICTED_FALLS
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.results.prediction import Prediction


@attack_goals.add("flip", problems=frozenset({"single_label", "one_logit"}))
class Flip:
    """Any other class. Nearness is 1 less the probability of the class."""

    aim = PREDICTED_FALLS

    def __init__(self, answer: Prediction, start: np.ndarray) -> None:
        self.label = answer.labels.index(answer.label)

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: 0 to 1."""
        return np.asarray(1 - answers[:, self.label])

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.asarray(answers.argmax(-1) != self.label)
