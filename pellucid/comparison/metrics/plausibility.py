"""Metrics of plausibility: do the scores agree with words that people marked, or with a reason that is known?"""

import numpy as np

from pellucid.base.checks import at_least, between
from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case, Judged
from pellucid.comparison.selection import (
    annotated_words,
    marked_words,
    mean_over_annotators,
    selected_words,
    selection_chances,
    shares_marked,
)
from pellucid.text.ranges import mean_of_orders


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="plausibility", needs={"rationales"}, column=5)
def token_f1(case: Case, *, budget: float | None = None, n_spans: int | None = None) -> Judged:
    """F1 between the best-scored and the marked words, averaged over texts; 0 to 1, higher is better.

    How well the best-scored words agree with the words that a person marked.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.1.

    budget: share of a text's words that is selected, rounded up; None: the mean share of marked words over
    the judged texts, the same for every method. n_spans: the selection is at most so many spans in each text of an
    example; None: words anywhere in the text. Equal scores: the exact mean over their orders. Where several annotators
    marked a text (`meta["annotators"]`), their F1s are averaged. Texts without marks are not judged.
    """
    annotated = annotated_words(case)
    chances = selection_chances(case, shares_marked(annotated), budget, n_spans)

    def f1(example: int, marked: np.ndarray) -> tuple[float]:
        """2 |both| / (|selected| + |marked|), which is 2 P R / (P + R), also where nothing is shared."""
        chance = chances[example]
        return (2 * chance[marked].sum() / (round(chance.sum()) + float(marked.sum())),)

    return Judged(mean_over_annotators(annotated, f1))


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="plausibility", needs={"rationales"}, column=6)
def iou_f1(case: Case, *, budget: float | None = None, n_spans: int | None = None, threshold: float = 0.5) -> Judged:
    """F1 of mean precision and recall of matched spans; 0 to 1, higher is better.

    How well runs of best-scored words match the spans that a person marked.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.1: the F1 of mean precision and mean recall (not the mean of F1s), as in the benchmark's code.

    A span is a run of neighbouring words inside one text; two spans match when the words they share are at
    least `threshold` of the words they cover together. budget, n_spans: as in token F1. Where several
    annotators marked a text, its precisions and its recalls are averaged, and over the selections that equal scores
    leave. Texts without marks are not judged.
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
    start, end = np.array([(span.start, span.stop) for span in gold]).T
    both = np.clip(np.minimum(stop[:, None], end) - np.maximum(first[:, None], start), 0, None)
    union = (stop - first)[:, None] + (end - start) - both
    return np.asarray(both / union)


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="plausibility", needs={"rationales"}, column=7)
def auprc(case: Case) -> Judged:
    """Area under the precision-recall curve of a text's words, averaged over texts; 0 to 1, higher is better.

    How well the scores, at every threshold, separate the marked words from the rest.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.1.

    By trapezoids, as in the benchmark's code; of equal scores the exact mean over their orders. Where several
    annotators marked a text, their areas are averaged. Texts without marks are not judged.
    """
    scores = case.scores("word")
    return Judged(
        mean_over_annotators(
            annotated_words(case), lambda example, marked: (area_under_precision(marked, scores[example]),)
        )
    )


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_found(case: Case) -> Judged:
    """Average precision of the reason's words among all words, averaged over texts; 0 to 1, higher is better.

    How far up a ranking of the words has those of the known reason.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.

    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model.
    Texts without marks are not judged.
    """
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [np.nan if reason is None else average_precision(reason, scores) for reason, scores in pairs]
    return Judged(np.array(values, dtype=float)[:, None])


@metrics.add(better="lower", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_rank(case: Case) -> Judged:
    """Mean rank of the reason's words as a share of the text's words; above 0 to 1, lower is better.

    How far down a ranking of the words one must read to find the known reason.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.

    Equal scores have the mean of their ranks.
    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model.
    Texts without marks are not judged.
    """
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [np.nan if reason is None else mean_rank(reason, scores) / len(scores) for reason, scores in pairs]
    return Judged(np.array(values, dtype=float)[:, None])


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_precision_at_k(case: Case, *, k: int = 1) -> Judged:
    """Share of the k best-scored words that are words of the reason; 0 to 1, higher is better.

    How many of the k best-scored words are words of the known reason.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.

    k: 1 or more; of a text with fewer words all are counted. Equal scores at the border count by their share.
    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model.
    Texts without marks are not judged.
    """
    at_least("k", k, 1)
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [
        np.nan if reason is None else expected_among_first(reason, scores, k) / min(k, len(scores))
        for reason, scores in pairs
    ]
    return Judged(np.array(values, dtype=float)[:, None])


@metrics.add(better="higher", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def reason_recall_at_k(case: Case, *, k: int = 5) -> Judged:
    """Share of the reason's words that are among the k best-scored words; 0 to 1, higher is better.

    How many words of the known reason are among the k best-scored words.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", section 4.

    k: 1 or more. Equal scores at the border count by their share.
    For texts whose marks are the known reason, such as planted ones; what people marked is no truth about a model.
    Texts without marks are not judged.
    """
    at_least("k", k, 1)
    pairs = zip(marked_words(case), case.scores("word"), strict=True)
    values = [
        np.nan if reason is None else expected_among_first(reason, scores, k) / reason.sum() for reason, scores in pairs
    ]
    return Judged(np.array(values, dtype=float)[:, None])


@metrics.add(better="lower", lowest=0.0, highest=1.0, judges="truth", needs={"rationales"}, usual=False)
def decoy_first(case: Case) -> Judged:
    """Share of texts where a decoy's word is scored above all words of the reason; 0 to 1, lower is better.

    How often a word that only goes with the label is scored above the known reason.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", plant such words; here reason and
    decoy stand in one text.

    Equal scores count a half. Texts without a decoy in `meta["distractors"]`, or without marks, are not judged.
    """
    triples = zip(marked_words(case), case.decoys("word"), case.scores("word"), strict=True)
    values = [
        np.nan if reason is None or decoy is None or not decoy.any() else decoy_above(reason, decoy, scores)
        for reason, decoy, scores in triples
    ]
    return Judged(np.array(values, dtype=float)[:, None])


# Where a text's ranking of words has the words of a known reason, or those that people marked.
#
# Bastings et al. (2022), "Will You Find These Shortcuts?", section 4, score rankings by precision at the number of
# true words; average precision takes the whole ranking into account. Of equal scores every number here is the exact
# mean over all their orders.


def average_precision(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """Of the reason's words in the ranking of all words [word]: 1 if they come first, 1 / rank if there is a single
    one.
    """
    is_there, before, rank = _expected_ranking(is_reason, scores)
    return float((is_there * (before + 1) / rank).sum() / is_reason.sum())


def area_under_precision(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """The area under precision over recall, by trapezoids from (recall, precision) = (0, 1), of the words of a reason
    [word].
    """
    is_there, before, rank = _expected_ranking(is_reason, scores)
    precision_before = np.where(rank > 1, before / np.maximum(rank - 1, 1), 1.0)
    return float((is_there * (precision_before + (before + 1) / rank) / 2).sum() / is_reason.sum())


def _expected_ranking(is_reason: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three arrays [rank]: the chance that a word of the reason stands there; how many stand before it then; the rank,
    from 1.

    Of m equal scores with g words of the reason, each place is one's with chance g / m, and each place before it within
    the m then with chance (g - 1) / (m - 1).
    """
    _, level, size = np.unique(-scores, return_inverse=True, return_counts=True)
    reason_words = np.bincount(level, weights=is_reason)
    first = np.repeat(np.cumsum(size) - size, size)  # words above the level
    above = np.repeat(np.cumsum(reason_words) - reason_words, size)
    rank = np.arange(1, len(scores) + 1)
    reason_words, size = np.repeat(reason_words, size), np.repeat(size, size)
    before = above + (rank - 1 - first) * (reason_words - 1) / np.maximum(size - 1, 1)
    return reason_words / size, before, rank


def expected_among_first(is_reason: np.ndarray, scores: np.ndarray, k: int) -> float:
    """How many of the reason's words are among the k words with the highest scores; of equal scores at the border their
    share.
    """
    k = min(k, len(scores))
    border = np.sort(scores)[::-1][k - 1]
    above, level = scores > border, scores == border
    left = k - int(above.sum())
    return float((is_reason & above).sum() + left * is_reason[level].mean())


def mean_rank(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """The mean rank of the reason's words, 1 for the highest score; equal scores have the mean of their ranks."""
    ranks = [1 + (scores > score).sum() + ((scores == score).sum() - 1) / 2 for score in scores[is_reason]]
    return float(np.mean(ranks))


def highest_in_reason(is_reason: np.ndarray, scores: np.ndarray) -> float:
    """1 if the word with the highest score is one of the reason, else 0; equal ones share."""
    return expected_among_first(is_reason, scores, 1)


def decoy_above(is_reason: np.ndarray, is_decoy: np.ndarray, scores: np.ndarray) -> float:
    """1 if a decoy's word scores above all words of the reason, 0 if below; if d of its words and r of the reason's
    share the highest score, d / (d + r), the share of their orders in which the decoy comes first.
    """
    highest = scores[is_reason | is_decoy].max()
    decoys, reasons = ((marked & (scores == highest)).sum() for marked in (is_decoy, is_reason))
    return float(decoys / (decoys + reasons))
