"""Reason's rank: how far down a ranking of the words one must read to find the known reason.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.reason_ranking import mean_rank
from pellucid.evaluation.shared.selection import marked_words


@metrics.add(better="lower", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_rank(case: Case) -> Judged:
    """Mean rank of the reason's words as a share of the text's words; above 0 to 1, lower is better.

    Equal scores have the mean of their ranks.
    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model. Texts without marks
    are not judged.
    """
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [
        np.nan if reason is None else mean_rank(reason, scores) / len(scores) for reason, scores in pairs
    ]
    return Judged(np.array(values, dtype=float)[:, None])
