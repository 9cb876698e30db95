"""The values that a metric gave for one method."""

from dataclasses import dataclass

import numpy as np

from pellucid.evaluation.shared.summary import Combine


@dataclass(frozen=True)
class MetricValues:
    """One metric's values for one method; nan where an example is not judged.

    columns: [draw example column]. combine: see `Judged`. curve: [example point], the mean over draws; grid: [point].
    """

    columns: np.ndarray
    combine: Combine
    curve: np.ndarray | None = None
    grid: np.ndarray | None = None
