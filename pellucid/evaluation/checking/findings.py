"""What a check returns, and how it makes lines from values a text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.core.results.check_outcome import CheckLine
from pellucid.core.results.interval import Curve, Interval
from pellucid.evaluation.shared.summary import bootstrap_interval, judged_rows


@dataclass(frozen=True)
class Findings:
    """lines, curves: as in `CheckOutcome`. notes: what could not be judged, in sentences."""

    lines: Sequence[CheckLine]
    curves: Sequence[Curve] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class TextIntervals:
    """How intervals are drawn, the same for all lines of a comparison."""

    resamples: int
    seed: int

    def interval(self, values: Sequence[float] | np.ndarray) -> Interval:
        """The mean of values [text] with its interval over texts; nan where a text is not judged."""
        return bootstrap_interval(
            np.asarray(values, dtype=np.float64), resamples=self.resamples, seed=self.seed
        )

    def line(
        self, method: str, measure: str, values: Sequence[float] | np.ndarray, beside: str = ""
    ) -> CheckLine:
        """A line from one value a text; nan where a text is not judged."""
        rows = judged_rows(np.asarray(values, dtype=np.float64))
        return CheckLine(method, measure, self.interval(values), len(rows), beside)


def judged_lines(lines: Sequence[CheckLine], *, below: float) -> list[CheckLine]:
    """The lines, each passed where its whole interval lies below a limit and failed where it lies at or above."""
    return [replace(line, passed=is_below(line.value, below)) for line in lines]


def is_below(interval: Interval, limit: float) -> bool | None:
    """Whether an interval lies below a limit; None where it lies on both sides, or is not known."""
    if interval.high < limit:
        return True
    return False if interval.low >= limit else None
