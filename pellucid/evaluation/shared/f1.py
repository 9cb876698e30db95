"""F1 of one class, and its mean over classes: harmonic means of precision and recall.

van Rijsbergen (1979), "Information Retrieval", chapter 7. Papers on attention report it of "class 1", the second of two
(corrections.md A4.11).
"""

from collections.abc import Sequence

import numpy as np

from pellucid.core.results.table import Interval
from pellucid.evaluation.shared.summary import percentile_interval, resampled_means


def f1_interval(
    gold: Sequence[str],
    predicted: Sequence[str],
    classes: Sequence[str],
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean F1 of these classes, 0 to 1, with its 95 % bootstrap interval over examples; of one class its own F1.

    gold, predicted: [example]. The F1 of a class that is neither a label nor a prediction is 0.
    """
    rows = np.array([_counts(one, other, classes) for one, other in zip(gold, predicted, strict=True)])
    means = resampled_means(rows, resamples, seed)
    return percentile_interval(float(_mean_f1(rows.mean(0))), _mean_f1(means), len(rows))


def _counts(label: str, answer: str, classes: Sequence[str]) -> list[float]:
    """For each class 1 where the answer is right, and how many of label and answer it is."""
    right = [float(label == answer == name) for name in classes]
    return [*right, *(float((label == name) + (answer == name)) for name in classes)]


def _mean_f1(means: np.ndarray) -> np.ndarray:
    """[... 2 x class] -> [...]: F1 is 2 right / (labels + answers)."""
    right, every = np.split(means, 2, axis=-1)
    return np.divide(2 * right, every, out=np.zeros_like(right), where=every > 0).mean(-1)
