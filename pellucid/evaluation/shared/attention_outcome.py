"""What a test of attention says of a model: the mean over texts with its interval, and the deviation of random draws."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.results.table import Interval
from pellucid.evaluation.shared.summary import bootstrap_interval, percentile_interval, resampled_means
from pellucid.evaluation.shared.weighed_texts import WeighedText

FEWEST = 2  # units: the weight of a single one is 1 whatever is done to it
RESAMPLES = 2000


@dataclass(frozen=True)
class AttentionOutcome:
    """value: mean and 95 % bootstrap interval over texts. deviation: of the mean from draw to draw; nan of a test without draws.

    n_texts: how many texts were judged. too_short: texts of fewer than two units. unlabelled: texts that lack what the test
    needs, such as a label of the model. Both are left out.
    """

    value: Interval
    deviation: float
    n_texts: int
    too_short: int
    unlabelled: int


def attention_outcome(
    name: str, texts: Sequence[WeighedText], settings: Mapping[str, object] | None = None
) -> AttentionOutcome:
    """One registered test on these texts; raises `UnknownName` and `BadSetting` as every catalogue does."""
    entry = attention_tests.get(name)
    call = entry.settings(dict(settings or {}))
    values = [entry.make(text, **call).tolist() if len(text) >= FEWEST else [] for text in texts]
    return outcome_of(values, [len(text) for text in texts], str(entry.facts["average"]))


def outcome_of(
    values: Sequence[Sequence[float]], sizes: Sequence[int], average: str = "texts"
) -> AttentionOutcome:
    """values: a text's [draw], empty where it is too short, nan where it lacks something. sizes: its units.

    average: "texts", or "units": then a text counts as often as it has units.
    """
    long = [(np.array(draws), size) for draws, size in zip(values, sizes, strict=True) if len(draws)]
    judged = [(draws, size) for draws, size in long if not np.isnan(draws).any()]
    means = np.array([draws.mean() for draws, _ in judged])
    deviation = math.nan
    if judged and len(judged[0][0]) > 1:
        deviation = float(np.stack([draws for draws, _ in judged]).mean(0).std(ddof=1))
    by_unit = average == "units" and len(judged) > 0
    interval = (
        _interval_by_unit(means, np.array([size for _, size in judged]))
        if by_unit
        else bootstrap_interval(means)
    )
    return AttentionOutcome(
        interval, deviation, len(judged), len(values) - len(long), len(long) - len(judged)
    )


def _interval_by_unit(means: np.ndarray, sizes: np.ndarray) -> Interval:
    """The mean over units, from the means of texts; texts are resampled whole."""
    columns = np.stack([means * sizes, sizes], 1).astype(float)
    resampled = resampled_means(columns, RESAMPLES, 0)
    number = float(columns[:, 0].sum() / columns[:, 1].sum())
    return percentile_interval(number, resampled[:, 0] / resampled[:, 1], len(means))
