"""The interval of a score over few training seeds that were judged on the same texts.

Like `paired_difference_over_runs`, but also for scores that are not means over texts, such as an F1.
"""

from collections.abc import Callable

import numpy as np

from pellucid.results.bootstrap import BOUNDS, Range, inside, resampled_means
from pellucid.results.table import Interval


def interval_over_seeds(
    columns: np.ndarray,
    number: Callable[[np.ndarray], np.ndarray],
    within: Range | None = None,
    *,
    resamples: int = 2000,
) -> Interval:
    """The mean over seeds of a number of column means, for columns [seed example column], with its 95 % interval.

    columns: what is averaged over the examples. number: means [... column] -> scores [...]. within: what the number
    cannot leave, such as `SHARE`; the interval then stays inside too (`inside`). resamples: draws of texts.

    The half width is sqrt((t s_r)^2 + (z s_x)^2). s_r is the standard error of the seeds' scores, and t the quantile
    for their few degrees of freedom. s_x is the standard error over texts: of the mean over seeds when texts are drawn
    with replacement, the same texts for all seeds. With one seed only the texts vary.
    """
    from scipy.stats import norm, t  # scipy.stats takes most of a second to import

    seeds, examples, width = columns.shape
    by_seed = np.array([number(one.mean(0)) for one in columns], dtype=float)
    flat = columns.transpose(1, 0, 2).reshape(examples, seeds * width)
    drawn = number(resampled_means(flat, resamples, 0).reshape(resamples, seeds, width)).mean(1)
    of_texts = norm.ppf(BOUNDS[1]) * drawn.std(ddof=1)
    of_runs = t.ppf(BOUNDS[1], seeds - 1) * by_seed.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0
    mean, half = float(by_seed.mean()), float(np.hypot(of_runs, of_texts))
    return inside(Interval(mean, mean - half, mean + half), within, examples)
