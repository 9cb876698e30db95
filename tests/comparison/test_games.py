"""Hiding and revealing: their formula, their mirror, their ends, and what a constant model gives."""

from fractions import Fraction

import numpy as np
import pytest

from pellucid.base.errors import BadInput, BadSetting
from pellucid.comparison.metrics.curves import hiding, revealing
from pellucid.comparison.removed_words import area, hidden_counts
from pellucid.text.example import Example
from tests.reference import metrics as slow
from tests.shared.cases import LABELS, TEXTS, answer, case_with, examples


@pytest.mark.parametrize("metric", [hiding, revealing])
@pytest.mark.parametrize("reference", ["gold", "prediction"])
@pytest.mark.parametrize("operator", ["absent", "mask"])
def test_it_is_the_formula(metric, reference, operator):
    case = case_with(examples(), 3)
    judged = metric(case, reference=reference, operator=operator)
    for number, (scores, wanted) in enumerate(zip(case.scores("word"), case.classes(reference), strict=True)):

        def right(removed, number=number, wanted=wanted):
            return answer(case, number, removed, operator).argmax() == wanted

        expected = getattr(slow, metric.__name__)(scores, right)
        assert judged.columns[number, 0] == pytest.approx(expected)


def test_the_curves_move():
    """Else the formula's test would compare constants."""
    curve = hiding(case_with(examples(), 3)).curve
    assert (curve.min(1) != curve.max(1)).sum() >= 2


@pytest.mark.parametrize("steps", [1, 7, 20])
def test_hiding_a_share_is_revealing_the_rest_in_reverse(steps):
    case = case_with(examples(), 1)
    reversed_case = case_with(examples(), [-scores for scores in case.scores("word")])
    hidden = hiding(case, steps=steps)
    shown = revealing(reversed_case, steps=steps)
    np.testing.assert_array_equal(hidden.curve, shown.curve[:, ::-1])
    np.testing.assert_allclose(hidden.grid, 1 - shown.grid[::-1])
    np.testing.assert_allclose(hidden.columns, shown.columns)


def test_both_games_share_their_ends():
    case = case_with(examples(), 2)
    hidden, shown = hiding(case), revealing(case)
    np.testing.assert_array_equal(hidden.curve[:, 0], shown.curve[:, -1])
    np.testing.assert_array_equal(hidden.curve[:, -1], shown.curve[:, 0])
    predicted = [explanation.prediction.label for explanation in case.explanations]
    np.testing.assert_array_equal(hidden.curve[:, 0], [LABELS[n % 3] == label for n, label in enumerate(predicted)])
    assert (hiding(case, reference="prediction").curve[:, 0] == 1).all()


@pytest.mark.parametrize("height", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("points", [2, 21])
def test_a_constant_curve_has_its_own_area(height, points):
    np.testing.assert_allclose(area(np.full((3, points), height)).columns, np.full((3, 1), height))


def test_the_good_order_beats_its_reverse():
    """Scores that are each word's own effect on the class do better than their negative."""
    texts = examples(TEXTS[:1])
    case = case_with(texts)
    whole = answer(case, 0, frozenset())
    best = whole.argmax()
    effects = [whole[best] - answer(case, 0, frozenset({word}))[best] for word in range(len(case.scores("word")[0]))]
    good, bad = (case_with(texts, [sign * np.array(effects)]) for sign in (1, -1))
    assert hiding(good, reference="prediction").columns < hiding(bad, reference="prediction").columns
    assert revealing(good, reference="prediction").columns > revealing(bad, reference="prediction").columns


@pytest.mark.parametrize("units", [0, 1, 2, 3, 10, 41])
@pytest.mark.parametrize("steps", [1, 3, 20])
def test_counts_are_rounded_half_up(units, steps):
    expected = [slow.hidden_at(Fraction(step, steps), units) for step in range(steps + 1)]
    assert hidden_counts(units, steps) == expected
    assert (expected[0], expected[-1]) == (0, units)


def test_sentences_are_hidden_whole():
    case = case_with(examples(["It works. I like it. Buy one!"]), 0)
    judged = hiding(case, unit="sentence", steps=3)
    assert judged.curve.shape == (1, 4)
    best, *_ = case.orders("sentence")[0][0]
    row = case.without(0, [best], "sentence", "absent")
    shown = set(range(len(case.batch.rows[0]))) - set(case.batch.pieces_of(0, "sentence")[best])
    assert row.positions == tuple(sorted(shown))


def test_order_of_examples_does_not_matter():
    texts = examples()
    straight = hiding(case_with(texts, 5))
    backwards = hiding(case_with(texts[::-1], 5))
    np.testing.assert_array_equal(straight.curve, backwards.curve[::-1])


def test_gold_needs_labels():
    case = case_with([Example(("It works.",))])
    with pytest.raises(BadInput, match="reference='prediction'"):
        hiding(case)
    assert hiding(case, reference="prediction").columns.shape == (1, 1)


@pytest.mark.parametrize("settings", [{"steps": 0}, {"reference": "silver"}, {"operator": "blur"}, {"unit": "line"}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(BadSetting):
        hiding(case_with(examples()[:1]), **settings)
