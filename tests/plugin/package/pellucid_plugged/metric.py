"""Plugged fall: how far the prediction falls without the best-scored word.

Doe (2030), "On Falls".
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.case import Case, Judged


@metrics.add(better="higher", lowest=-1.0, highest=1.0)
def plugged_fall(case: Case) -> Judged:
    """Fall of the explained class's probability without the best-scored word; -1 to 1, higher is better."""
    orders = case.orders("word")
    edited = [case.without(number, order[:1], "word", "absent") for number, order in enumerate(orders)]
    probabilities = case.probabilities(list(zip(case.batch.rows, edited, strict=True)))
    falls = [
        whole[label] - rest[label]
        for (whole, rest), label in zip(probabilities, case.explained_classes(), strict=True)
    ]
    return Judged(np.array(falls)[:, None])
