"""A number that the model answers with is moved."""

import numpy as np

from pellucid.attacks.shared.aim import Aim
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.passes.target import Target
from pellucid.core.results.prediction import Prediction


@attack_goals.add("value", reads="logits", problems=frozenset({"regression", "one_logit"}))
class Value:
    """The value of a regression model, or the single logit of a classifier, moves by a distance. Nearness is how far it has moved."""

    aim = Aim(Target(0, "logit"), "either")

    def __init__(self, answer: Prediction, start: np.ndarray, *, distance: float) -> None:
        """distance: above 0, in the units of the value, up or down."""
        at_least("distance", distance, 0)
        if not distance:
            raise BadSetting("distance=0 is no goal: every answer is as far; give a number above 0.")
        self.start, self.distance = start[0], distance

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: 0 or more."""
        return np.asarray(np.abs(answers[:, 0] - self.start))

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return self.nearness(answers) >= self.distance
