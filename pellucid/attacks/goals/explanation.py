"""The model says the same, for other words.

Ghorbani, Abid & Zou (2019), "Interpretation of Neural Networks Is Fragile", sections 2 and 4: the top-k attack and its measure, for words
that are exchanged in place of pixels that are shifted.
"""

import numpy as np

from pellucid.attacks.shared.aim import PREDICTED_FALLS
from pellucid.core.corpus.rank_agreement import tau_b, top_overlap
from pellucid.core.foundation.checks import at_least, between
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.results.prediction import Prediction

HIGHEST_OVERLAP = 0.99  # with 1, the text as it is would do


@attack_goals.add("explanation", reads="explanation", problems=frozenset({"single_label", "one_logit"}))
class OtherExplanation:
    """The class stays, and few of the words with the highest scores stay among them. Nearness is 1 less their share, then less Kendall's tau."""

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
        """method: what explains the texts. k: how many top words, 1 or more. most_overlap: the share of them that may stay, 0 to 0.99."""
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
        return np.array(
            [self._is_same_class(row) and self.agreement(row)[1] <= self.most_overlap for row in answers]
        )

    def agreement(self, row: np.ndarray) -> tuple[float, float]:
        """(Kendall's tau, overlap of the top k) of the words that stand in both texts; nan where nothing can be ranked."""
        scores = row[self.n_classes :]
        both = np.isfinite(scores) & np.isfinite(self.scores)
        one, other = self.scores[both], scores[both]
        return tau_b(one, other), top_overlap(one, other, self.k)

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
