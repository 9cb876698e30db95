"""Metrics that know the reason, against their definitions written out."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.base.kinds import metrics
from tests.reference import metrics as reference
from tests.shared.cases import case_with, examples, mark

SCORES = [
    ([3.0, 1.0, 2.0, 0.0, -1.0], [0]),
    ([3.0, 1.0, 2.0, 0.0, -1.0], [3, 4]),
    ([1.0, 1.0, 1.0, 1.0, 1.0], [2]),
    ([2.0, 2.0, 0.0, 0.0, 5.0], [1, 2]),
]
TEXT = "It works at night."  # five words


def value_of(name, scores, marked, **settings):
    (example,) = examples([TEXT])
    (call,) = metrics.calls([(name, settings)])
    return call(case_with([mark(example, marked)], [np.array(scores)])).columns[0, 0]


@pytest.mark.parametrize(("scores", "marked"), SCORES)
def test_they_equal_their_definitions(scores, marked):
    reason = [unit in marked for unit in range(len(scores))]
    assert value_of("reason_found", scores, marked) == pytest.approx(reference.reason_found(scores, reason))
    assert value_of("reason_rank", scores, marked) == pytest.approx(reference.reason_rank(scores, reason))
    for k in (1, 2, 9):
        among = reference.among_first(scores, reason, k)
        assert value_of("reason_precision_at_k", scores, marked, k=k) == pytest.approx(among / min(k, 5))
        assert value_of("reason_recall_at_k", scores, marked, k=k) == pytest.approx(among / len(marked))


@pytest.mark.parametrize(("scores", "value"), [([1, 0, 2, 0, 0], 1.0), ([2, 0, 1, 0, 0], 0.0), ([1, 0, 1, 0, 0], 0.5)])
def test_a_decoy_above_the_reason_counts(scores, value):
    """The reason is the first word, the decoy the third."""
    (example,) = examples([TEXT])
    start = TEXT.index("at")
    planted = replace(mark(example, [0]), meta={"distractors": [[0, start, start + 2]]})
    (call,) = metrics.calls(["decoy_first"])
    assert call(case_with([planted], [np.array(scores, dtype=float)])).columns[0, 0] == value
    assert np.isnan(call(case_with([replace(planted, meta={})], [np.array(scores, dtype=float)])).columns[0, 0])
