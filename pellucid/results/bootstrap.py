"""Means with their intervals: over runs by Student's t, shares by Wilson's interval, over texts by the bootstrap."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from pellucid.base.checks import at_least
from pellucid.base.errors import BadInput
from pellucid.results.table import Interval

LEVEL = 0.975  # two-sided 95 %

Range = tuple[float, float]  # the smallest and the largest value that a number can have
SHARE: Range = (0.0, 1.0)  # also of probabilities, precision, F1 and areas under curves of shares
PERCENT: Range = (0.0, 100.0)
POINTS: Range = (-100.0, 100.0)  # a difference of two percentages
CORRELATION: Range = (-1.0, 1.0)
CHANGE: Range = (-1.0, 1.0)  # a difference of two shares or probabilities
NOT_NEGATIVE: Range = (0.0, math.inf)


def t_interval(values: Sequence[float] | np.ndarray, within: Range | None = None) -> Interval:
    """The mean of values with its 95 % t-interval, `inside` their range; nan bounds below two values, or nan."""
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return Interval(math.nan, math.nan, math.nan)
    mean, half = float(numbers.mean()), math.nan
    if len(numbers) > 1:
        half = _quantile(len(numbers) - 1) * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return inside(Interval(mean, mean - half, mean + half), within)


FEWEST_PAIRS = 6
"""Of fewer differences even all with one sign are no evidence at 5 %: two of 2 ** 5 choices of signs are as extreme."""
MOST_EXACT = 14  # differences whose 2 ** 14 choices of signs are all counted


def paired_interval(differences: Sequence[float] | np.ndarray) -> Interval:
    """The mean of paired differences [text] with its 95 % t-interval; nan bounds below `FEWEST_PAIRS` texts."""
    interval = t_interval(differences)
    return interval if len(differences) >= FEWEST_PAIRS else Interval(interval.mean, math.nan, math.nan)


def paired_p(differences: np.ndarray) -> float:
    """The two-sided p value that the mean of paired differences [text] is 0; 1 without any difference.

    Where at most `MOST_EXACT` differ from 0, by Fisher's exact test: the share of all choices of signs whose sum is as
    far from 0. A t-test would be wrong there, since few values are often equal. With more, a t-test.
    """
    nonzero = differences[differences != 0]
    if len(nonzero) > MOST_EXACT:
        return _t_test(differences)
    sums = np.zeros(1)
    for difference in np.abs(nonzero):
        sums = np.concatenate([sums - difference, sums + difference])
    return float((np.abs(sums) >= abs(nonzero.sum()) * (1 - 1e-9)).mean())


def _t_test(differences: np.ndarray) -> float:
    from scipy.special import stdtr  # scipy takes a tenth of a second to import

    n = len(differences)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    return float(2 * stdtr(n - 1, -abs(float(differences.mean())) / error)) if error else 0.0


def difference_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """mean(first) - mean(second) with Welch's 95 % t-interval; nan bounds where one side has fewer than two values."""
    first_values, second_values = (np.asarray(values, dtype=np.float64) for values in (first, second))
    mean = float(first_values.mean() - second_values.mean())
    if min(len(first_values), len(second_values)) < 2:
        return Interval(mean, math.nan, math.nan)
    errors = [float(values.var(ddof=1)) / len(values) for values in (first_values, second_values)]
    if not sum(errors):
        return Interval(mean, mean, mean)
    parts = sum(
        error**2 / (len(values) - 1) for error, values in zip(errors, (first_values, second_values), strict=True)
    )
    half = _quantile(sum(errors) ** 2 / parts) * math.sqrt(sum(errors))
    return Interval(mean, mean - half, mean + half)


def _quantile(freedom: float) -> float:
    from scipy.special import stdtrit  # takes a tenth of a second to import, and few callers need it

    return float(stdtrit(freedom, LEVEL))


# Shares of texts with intervals that are also right where nearly none or nearly all texts are counted.
#
# Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference"; for the difference of two
# independent shares Newcombe (1998), "Interval Estimation for the Difference between Independent Proportions", method
# 10.

Z = NormalDist().inv_cdf(0.975)
NOTHING = Interval(math.nan, math.nan, math.nan)


def share(count: float, total: int) -> Interval:
    """count / total with its 95 % Wilson interval; nan where there is nothing to count. count: a sum of shares, 0 to
    `total`.
    """
    if not total:
        return NOTHING
    mean, width = count / total, Z * Z / total
    half = Z * math.sqrt(mean * (1 - mean) / total + width / (4 * total))
    low, high = (mean + width / 2 - half) / (1 + width), (mean + width / 2 + half) / (1 + width)
    return Interval(mean, low if count else 0.0, high if count < total else 1.0)  # exact where rounding would not be


def inside(interval: Interval, within: Range | None, n: int = 0) -> Interval:
    """A symmetric interval of a mean, bent so that it ends inside the range that the number cannot leave.

    Wilson's way, for any standard error: a bound is the value from which the mean would be as far as chance lets it be,
    if the variance goes with (value - lowest)(highest - value), as that of shares does; without a largest value, if it
    goes with value - lowest, as that of counts does. Short intervals, and those in the middle, hardly change. n: texts
    behind a mean at the very end of a range, where all are alike: the other bound is that of n shares; 0: no bound.
    """
    half = (interval.high - interval.low) / 2
    if within is None or math.isnan(half):
        return interval
    lowest, width = within[0], within[1] - within[0]
    mean = min(max(interval.mean - lowest, 0.0), width)
    spread = mean - mean * mean / width
    over = half * half / spread if spread else width * Z * Z / n if n and width < math.inf else 0.0
    reach = math.sqrt(over * spread + over * over / 4)
    low, high = ((mean + over / 2 + sign * reach) / (1 + over / width) for sign in (-1, 1))
    return Interval(interval.mean, lowest + max(low, 0.0), lowest + min(high, width))


def difference(first: Interval, second: Interval) -> Interval:
    """first - second of two independent shares with its 95 % interval, from their Wilson intervals."""
    down = math.hypot(first.mean - first.low, second.high - second.mean)
    up = math.hypot(first.high - first.mean, second.mean - second.low)
    over = first.mean - second.mean
    return Interval(over, over - down, over + up)


# Exact tests and intervals of shares, and the correction for several tests: Clopper & Pearson (1934), "The Use of
# Confidence or Fiducial Limits Illustrated in the Case of the Binomial"; Holm (1979), "A Simple Sequentially Rejective
# Multiple Test Procedure".


def exact_share(count: int, total: int) -> Interval:
    """count / total with its exact 95 % interval; nan where there is nothing to count."""
    from scipy.special import betaincinv  # takes a tenth of a second to import, and few callers need it

    if not total:
        return NOTHING
    low = float(betaincinv(count, total - count + 1, 1 - LEVEL)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, LEVEL)) if count < total else 1.0
    return Interval(count / total, low, high)


def more_than_share(count: int, total: int, share: float) -> float:
    """The exact binomial probability of `count` or more of `total` where each counts with probability `share`."""
    from scipy.special import betainc

    return float(betainc(count, total - count + 1, share)) if count else 1.0


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """p values, corrected for their number: the smallest times m, the next times m - 1 ..., none below one before it,
    at most 1.

    weights: how much of the level each test gets, above 0, set before the tests; None: all the same.
    """
    shares = np.ones(len(p_values)) if weights is None else np.asarray(weights, dtype=float)
    weighted = np.asarray(p_values, dtype=float) / shares
    order = np.argsort(weighted, kind="stable")
    left = shares[order][::-1].cumsum()[::-1]  # the weight of a test and all after it
    result = np.empty(len(p_values))
    result[order] = np.minimum(np.maximum.accumulate(weighted[order] * left), 1.0)
    return [float(p) for p in result]


# Statistics of judged examples: means with percentile bootstrap intervals, and paired differences.
#
# Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13. Whatever is compared is resampled
# together: the same texts for both sides, so that differences between texts cancel. A few training runs cannot be
# resampled; their interval is a t-interval.

Combine = Literal["mean", "f1"]


@dataclass(frozen=True)
class MetricValues:
    """One metric's values for one method; nan where an example is not judged.

    columns: [draw example column]. combine: see `Judged`. curve: [example point], the mean over draws; grid: [point].
    """

    columns: np.ndarray
    combine: Combine
    curve: np.ndarray | None = None
    grid: np.ndarray | None = None


BOUNDS = (0.025, 0.975)
DRAWS_AT_ONCE = 2**22  # random numbers in memory together: 32 MB


def combined(columns: np.ndarray, combine: Combine = "mean") -> float:
    """The metric's number from columns [example column]; examples with nan, which were not judged, are left out."""
    rows = judged_rows(columns)
    return float(combined_means(rows.mean(0), combine)) if len(rows) else float("nan")


def judged_rows(columns: np.ndarray) -> np.ndarray:
    """[example column] or [example] -> [judged column]: the rows without nan."""
    columns = np.asarray(columns, dtype=float)
    columns = columns[:, None] if columns.ndim == 1 else columns
    return columns[~np.isnan(columns).any(1)]


def bootstrap_interval(
    columns: np.ndarray, combine: Combine = "mean", *, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The metric's number over examples with its 95 % interval; nan bounds below two judged examples."""
    rows = judged_rows(columns)
    return percentile_interval(
        combined(rows, combine), combined_means(resampled_means(rows, resamples, seed), combine), len(rows)
    )


def paired_difference(
    columns_a: np.ndarray,
    columns_b: np.ndarray,
    combine: Combine = "mean",
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """a - b over the examples that both judged, with its 95 % interval; every resample draws the same texts for
    both.
    """
    a, b = (np.asarray(columns, dtype=float).reshape(len(columns), -1) for columns in (columns_a, columns_b))
    if a.shape != b.shape:
        raise BadInput(f"To compare example by example, both sides need the same shape; {a.shape} and {b.shape} came.")
    both = judged_rows(np.hstack([a, b]))
    width = a.shape[1]
    means = resampled_means(both, resamples, seed)
    estimate = combined(both[:, :width], combine) - combined(both[:, width:], combine)
    return percentile_interval(
        estimate,
        combined_means(means[:, :width], combine) - combined_means(means[:, width:], combine),
        len(both),
    )


def paired_difference_over_runs(a: np.ndarray, b: np.ndarray) -> Interval:
    """Mean of a - b [run example] with its 95 % interval over runs (training seeds), in which texts are nested.

    Run r of a is paired with run r of b. The half width is sqrt((t s_r)^2 + (z s_x)^2): s_r is the standard error of
    the runs' means, t the quantile of their few degrees of freedom (12.7 with two runs, 4.3 with three), s_x the
    standard error of the texts' means over runs. Examples with a nan in any run are left out. With one run only texts
    vary: the interval is that of one model, and says nothing about the next training.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or a.ndim != 2:
        raise BadInput(f"Give two arrays [run example] of the same shape; {a.shape} and {b.shape} came.")
    difference = (a - b)[:, ~np.isnan(a - b).any(0)]
    runs, examples = difference.shape
    if examples < 2:
        return Interval(float(difference.mean()) if examples else float("nan"), float("nan"), float("nan"))
    from scipy.stats import norm, t  # scipy.stats takes most of a second to import

    of_texts = norm.ppf(BOUNDS[1]) * _standard_error(difference.mean(0))
    of_runs = t.ppf(BOUNDS[1], runs - 1) * _standard_error(difference.mean(1)) if runs > 1 else 0.0
    mean, half = float(difference.mean()), float(np.hypot(of_runs, of_texts))
    return Interval(mean, mean - half, mean + half)


def mean_over_runs(values: np.ndarray, within: Range | None = None) -> Interval:
    """The mean of [run example] with its 95 % interval over runs, in which texts are nested, `inside` its range."""
    values = np.asarray(values, dtype=float)
    texts = int((~np.isnan(values).any(0)).sum())
    return inside(paired_difference_over_runs(values, np.zeros_like(values)), within, texts)


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def accuracy_interval(correct: Sequence[bool] | np.ndarray, *, resamples: int = 2000, seed: int = 0) -> Interval:
    """The share of correct answers [example] with its 95 % interval."""
    return bootstrap_interval(np.asarray(correct, dtype=float), resamples=resamples, seed=seed)


def combined_means(means: np.ndarray, combine: Combine) -> np.ndarray:
    """[..., column] -> [...]: the only column, or the F1 of precision and recall (0 when both are 0)."""
    if combine == "mean":
        return means[..., 0]
    total = means.sum(-1)
    return np.divide(2 * means[..., 0] * means[..., 1], total, out=np.zeros_like(total), where=total > 0)


def percentile_interval(estimate: float, resampled: np.ndarray, examples: int) -> Interval:
    if examples < 2:  # one example does not show how much examples differ
        return Interval(float(estimate), float("nan"), float("nan"))
    low, high = np.quantile(resampled, BOUNDS)
    return Interval(float(estimate), float(low), float(high))


def resampled_means(rows: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """[example column] -> [resample column]: the column means of examples drawn with replacement."""
    generator = np.random.default_rng(seed)
    return np.concatenate([tally @ rows / max(len(rows), 1) for tally in tallies(generator, len(rows), resamples)])


def tallies(generator: np.random.Generator, count: int, resamples: int) -> Iterator[np.ndarray]:
    """Parts of [resample example]: how often each of `count` examples is drawn in `count` draws."""
    at_least("resamples", resamples, 1)
    at_once = max(1, DRAWS_AT_ONCE // max(count, 1))
    for first in range(0, resamples, at_once):
        yield _tally(generator, count, min(at_once, resamples - first))


def _tally(generator: np.random.Generator, count: int, size: int) -> np.ndarray:
    """[resample example]; the draws are handed back before others are made of them, for each takes 32 MB."""
    drawn = generator.integers(max(count, 1), size=(size, count))
    drawn += np.arange(size)[:, None] * count
    often = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
    del drawn
    return often.astype(float)


# F1 of one class, and its mean over classes: harmonic means of precision and recall.
#
# van Rijsbergen (1979), "Information Retrieval", chapter 7. Papers on attention report it of "class 1", the second of
# two (corrections.md A4.11).


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
    rows = np.array([_counts(label, prediction, classes) for label, prediction in zip(gold, predicted, strict=True)])
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


# Matthews correlation: how far predictions and labels go together, with every class counting by how rare it is.
#
# Matthews (1975), "Comparison of the predicted and observed secondary structure of T4 phage lysozyme", for two
# classes; Gorodkin (2004), "Comparing two K-category assignments by a K-category correlation coefficient", equation
# 8, for any number.


def matthews_interval(
    gold: Sequence[str], predicted: Sequence[str], *, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The correlation of labels and predictions [example], -1 to 1, with its 95 % bootstrap interval over examples.

    0 is what predictions without any relation to the labels get. Where all labels are one class, or all predictions
    are, there is nothing to correlate, and the number is 0, also in single resamples: even if every prediction is
    right.
    """
    classes = sorted({*gold, *predicted})
    class_index = {name: index for index, name in enumerate(classes)}
    cells = np.array(
        [
            class_index[label] * len(classes) + class_index[prediction]
            for label, prediction in zip(gold, predicted, strict=True)
        ]
    )
    # Only the pairs of classes that occur are columns: of many classes most pairs do not.
    pairs, pair_of = np.unique(cells, return_inverse=True)
    rows = np.eye(len(pairs))[pair_of]
    labels, answers = (np.eye(len(classes))[part] for part in np.divmod(pairs, len(classes)))
    means = resampled_means(rows, resamples, seed)
    return percentile_interval(
        float(correlation(rows.mean(0), labels, answers)), correlation(means, labels, answers), len(rows)
    )


def correlation(shares: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """[...]: the correlation, from the share of examples in each pair of classes [..., pair].

    labels, answers: [pair class], which class each pair has as its label, and which as the prediction.
    """
    of_labels, of_answers = shares @ labels, shares @ answers  # [..., class]: how often each class is either
    right = shares @ (labels * answers).sum(-1)
    covariance = right - (of_labels * of_answers).sum(-1)
    spreads = (1 - (of_labels**2).sum(-1)) * (1 - (of_answers**2).sum(-1))
    # With one class alone a spread is 0 but for rounding.
    varied = spreads > 1e-12
    return np.where(varied, covariance / np.sqrt(np.where(varied, spreads, 1.0)), 0.0)
