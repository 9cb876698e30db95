"""Decoy first: how often a word that only goes with the label is scored above the known reason.

Bastings et al. (2022), "Will You Find These Shortcuts?", plant such words; here reason and decoy stand in one text.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.reason_ranking import decoy_above
from pellucid.evaluation.shared.selection import marked_words


@metrics.add(better="lower", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def decoy_first(case: Case) -> Judged:
    """Share of texts where a decoy's word is scored above all words of the reason; 0 to 1, lower is better.

    Equal scores count a half. Texts without a decoy in `meta["distractors"]`, or without marks, are not judged.
    """
    triples = zip(marked_words(case), case.decoys("word"), case.scores("word"), strict=True)
    values = [
        np.nan if reason is None or decoy is None or not decoy.any() else decoy_above(reason, decoy, scores)
        for reason, decoy, scores in triples
    ]
    return Judged(np.array(values, dtype=float)[:, None])
