"""What a test of attention says of a model: the mean over texts with its interval, and the deviation of random draws."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.results.table import Interval
from pellucid.evaluation.shared.summary import bootstrap_interval
from pellucid.evaluation.shared.weighed_texts import WeighedText

FEWEST = 2  # units: the weight of a single one is 1 whatever is done to it


@dataclass(frozen=True)
class AttentionOutcome:
    """value: mean and 95 % bootstrap interval over texts. deviation: of the mean from draw to draw; nan of a test without draws.

    n_texts: how many texts were judged. too_short: texts of fewer than two units. unlabelled: texts that lack a label of the
    model, where the test needs one. Both are left out.
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
    long = [text for text in texts if len(text) >= FEWEST]
    draws = [entry.make(text, **call) for text in long]
    judged = [values for values in draws if not values.isnan().any()]
    deviation = math.nan
    if judged and len(judged[0]) > 1:
        deviation = float(torch.stack(judged).mean(0).std())
    means = np.array([float(values.mean()) for values in judged])
    return AttentionOutcome(
        bootstrap_interval(means), deviation, len(judged), len(texts) - len(long), len(long) - len(judged)
    )
