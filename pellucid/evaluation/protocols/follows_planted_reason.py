"""Whether a model has learnt a planted reason: only then can explanations of it be right or wrong about that reason."""

from dataclasses import dataclass

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.results.table import Interval

ENOUGH = 0.95


@dataclass(frozen=True)
class Learnt:
    """Shares of right answers, with 95 % intervals: on texts as they are, and on edited ones.

    counterfactual: the reason was edited, so the label is the other one. distractor: only the decoy was edited, so the
    label stays; None where no decoys were planted.
    """

    accuracy: Interval
    counterfactual: Interval
    distractor: Interval | None

    def holds(self, enough: float = ENOUGH) -> bool:
        """Whether every share is enough; a model that follows the decoy, or the one text and not its edit, fails."""
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
