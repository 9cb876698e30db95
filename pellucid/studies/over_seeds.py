"""An interval over few training seeds, each judged on the same texts."""

from collections.abc import Callable

import numpy as np

from pellucid.core.table import Interval
from pellucid.evaluation.summary import _resampled_means

Seeds = int
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def seeds_interval(
    columns: np.ndarray, number: Callable[[np.ndarray], np.ndarray], resamples: int = 1000
) -> Interval:
    """number of column means, for columns [seed example column]: the mean over seeds with a 95 % t-interval.

    Its variance is that between seeds, plus that of texts: the seeds' mean is taken again of texts drawn with replacement,
    the same for all seeds. nan bounds with one seed.
    """
    seeds, examples, width = columns.shape
    by_seed = np.array([number(one.mean(0)) for one in columns], dtype=float)
    mean = float(by_seed.mean())
    if seeds < 2:
        return Interval(mean, float("nan"), float("nan"))
    flat = columns.transpose(1, 0, 2).reshape(examples, seeds * width)
    means = _resampled_means(flat, resamples, 0).reshape(resamples, seeds, width)
    of_texts = number(means).mean(1).var()
    half = T[min(seeds - 1, max(T))] * float(np.sqrt(by_seed.var(ddof=1) / seeds + of_texts))
    return Interval(mean, mean - half, mean + half)
