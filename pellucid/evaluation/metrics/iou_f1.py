"""IOU F1: how well runs of best-scored words match the spans that a person marked.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1: the F1 of mean
precision and mean recall (not the mean of F1s), as in the benchmark's code.
"""

import numpy as np

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import metrics
from pellucid.core.text.tied_units import mean_of_orders
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
    annotators marked a text, its precisions and its recalls are averaged, and over the selections that equal scores leave. Texts without marks are not judged.
    """
    between("threshold", threshold, 0.01, 1.0)
    annotated = annotated_words(case)
    segments = case.segments("word")
    selections = selected_words(case, shares_marked(annotated), budget, n_spans)

    def precision_and_recall(example: int, marked: np.ndarray) -> tuple[float, float]:
        gold = runs(marked, segments[example])
        precision, recall = matched(selections[example], segments[example], gold, threshold)
        return float(mean_of_orders(precision)), float(mean_of_orders(recall))

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


def matched(
    masks: np.ndarray, segments: np.ndarray, gold: list[range], threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall of each selection: the share of its runs that match a gold span, and the other way round.

    masks: [selection word] bool, each with a True word.
    """
    neighbours = np.zeros((len(masks), masks.shape[1] + 1), dtype=bool)
    neighbours[:, 1:-1] = masks[:, 1:] & masks[:, :-1] & (segments[1:] == segments[:-1])
    selection, first = np.nonzero(masks & ~neighbours[:, :-1])
    stop = np.nonzero(masks & ~neighbours[:, 1:])[1] + 1
    close = intersection_over_union(first, stop, gold) >= threshold
    n_runs = np.bincount(selection)
    hit = np.add.reduceat(close, np.cumsum(n_runs) - n_runs, axis=0, dtype=int) > 0  # [selection gold]
    return np.bincount(selection, close.any(1)) / n_runs, hit.mean(1)


def intersection_over_union(first: np.ndarray, stop: np.ndarray, gold: list[range]) -> np.ndarray:
    """[run gold]: words in both spans over words in either. first, stop: [run]."""
    start, end = np.array([(one.start, one.stop) for one in gold]).T
    both = np.clip(np.minimum(stop[:, None], end) - np.maximum(first[:, None], start), 0, None)
    union = (stop - first)[:, None] + (end - start) - both
    return np.asarray(both / union)
