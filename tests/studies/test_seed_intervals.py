"""Intervals of scores over few seeds: for means those of `paired_difference_over_runs`, wider the fewer the seeds."""

import numpy as np
import pytest

from pellucid.evidence.eraser_scores import NUMBERS
from studies.shared.seed_intervals import interval_over_seeds


def first(means):
    return means[..., 0]


def test_of_a_mean_it_is_the_interval_over_seeds_with_texts_nested():
    values = np.random.default_rng(0).random((3, 400)) + np.array([[0.0], [0.1], [0.3]])
    interval = interval_over_seeds(values[..., None], first)
    assert interval.mean == pytest.approx(values.mean())
    of_runs = 4.302653 * values.mean(1).std(ddof=1) / 3**0.5
    of_texts = 1.959964 * values.mean(0).std(ddof=1) / 20
    assert interval.high - interval.mean == pytest.approx(np.hypot(of_runs, of_texts), rel=0.02)
    assert interval.mean - interval.low == pytest.approx(interval.high - interval.mean)


def test_equal_seeds_leave_the_texts_spread_and_one_seed_does_too():
    values = np.repeat(np.random.default_rng(1).random((1, 200, 1)), 3, axis=0)
    three, one = interval_over_seeds(values, first), interval_over_seeds(values[:1], first)
    assert three.high - three.low == pytest.approx(one.high - one.low, rel=1e-6)
    assert one.high > one.mean > one.low


def test_a_score_that_is_no_mean_is_computed_seed_by_seed():
    columns = np.random.default_rng(2).random((2, 50, 6))
    for number in NUMBERS.values():
        expected = np.mean([number(one.mean(0)) for one in columns])
        assert interval_over_seeds(columns, number).mean == pytest.approx(expected)
