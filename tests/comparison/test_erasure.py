"""Comprehensiveness and sufficiency: the benchmark's formula and its corners."""

import numpy as np
import pytest

from pellucid.base.errors import BadSetting
from pellucid.comparison.metrics.erasure import comprehensiveness, sufficiency
from pellucid.comparison.removed_words import FRACTIONS
from pellucid.text.ranges import top_count
from tests.reference import metrics as slow
from tests.shared.cases import answer, case_with, examples

TEXTUAL = tuple(map(str, FRACTIONS))


@pytest.mark.parametrize("metric", [comprehensiveness, sufficiency])
@pytest.mark.parametrize("operator", ["absent", "delete", "mask"])
@pytest.mark.parametrize("target", ["predicted", "gold"])
def test_it_is_the_formula(metric, operator, target):
    case = case_with(examples(), 4, target=target)
    values = metric(case, operator=operator).columns[:, 0]
    for number, (scores, explained) in enumerate(zip(case.scores("word"), case.explained_classes(), strict=True)):

        def without(removed, number=number, explained=explained):
            return answer(case, number, removed, operator)[explained]

        expected = getattr(slow, metric.__name__)(scores, without, TEXTUAL)
        assert values[number] == pytest.approx(expected, abs=1e-6)
    assert np.abs(values).max() > 0.01  # else the comparison would say little


def test_delete_closes_the_gap_and_absent_leaves_it():
    case = case_with(examples(), 4)
    assert not np.allclose(
        comprehensiveness(case).columns, comprehensiveness(case, operator="delete").columns, atol=1e-4
    )


@pytest.mark.parametrize(
    ("units", "fraction", "count"),
    [
        (1, 0.01, 1),
        (100, 0.01, 1),
        (101, 0.01, 2),
        (10, 0.05, 1),
        (21, 0.05, 2),
        (7, 0.5, 4),
        (100, 0.07, 7),
        (9, 1.0, 9),
    ],
)
def test_counts_are_rounded_up_to_at_least_one(units, fraction, count):
    assert top_count(units, fraction) == count


def test_the_whole_text_is_sufficient_and_no_more_is_comprehensive():
    """With everything kept nothing falls; with everything gone the fall is that to the empty text."""
    case = case_with(examples(), 4)
    assert np.abs(sufficiency(case, fractions=(1.0,)).columns).max() < 1e-6
    lengths = [len(scores) for scores in case.scores("word")]
    chances = [answer(case, n, frozenset()) - answer(case, n, frozenset(range(size))) for n, size in enumerate(lengths)]
    falls = [fall[explained] for fall, explained in zip(chances, case.explained_classes(), strict=True)]
    np.testing.assert_allclose(comprehensiveness(case, fractions=(1.0,)).columns[:, 0], falls, atol=1e-6)


def test_the_average_weighs_all_fractions_alike():
    case = case_with(examples(), 4)
    parts = [comprehensiveness(case, fractions=(fraction,)).columns for fraction in FRACTIONS]
    np.testing.assert_allclose(comprehensiveness(case).columns, np.mean(parts, axis=0), atol=1e-7)


@pytest.mark.parametrize("fractions", [(), (1.5,), (-0.1,), (float("nan"),)])
def test_bad_fractions_are_refused(fractions):
    with pytest.raises(BadSetting, match="fractions"):
        comprehensiveness(case_with(examples()[:1]), fractions=fractions)
