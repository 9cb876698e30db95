"""Intervals of scores over few seeds: for means those of `paired_difference_over_runs`, wider the fewer the seeds."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pellucid.evidence.eraser_scores import NUMBERS
from pellucid.results.table import Interval
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


# No stored interval leaves the range of its number.

STUDIES = Path(__file__).parents[2] / "studies"
RESULTS = sorted(STUDIES.rglob("result.json"))
SIGNED = re.compile(  # differences, falls of a probability, correlations, and metrics that can be negative
    r"over_|over$|'over'|difference|claims|lead|longer|holds'|patterns|lower|below|uniform|permuted|sufficiency|comprehensiveness|alone|without|leak"
    r"|truth|falls|stop_words|used_most|segments|contrasts|corpora|chance|infidelity|sensitivity_n|span_|deletion|faithful|ceiling"
)
LARGE = re.compile(
    r"information|\['runs'\]|ends|per_piece|spans$|words$|divergence|distance|loss|\['curve'\]\[\d+\]\[0\]"
)
OF_ONE = re.compile(
    r"reason_found|decoy_first|marked_weight|precision|revealing|hiding|'layers'.*'(mirrored|near|last|beside)'|^\['seeds'\]"
)


def intervals(value, path=""):
    """(path, interval) of every interval in a result; nan and unknown bounds are left out."""
    if isinstance(value, dict) and {"mean", "low", "high"} <= value.keys():
        numbers = [value[end] for end in ("mean", "low", "high")]
        if all(number is not None and number == number for number in numbers):
            yield path, Interval(*numbers)
    elif isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from intervals(part, f"{path}[{name!r}]")


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: str(file.parent.relative_to(STUDIES)))
def test_no_stored_interval_leaves_the_range_of_its_number(file):
    for path, one in intervals(json.loads(file.read_text(encoding="utf-8"))):
        small = 1e-9
        if not SIGNED.search(path):
            assert one.low >= -small, (path, one)
        if not LARGE.search(path):
            assert (-100 - small <= one.low and one.high <= 100 + small) or "claims" in path, (path, one)
        if OF_ONE.search(path) and not re.search("over_|lead|claims", path):
            assert -1 - small <= one.low and one.high <= 1 + small, (path, one)
