"""Token F1: how well the best-scored words agree with the words that a person marked.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.annotated import annotated_words, mean_over_annotators, shares_marked
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.selection import selection_chances


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="plausibility", needs={"rationales"}, column=5)
def token_f1(case: Case, *, budget: float | None = None, n_spans: int | None = None) -> Judged:
    """F1 between the best-scored and the marked words, averaged over texts; 0 to 1, higher is better.

    budget: share of a text's words that is selected, rounded up; None: the mean share of marked words over
    the judged texts, the same for every method. n_spans: the selection is at most so many spans in each text of an
    example; None: words anywhere in the text. Equal scores: the exact mean over their orders. Where several annotators marked a text (`meta["annotators"]`), their F1s are
    averaged. Texts without marks are not judged.
    """
    annotated = annotated_words(case)
    chances = selection_chances(case, shares_marked(annotated), budget, n_spans)

    def f1(example: int, marked: np.ndarray) -> tuple[float]:
        """2 |both| / (|selected| + |marked|), which is 2 P R / (P + R), also where nothing is shared."""
        chance = chances[example]
        return (2 * chance[marked].sum() / (round(chance.sum()) + float(marked.sum())),)

    return Judged(mean_over_annotators(annotated, f1))
