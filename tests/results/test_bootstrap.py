"""Intervals: they are the slow bootstrap, they cover, and pairing narrows them."""

import numpy as np
import pytest

from pellucid.base.errors import BadInput, BadSetting
from pellucid.comparison.case import Judged
from pellucid.comparison.judged_part import curve_intervals
from pellucid.results import bootstrap as summary
from pellucid.results.bootstrap import (
    CORRELATION,
    NOT_NEGATIVE,
    PERCENT,
    SHARE,
    accuracy_interval,
    bootstrap_interval,
    combined,
    inside,
    mean_over_runs,
    paired_difference,
    paired_difference_over_runs,
    share,
)
from pellucid.results.table import Interval
from tests.reference import metrics as slow

RANDOM = np.random.default_rng(8)


def test_it_is_the_slow_bootstrap():
    columns = RANDOM.uniform(size=(13, 2))
    draws = np.random.default_rng(5).integers(13, size=(200, 13))
    values = [slow.f1(*means) for means in slow.resampled_means(columns.tolist(), draws.tolist())]
    interval = bootstrap_interval(columns, "f1", resamples=200, seed=5)
    assert interval.mean == pytest.approx(slow.f1(*columns.mean(0)))
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(1)
    samples = random.exponential(size=(300, 60))
    intervals = [bootstrap_interval(sample, resamples=300, seed=n) for n, sample in enumerate(samples)]
    covered = np.mean([one.low <= 1 <= one.high for one in intervals])
    assert 0.89 <= covered <= 0.97


def test_pairing_narrows():
    """Texts differ more than methods do: the difference is known far better than either number."""
    hard = RANDOM.normal(size=80)
    a, b = hard + 0.2 + RANDOM.normal(scale=0.05, size=80), hard + RANDOM.normal(scale=0.05, size=80)
    paired = paired_difference(a, b)
    alone = bootstrap_interval(a)
    assert paired.mean == pytest.approx(a.mean() - b.mean())
    assert paired.high - paired.low < 0.2 * (alone.high - alone.low)
    assert paired.excludes_zero


def test_a_paired_difference_of_f1s_is_the_difference_of_the_f1s():
    a, b = RANDOM.uniform(size=(2, 30, 2))
    interval = paired_difference(a, b, "f1", resamples=100)
    assert interval.mean == pytest.approx(combined(a, "f1") - combined(b, "f1"))
    assert interval.low < interval.mean < interval.high
    same = paired_difference(a, a, "f1", resamples=100)
    assert (same.mean, same.low, same.high) == (0, 0, 0)


def test_what_was_not_judged_is_left_out():
    columns = np.array([0.0, np.nan, 1.0, 0.5])
    assert bootstrap_interval(columns) == bootstrap_interval(columns[[0, 2, 3]])
    other = np.array([np.nan, 0.0, 0.0, 0.0])
    assert paired_difference(columns, other).mean == pytest.approx(0.75)


@pytest.mark.parametrize("columns", [[], [np.nan], [0.4]])
def test_too_few_examples_have_no_bounds(columns):
    interval = bootstrap_interval(np.array(columns))
    assert np.isnan([interval.low, interval.high]).all()
    assert not interval.excludes_zero
    assert interval.mean == 0.4 if columns == [0.4] else np.isnan(interval.mean)


def test_chunks_do_not_change_the_interval(monkeypatch):
    columns = RANDOM.normal(size=(40, 1))
    whole = bootstrap_interval(columns, resamples=90)
    monkeypatch.setattr(summary, "DRAWS_AT_ONCE", 7 * 40)
    parts = bootstrap_interval(columns, resamples=90)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high))


def test_the_seed_decides():
    columns = RANDOM.normal(size=50)
    assert bootstrap_interval(columns, seed=3) == bootstrap_interval(columns, seed=3)
    assert bootstrap_interval(columns, seed=3) != bootstrap_interval(columns, seed=4)


def literal_interval(difference):
    """Mean and half width, written out."""
    runs, texts = difference.shape
    mean = sum(map(sum, difference)) / (runs * texts)
    of_runs = [sum(row) / texts for row in difference]
    of_texts = [sum(column) / runs for column in difference.T]
    error = lambda means: (  # noqa: E731
        sum((one - mean) ** 2 for one in means) / (len(means) - 1) / len(means)
    )
    quantile = {2: 12.70620474, 3: 4.30265273, 5: 2.77644511}[runs]
    return mean, (quantile**2 * error(of_runs) + 1.95996398**2 * error(of_texts)) ** 0.5


@pytest.mark.parametrize("runs", (2, 3, 5))
def test_the_interval_over_runs_is_the_written_out_one(runs):
    a, b = RANDOM.normal(size=(2, runs, 12))
    mean, half = literal_interval(a - b)
    interval = paired_difference_over_runs(a, b)
    assert (interval.mean, interval.low, interval.high) == pytest.approx((mean, mean - half, mean + half), rel=1e-5)


@pytest.mark.parametrize(("of_runs", "of_texts"), ((1.0, 0.0), (0.3, 3.0), (0.0, 3.0), (1.0, 10.0)))
def test_the_interval_over_three_runs_covers_what_it_should(of_runs, of_texts):
    """At least 93 of 100 times, whatever varies: training, texts, or each text with each training."""
    random, covered = np.random.default_rng(5), 0
    for _ in range(400):
        effect = of_runs * random.normal(size=(3, 1)) + of_texts * random.normal(size=(1, 100))
        values = effect + random.normal(size=(3, 100))
        interval = paired_difference_over_runs(values, np.zeros_like(values))
        covered += interval.low <= 0 <= interval.high
    assert covered / 400 >= 0.93


def test_of_one_run_texts_alone_vary():
    values = RANDOM.normal(size=(1, 200))
    interval = paired_difference_over_runs(values, np.zeros_like(values))
    texts = paired_difference(values[0], np.zeros(200), resamples=20000)
    assert (interval.low, interval.high) == pytest.approx((texts.low, texts.high), abs=0.01)


def test_runs_leave_out_texts_that_one_run_did_not_judge():
    a, b = RANDOM.normal(size=(2, 3, 10))
    a[1, 4] = np.nan
    judged = [n for n in range(10) if n != 4]
    assert paired_difference_over_runs(a, b) == paired_difference_over_runs(a[:, judged], b[:, judged])
    assert np.isnan(paired_difference_over_runs(a * np.nan, b).mean)


def test_curves_have_an_interval_at_each_point():
    curve = RANDOM.integers(2, size=(40, 5)).astype(float)
    mean, low, high = curve_intervals(Judged(curve[:, :1], curve=curve, grid=np.linspace(0, 1, 5)))
    np.testing.assert_allclose(mean, curve.mean(0))
    point = bootstrap_interval(curve[:, 2])
    assert (low[2], high[2]) == pytest.approx((point.low, point.high))
    with pytest.raises(BadInput):
        curve_intervals(Judged(curve[:, :1]))


def test_accuracy_is_a_share():
    interval = accuracy_interval([True] * 30 + [False] * 10)
    assert interval.mean == 0.75
    assert 0.5 < interval.low < 0.75 < interval.high < 0.95


def test_what_does_not_fit_is_refused():
    with pytest.raises(BadInput):
        paired_difference(np.zeros(3), np.zeros(4))
    with pytest.raises(BadInput):
        paired_difference_over_runs(np.zeros(3), np.zeros(3))
    with pytest.raises(BadSetting):
        bootstrap_interval(np.zeros(3), resamples=0)


@pytest.mark.parametrize("kind", ["normal", "right or wrong", "skewed", "paired", "f1"])
def test_intervals_cover_the_truth_in_93_to_97_of_100_samples(kind):
    """Two thousand samples of 200 texts as columns of one bootstrap: the same draws of texts for all samples."""
    random, texts, samples = np.random.default_rng(11), 200, 2000
    if kind == "f1":
        values = random.beta(2, 1, size=(texts, samples, 2)) * [1.0, 0.7]
        truth = 2 * (2 / 3) * (1.4 / 3) / (2 / 3 + 1.4 / 3)
    else:
        draws = {
            "normal": lambda: random.normal(0.3, 1, (texts, samples)),
            "right or wrong": lambda: (random.random((texts, samples)) < 0.7).astype(float),
            "skewed": lambda: random.exponential(size=(texts, samples)),
            "paired": lambda: random.random((texts, samples)) ** 2 - random.random((texts, samples)) ** 2 / 2,
        }
        values = draws[kind]()[..., None]
        truth = {"normal": 0.3, "right or wrong": 0.7, "skewed": 1.0, "paired": 1 / 6}[kind]
    resampled = summary.resampled_means(values.reshape(texts, -1), 1000, 0).reshape(1000, samples, -1)
    numbers = summary.combined_means(resampled, "f1" if kind == "f1" else "mean")
    low, high = np.quantile(numbers, summary.BOUNDS, axis=0)
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.97


@pytest.mark.parametrize("truth", (0.5, 0.9, 0.98))
@pytest.mark.parametrize("runs", (3, 5))
def test_bounds_of_a_share_stay_inside_and_cover_as_often_as_they_say(truth, runs):
    """Trainings differ, and each is judged on the same 100 texts, which differ too."""
    random, covered, spread = np.random.default_rng(9), 0, truth * (1 - truth) / 0.25
    for _ in range(400):
        of_run = random.beta(*(np.array([truth, 1 - truth]) * (40 / spread)), size=(runs, 1))
        interval = mean_over_runs((random.random((runs, 100)) < of_run).astype(float), SHARE)
        assert 0 <= interval.low <= interval.mean <= interval.high <= 1
        covered += interval.low <= truth <= interval.high
    assert covered / 400 >= 0.93


def test_of_one_run_it_is_wilsons_interval():
    for count in (0, 1, 19, 39, 40):
        values = (np.arange(40) < count).astype(float)[None]
        ours, wilson = mean_over_runs(values, SHARE), share(count, 40)
        assert (ours.mean, ours.low, ours.high) == pytest.approx((wilson.mean, wilson.low, wilson.high), abs=0.005)


@pytest.mark.parametrize(
    ("interval", "within"),
    (
        (Interval(0.83, 0.58, 1.08), CORRELATION),
        (Interval(42.15, -48.68, 132.98), PERCENT),
        (Interval(0.42, -0.43, 1.27), NOT_NEGATIVE),
        (Interval(1.0, 1.0, 1.0), SHARE),
    ),
)
def test_no_bound_leaves_the_range(interval, within):
    bent = inside(interval, within, 22)
    assert within[0] <= bent.low < bent.mean == interval.mean <= bent.high <= within[1]
    assert bent.high > bent.mean or bent.mean == within[1]


def test_short_intervals_stay_as_they_are():
    short = Interval(0.4, 0.39, 0.41)
    bent = inside(short, SHARE)
    assert (bent.low, bent.high) == pytest.approx((short.low, short.high), abs=1e-3)
    assert inside(short, None) is short and np.isnan(inside(Interval(0.4, np.nan, np.nan), SHARE).low)
