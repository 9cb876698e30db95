"""What the tests of a comparison say of each method, and all thresholds of the trust card, which were set before any study used it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.evaluation.trust.leads import Lead, holm, overall_leads, paired_p

FEWEST_TEXTS = 100
"""On fewer texts nothing is recommended: a lead of .3 standard deviations is then missed every fifth time even by one test alone."""

LEVEL = 0.05
"""The probability that any method at all is wrongly called better than random scores, over all methods and metrics."""

ENOUGH = 0.5
"""A method is called faithful if it is ahead on more than this share of the measures: one measure can be won by its peculiarities,
such as texts that the model was not trained on."""

MUCH_FASTER = 0.5
"""A method is named as the fast one if it takes at most this share of the time of the best one; less is not worth another method."""

FAITHFULNESS, TRUTH, PLAUSIBILITY = "faithfulness", "truth", "plausibility"


@dataclass(frozen=True)
class Standing:
    """Where one method stands against random scores: its leads that are above 0, below 0 and neither, and the checks it fails."""

    method: str
    ahead: tuple[Lead, ...]
    behind: tuple[Lead, ...]
    level: tuple[Lead, ...]
    failures: tuple[str, ...] = ()

    @property
    def n_measures(self) -> int:
        """How many measures judged the method."""
        return len(self.ahead) + len(self.behind) + len(self.level)

    @property
    def is_faithful(self) -> bool:
        """Ahead on enough measures and on each that knows the truth, behind on none, and no check failed."""
        truth_missed = any(lead.judges == TRUTH for lead in self.level)
        enough = len(self.ahead) > ENOUGH * self.n_measures
        return enough and not (self.behind or self.failures or truth_missed)

    @property
    def is_useless(self) -> bool:
        """It fails a check, or is ahead of random scores on no measure."""
        return bool(self.failures) or not self.ahead


def standings(leads: Sequence[Lead], failures: Mapping[str, Sequence[str]]) -> list[Standing]:
    """Each method's standing on measures of faithfulness and truth with enough texts. failures: method -> checks it fails."""
    judged = [lead for lead in leads if lead.judges in (FAITHFULNESS, TRUTH) and lead.n >= FEWEST_TEXTS]
    result = []
    for method in dict.fromkeys(lead.method for lead in leads):
        own = [lead for lead in judged if lead.method == method]
        result.append(
            Standing(
                method,
                tuple(lead for lead in own if is_ahead(lead)),
                tuple(lead for lead in own if lead.p < LEVEL and lead.mean.mean < 0),
                tuple(lead for lead in own if not lead.p < LEVEL),
                tuple(failures.get(method, ())),
            )
        )
    return result


def is_ahead(lead: Lead) -> bool:
    """Whether the method is better than random scores under this metric, beyond the luck of all tests made."""
    return lead.p < LEVEL and lead.mean.mean > 0


def ranked(leads: Sequence[Lead], methods: Sequence[str]) -> tuple[list[str], list[str]]:
    """(the best method and those that cannot be told apart from it, all others), both by their mean lead over all of these metrics."""
    overall = {method: by_text for method, by_text in overall_leads(leads).items() if method in methods}
    order = sorted(overall, key=lambda method: -_mean(overall[method]))
    if not order:
        return [], []
    best, *others = order
    p_values = holm([paired_p(_known(overall[best] - overall[other])) for other in others])
    level = [other for other, p in zip(others, p_values, strict=True) if not p < LEVEL]
    return [best, *level], [other for other in others if other not in level]


def _mean(by_text: np.ndarray) -> float:
    return float(_known(by_text).mean())


def _known(by_text: np.ndarray) -> np.ndarray:
    """Without the texts that were not judged."""
    return by_text[~np.isnan(by_text)]
