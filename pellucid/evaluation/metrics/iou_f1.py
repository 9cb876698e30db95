"""IOU F1: how well runs of best-scored words match the spans that a person marked.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1: the F1 of mean
precision and mean recall (not the mean of F1s), as in the benchmark's code.
"""

import numpy as np

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import metrics
from pellucid.evaluation.shared.annotated import annotated_words, mean_over_annotators, shares_marked
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.selection import selected_words


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="plausibility", needs={"rationales"}, column=6)
def iou_f1(
    case: Case, *, budget: float | None = None, n_spans: int | None = None, threshold: float = 0.5
) -> Judged:
    """F1 of mean precision and recall of matched spans; 0 to 1, higher is better.

    A span is a run of neighbouring words inside one text; two spans match when the words they share are at
    least `threshold` of the words they cover together. budget, n_spans: as in token F1. Where several
    annotators marked a text, its precisions and its recalls are averaged. Texts without marks are not judged.
    """
    between("threshold", threshold, 0.01, 1.0)
    annotated = annotated_words(case)
    segments = case.segments("word")
    selections = selected_words(case, shares_marked(annotated), budget, n_spans)

    def precision_and_recall(example: int, marked: np.ndarray) -> tuple[float, float]:
        spans = runs(selections[example], segments[example])
        return matched(spans, runs(marked, segments[example]), threshold)

    return Judged(mean_over_annotators(annotated, precision_and_recall, 2), combine="f1")


def runs(mask: np.ndarray, segments: np.ndarray) -> list[range]:
    """The ranges of neighbouring True words; none crosses from one text of a pair into the other."""
    ranges: list[range] = []
    for word in np.flatnonzero(mask).tolist():
        if ranges and ranges[-1].stop == word and segments[word] == segments[word - 1]:
            ranges[-1] = range(ranges[-1].start, word + 1)
        else:
            ranges.append(range(word, word + 1))
    return ranges


def matched(predicted: list[range], gold: list[range], threshold: float) -> tuple[float, float]:
    """Precision and recall: the share of predicted spans that match a gold span, and the other way round."""
    close = np.array(
        [[intersection_over_union(ours, theirs) >= threshold for theirs in gold] for ours in predicted]
    )
    return close.any(1).mean(), close.any(0).mean()


def intersection_over_union(first: range, second: range) -> float:
    """Words in both spans over words in either."""
    both = max(0, min(first.stop, second.stop) - max(first.start, second.start))
    return both / (len(first) + len(second) - both)
