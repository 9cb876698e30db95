"""ERASER's scores of hard rationales: extracted spans against the spans that people marked.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.1, as its released
code computes them: tokens stand between blanks, every text of a pair is a document by itself, IOU F1 is the F1 of an
averaged precision and an averaged recall, and token F1 is an average of F1s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.base.checks import between, every, whole
from pellucid.base.errors import BadInput
from pellucid.results.bootstrap import percentile_interval, resampled_means
from pellucid.results.extraction import Extraction
from pellucid.results.table import Interval
from pellucid.text.lexicon import eraser_tokens

TokenSpan = tuple[int, int]  # tokens [first, end) of one document
# columns of an example: sum and number of its documents' precisions, recalls, and token F1s
PRECISION, RECALL, TOKEN_F1 = (0, 1), (2, 3), (4, 5)


@dataclass(frozen=True)
class EraserScores:
    """iou_f1, token_f1: 0 to 1, with 95 % bootstrap intervals over examples. n: examples judged.

    budget: mean share of tokens that were predicted; marked: mean share of tokens that people marked, in the same
    examples.
    """

    iou_f1: Interval
    token_f1: Interval
    n: int
    budget: float
    marked: float


def eraser_scores(
    extractions: Sequence[Extraction], *, threshold: float = 0.5, resamples: int = 2000, seed: int = 0
) -> EraserScores:
    """Judge extractions by what people marked in their examples, as the benchmark's code does.

    A predicted span is a hit where the tokens that it shares with one marked span are at least `threshold` of the
    tokens that the two cover together. Mean precision (hits over predicted spans) is over documents with predictions,
    mean recall (hits over marked spans) over documents with marks. Where no document has a prediction, both scores are
    0; the benchmark's code fails there.

    extractions: from `extract`, of examples with rationales.
    threshold: 0.01 to 1; 0.5 in the paper.
    resamples: bootstrap draws behind each 95 % interval, 1 or more.
    seed: a whole number; the seed of the draws.

    Returns IOU F1 and token F1 with intervals, and the shares of tokens that were predicted and marked. Raises
    `BadInput` where no example has marks, `BadSetting` for a number out of range.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> dev = pellucid.examples("pocket", split="dev")
    >>> marked = [example for example in dev if example.rationales and example.label in model.labels]
    >>> extractions = pellucid.extract(model, marked, "occlusion", budget=0.3)
    >>> scores = pellucid.eraser_scores(extractions)
    >>> scores.n, round(scores.token_f1.mean, 2), round(scores.budget, 2)
    (123, 0.34, 0.34)
    """
    between("threshold", threshold, 0.01, 1.0)
    whole("resamples", resamples, 1, 1_000_000)
    whole("seed", seed, 0, 2**63 - 1)
    extractions = every("extractions", extractions, Extraction, "give what extract returned")
    if not any(extraction.example.rationales for extraction in extractions):
        raise BadInput("No example has marked evidence, so there is nothing to judge the extractions by.")
    columns = np.array([example_columns(extraction, threshold) for extraction in extractions])
    means = resampled_means(columns, resamples, seed)
    shares = np.array([_shares(extraction) for extraction in extractions]).mean(0)
    iou_f1, f1 = (
        percentile_interval(float(score_of(columns.mean(0))), score_of(means), len(columns))
        for score_of in NUMBERS.values()
    )
    return EraserScores(iou_f1, f1, len(columns), float(shares[0]), float(shares[1]))


def eraser_differences(
    ours: np.ndarray, theirs: np.ndarray, *, resamples: int = 2000, seed: int = 0
) -> dict[str, Interval]:
    """iou_f1 and token_f1 of one extractor minus another's, with 95 % intervals.

    ours, theirs: `example_columns` [example column] of the same examples. Every resample draws the same examples for
    both.
    """
    both, width = np.hstack([ours, theirs]), np.shape(ours)[1]
    means, whole = resampled_means(both, resamples, seed), both.mean(0)
    return {
        name: percentile_interval(
            float(score_of(whole[:width]) - score_of(whole[width:])),
            score_of(means[:, :width]) - score_of(means[:, width:]),
            len(both),
        )
        for name, score_of in NUMBERS.items()
    }


def example_columns(extraction: Extraction, threshold: float) -> list[float]:
    """What one example adds to the sums and counts; the scores are ratios of these."""
    columns = [0.0] * 6
    for index in range(len(extraction.example.segments)):
        predicted, marked = documents(extraction, index)
        hits = sum(any(iou(ours, theirs) >= threshold for theirs in marked) for ours in predicted)
        for (total, count), value, judged in (
            (PRECISION, hits / max(len(predicted), 1), bool(predicted)),
            (RECALL, hits / max(len(marked), 1), bool(marked)),
            (TOKEN_F1, token_f1_of(predicted, marked), bool(predicted or marked)),
        ):
            columns[total] += value * judged
            columns[count] += judged
    return columns


def documents(extraction: Extraction, segment: int) -> tuple[set[TokenSpan], set[TokenSpan]]:
    """The predicted and the marked spans of one text as tokens; a span that ends inside a token gets the whole
    token.
    """
    tokens = eraser_tokens(extraction.example.segments[segment])
    spans, marks = (
        {_overlapped(tokens, span.start, span.end) for span in side if span.segment == segment}
        for side in (extraction.spans, extraction.example.rationales)
    )
    empty = (0, 0)  # a span of blanks alone
    return spans - {empty}, marks - {empty}


def _overlapped(tokens: Sequence[tuple[int, int]], start: int, end: int) -> TokenSpan:
    inside = [n for n, (first, last) in enumerate(tokens) if first < end and last > start]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def iou(first: TokenSpan, second: TokenSpan) -> float:
    """Tokens in both spans over tokens in either."""
    both = max(0, min(first[1], second[1]) - max(first[0], second[0]))
    return both / (first[1] - first[0] + second[1] - second[0] - both)


def token_f1_of(predicted: set[TokenSpan], marked: set[TokenSpan]) -> float:
    """F1 of the tokens of one document; 0 where either side is empty."""
    ours, theirs = ({token for span in spans for token in range(*span)} for spans in (predicted, marked))
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


def _iou_f1(means: np.ndarray) -> np.ndarray:
    precision, recall = _ratio(means, PRECISION), _ratio(means, RECALL)
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def _ratio(means: np.ndarray, columns: tuple[int, int]) -> np.ndarray:
    total, count = means[..., columns[0]], means[..., columns[1]]
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)


def _shares(extraction: Extraction) -> tuple[float, float]:
    """The shares of an example's tokens that were predicted and marked."""
    n_tokens, counts = 0, [0, 0]
    for index, text in enumerate(extraction.example.segments):
        n_tokens += len(eraser_tokens(text))
        for side, spans in enumerate(documents(extraction, index)):
            counts[side] += len({token for span in spans for token in range(*span)})
    return counts[0] / max(n_tokens, 1), counts[1] / max(n_tokens, 1)


def _token_f1(means: np.ndarray) -> np.ndarray:
    return _ratio(means, TOKEN_F1)


NUMBERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"iou_f1": _iou_f1, "token_f1": _token_f1}
