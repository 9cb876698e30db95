"""Goals of an attack: what is wanted of the model's answer, a function each."""

import numpy as np

from pellucid.attacks.attack_case import PREDICTED_FALLS, Aim
from pellucid.base.checks import at_least, between, known
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attack_goals
from pellucid.results.explanation import Prediction
from pellucid.results.side_by_side import tau_b, top_overlap
from pellucid.run.target import Target
from pellucid.text.label_map import ON


@attack_goals.add("class", problems=frozenset({"single_label", "one_logit"}))
class ClassGoal:
    """The model shall predict this class. Nearness is its probability.

    A class that the user names.
    """

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


@attack_goals.add("label", problems=frozenset({"multi_label"}))
class Label:
    """A label that the text has goes, or one that it has not comes. Nearness is the probability of the other state.

    One label of a text that can have several is switched.
    """

    def __init__(self, answer: Prediction, start: np.ndarray, *, label: str) -> None:
        """label: its name; a text has it from a probability of one half. Raises `UnknownName` for one that the model
        does not have.
        """
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


@attack_goals.add("flip", problems=frozenset({"single_label", "one_logit"}))
class Flip:
    """Any other class. Nearness is 1 less the probability of the class.

    Another class than the one that the model predicts for the text as it is.
    """

    aim = PREDICTED_FALLS

    def __init__(self, answer: Prediction, start: np.ndarray) -> None:
        self.label = answer.labels.index(answer.label)

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: 0 to 1."""
        return np.asarray(1 - answers[:, self.label])

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.asarray(answers.argmax(-1) != self.label)


@attack_goals.add("value", reads="logits", problems=frozenset({"regression", "one_logit"}))
class Value:
    """The value of a regression model, or the single logit of a classifier, moves by a distance. Nearness is how far it
    has moved.

    A number that the model answers with is moved.
    """

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


HIGHEST_OVERLAP = 0.99  # with 1, the text as it is would do


@attack_goals.add("explanation", reads="explanation", problems=frozenset({"single_label", "one_logit"}))
class OtherExplanation:
    """The class stays, and few of the words with the highest scores stay among them. Nearness is 1 less their share,
    then less Kendall's tau.

    The model says the same, for other words.

    Source: Ghorbani, Abid & Zou (2019), "Interpretation of Neural Networks Is Fragile", sections 2 and
    4: the top-k attack and its measure, for words that are exchanged in place of pixels that are
    shifted.
    """

    aim = PREDICTED_FALLS

    def __init__(
        self,
        answer: Prediction,
        start: np.ndarray,
        *,
        method: str = "occlusion",
        k: int = 3,
        most_overlap: float = 0.5,
    ) -> None:
        """method: what explains the texts. k: how many top words, 1 or more. most_overlap: the share of them that may
        stay, 0 to 0.99.
        """
        at_least("k", k, 1)
        between("most_overlap", most_overlap, 0, HIGHEST_OVERLAP)
        self.n_classes = len(answer.labels)
        self.label = answer.labels.index(answer.label)
        self.scores = start[self.n_classes :]
        self.k, self.most_overlap = k, most_overlap

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: -1 where the class changed, else 0 to 1; 0 where nothing can be compared."""
        return np.array([self._nearness(row) for row in answers])

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool."""
        return np.array([self._is_same_class(row) and self.agreement(row)[1] <= self.most_overlap for row in answers])

    def agreement(self, row: np.ndarray) -> tuple[float, float]:
        """(Kendall's tau, overlap of the top k) of the words that stand in both texts; nan where nothing can be
        ranked.
        """
        scores = row[self.n_classes :]
        both = np.isfinite(scores) & np.isfinite(self.scores)
        before, after = self.scores[both], scores[both]
        return tau_b(before, after), top_overlap(before, after, self.k)

    def _nearness(self, row: np.ndarray) -> float:
        if not self._is_same_class(row):
            return -1.0
        tau, overlap = self.agreement(row)
        if np.isnan(overlap):
            return 0.0
        # Overlap moves in steps of 1 / k; less than half a step is left to tau, so that overlap decides first.
        return (1 - overlap + (1 - tau) / (5 * self.k)) / (1 + 1 / self.k)

    def _is_same_class(self, row: np.ndarray) -> bool:
        return int(row[: self.n_classes].argmax()) == self.label
