"""Plugged fall: how far the prediction falls without the best-scored word.

Doe (2030), "On Falls".
"""

import numpy as np

from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case, Judged


@metrics.add(better="higher", lowest=-1.0, highest=1.0)
def plugged_fall(case: Case) -> Judged:
    """Fall of the explained class's probability without the best-scored word; -1 to 1, higher is better."""
    variants = [
        [case.batch.rows[number], *(case.without(number, order[:1], "word", "absent") for order in orders)]
        for number, orders in enumerate(case.orders("word"))
    ]
    probabilities = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    falls = [rows[0, label] - rows[1:, label].mean() for rows, label in probabilities]
    return Judged(np.array(falls)[:, None])
