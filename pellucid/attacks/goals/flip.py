"""Another class than the one that the model predicts for the text as it is."""

import numpy as np

from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.results.prediction import Prediction


@attack_goals.add("flip")
class Flip:
    """Any other class. Nearness is 1 less the probability of the class."""

    def __init__(self, answer: Prediction) -> None:
        self.label = answer.labels.index(answer.label)

    def nearness(self, probabilities: np.ndarray) -> np.ndarray:
        """[text]: 0 to 1."""
        return np.asarray(1 - probabilities[:, self.label])

    def reached(self, probabilities: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.asarray(probabilities.argmax(-1) != self.label)
