"""AUPRC: how well the scores, at every threshold, separate the marked words from the rest.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1.
"""

from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.annotated import annotated_words, mean_over_annotators
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.reason_ranking import area_under_precision


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="plausibility", needs={"rationales"}, column=7)
def auprc(case: Case) -> Judged:
    """Area under the precision-recall curve of a text's words, averaged over texts; 0 to 1, higher is better.

    By trapezoids, as in the benchmark's code; of equal scores the exact mean over their orders. Where several annotators marked a text, their areas are averaged. Texts without
    marks are not judged.
    """
    scores = case.scores("word")
    return Judged(
        mean_over_annotators(
            annotated_words(case), lambda example, marked: (area_under_precision(marked, scores[example]),)
        )
    )
