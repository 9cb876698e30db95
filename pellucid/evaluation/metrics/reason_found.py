"""Reason found: how far up a ranking of the words has those of the known reason.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.reason_ranking import average_precision
from pellucid.evaluation.shared.selection import marked_words


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_found(case: Case) -> Judged:
    """Average precision of the reason's words among all words, averaged over texts; 0 to 1, higher is better.

    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model. Texts without marks
    are not judged.
    """
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [np.nan if reason is None else average_precision(reason, scores) for reason, scores in pairs]
    return Judged(np.array(values, dtype=float)[:, None])
