"""Whether a model has learnt a planted reason: only then can explanations of it be right or wrong about that reason."""

from dataclasses import dataclass

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.results.table import Interval

ENOUGH = 0.95


@dataclass(frozen=True)
class FollowsPlantedReason:
    """Shares of texts that the model classifies correctly, with 95 % intervals: as they are, and edited.

    counterfactual: on texts whose reason was edited, so that the label is the other one. distractor: on texts of which
    only the decoy was edited, so that the label stays; None where no decoys were planted.
    """

    accuracy: Interval
    counterfactual: Interval
    distractor: Interval | None

    def holds(self, enough: float = ENOUGH) -> bool:
        """Whether every share is at least `enough`. A model that follows the decoy fails, or one that ignores edits."""
        shares = (self.accuracy, self.counterfactual, self.distractor)
        return all(share.mean >= enough for share in shares if share is not None)

    def check(self, enough: float = ENOUGH) -> None:
        """Raise `ModelCannot`, with the shares, unless it holds."""
        if not self.holds(enough):
            raise ModelCannot(
                f"The reason is not learnt, so nothing can be said about explainers: {self}; {enough} is needed. "
                "Train longer, on more texts, or with a weaker distractor."
            )

    def __str__(self) -> str:
        edited = "" if self.distractor is None else f", with another decoy {self.distractor}"
        return f"right on {self.accuracy} of texts, with the reason edited {self.counterfactual}{edited}"
