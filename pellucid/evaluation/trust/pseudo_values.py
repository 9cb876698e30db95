"""A number for each text whose mean is the metric's number, so that texts can be compared in pairs.

Tukey's jackknife pseudo-values: n θ - (n - 1) θ without the text (Efron & Tibshirani 1993, section 11.3). Of a mean they are the
values themselves.
"""

import numpy as np

from pellucid.evaluation.shared.summary import Combine, combined_means


def pseudo_values(columns: np.ndarray, combine: Combine = "mean") -> np.ndarray:
    """[example column] -> [example]; nan where an example is not judged."""
    values = np.full(len(columns), np.nan)
    judged = ~np.isnan(columns).any(1)
    rows, n = columns[judged], int(judged.sum())
    if n < 2:
        values[judged] = combined_means(rows, combine)
        return values
    whole, without = rows.mean(0), (rows.sum(0) - rows) / (n - 1)
    values[judged] = n * combined_means(whole, combine) - (n - 1) * combined_means(without, combine)
    return values
