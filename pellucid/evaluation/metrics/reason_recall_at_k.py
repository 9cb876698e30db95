"""Recall at k: how many words of the known reason are among the k best-scored words.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.
"""

import numpy as np

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.reason_ranking import expected_among_first
from pellucid.evaluation.shared.selection import marked_words


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_recall_at_k(case: Case, *, k: int = 5) -> Judged:
    """Share of the reason's words that are among the k best-scored words; 0 to 1, higher is better.

    k: 1 or more. Equal scores at the border count by their share.
    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model. Texts without marks
    are not judged.
    """
    at_least("k", k, 1)
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [
        np.nan if reason is None else expected_among_first(reason, scores, k) / reason.sum()
        for reason, scores in pairs
    ]
    return Judged(np.array(values, dtype=float)[:, None])
