"""Metrics of faithfulness that take out words by rank or at random, against their definitions written out."""

import numpy as np
import pytest

from pellucid.comparison.metrics.curves import deletion, infidelity, sensitivity_n
from pellucid.comparison.metrics.erasure import comprehensiveness, decision_flip, sufficiency, words_needed
from pellucid.comparison.removed_words import random_edits
from tests.reference import metrics as reference
from tests.shared.cases import answer, case_with, examples


@pytest.fixture
def case():
    return case_with(examples(), 3)


def sets_of(edits):
    return [frozenset(np.flatnonzero(row).tolist()) for row in edits.removed]


def test_decision_flip_equals_its_definition(case):
    values = decision_flip(case).columns[:, 0]
    for index, scores in enumerate(case.scores("word")):
        expected = reference.decision_flip(
            scores, lambda removed, index=index: int(answer(case, index, removed).argmax())
        )
        assert values[index] == pytest.approx(expected)


@pytest.mark.parametrize("within", [1.0, 0.05, 0.01])
def test_words_needed_equals_its_definition(case, within):
    values = words_needed(case, within=within).columns[:, 0]
    for index, scores in enumerate(case.scores("word")):
        expected = reference.words_needed(scores, lambda removed, index=index: answer(case, index, removed), within)
        assert values[index] == pytest.approx(expected)
    assert values.min() < 1


@pytest.mark.parametrize("most", [1, 3, 5])
def test_deletion_equals_its_definition(case, most):
    judged = deletion(case, most=most, operator="absent")
    for index, scores in enumerate(case.scores("word")):
        label = answer(case, index, frozenset()).argmax()
        right = lambda removed, index=index, label=label: bool(answer(case, index, removed).argmax() == label)  # noqa: E731
        expected = reference.deletion(scores, right, most)
        value = judged.columns[index, 0]
        assert np.isnan(value) if expected is None else value == pytest.approx(expected)
    known = ~np.isnan(judged.curve[:, 0])
    assert known.any() and (judged.curve[known, 0] == 1).all()  # texts that are right at first


def test_random_edits_are_those_of_the_text_whatever_the_scores_are():
    first, second = (
        random_edits(case_with(examples(), seed), "a", 8, unit="word", operator="absent", seed=0) for seed in (1, 2)
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.removed, other.removed)
    sizes = np.concatenate([one.removed.sum(1) for one in first])
    lengths = np.concatenate([np.full(len(one.removed), one.removed.shape[1]) for one in first])
    assert ((sizes >= 1) & (sizes < lengths)).all()


@pytest.mark.parametrize(
    ("metric", "literal"), [(infidelity, reference.infidelity), (sensitivity_n, reference.sensitivity_n)]
)
def test_correlations_with_random_edits_equal_their_definitions(case, metric, literal):
    values = metric(case, n_edits=12).columns[:, 0]
    edits = random_edits(case, "infidelity", 12, unit="word", operator="absent", seed=0)
    for index, scores in enumerate(case.scores("word")):
        if len(scores) < 2:
            assert np.isnan(values[index])
            continue
        label = case.explained_classes()[index]
        expected = literal(
            scores,
            sets_of(edits[index]),
            lambda removed, index=index, label=label: float(answer(case, index, removed)[label]),
        )
        assert values[index] == pytest.approx(expected, abs=2e-3)


def test_scores_that_add_up_to_every_fall_are_perfect():
    """Where the model is a sum over words, its effects predict all falls: infidelity 0, correlation 1; negated 1 and
    -1.
    """
    case = case_with(examples(), 3)
    edits = random_edits(case, "infidelity", 20, unit="word", operator="absent", seed=0)
    effects = [np.arange(1.0, one.removed.shape[1] + 1) for one in edits]
    from pellucid.comparison.metrics import curves

    for one, scores in zip(edits, effects, strict=True):
        if len(scores) > 1:
            falls = one.removed @ scores
            assert curves._share(falls, falls) == pytest.approx(0)
            assert curves._share(-falls, falls) == 1
            assert curves._correlation(3 * falls, falls) == pytest.approx(1)
            assert curves._correlation(-falls, falls) == pytest.approx(-1)


def test_equal_edits_are_computed_once_for_all_methods():
    """The same sets for every method: judging a second method's scores asks the model nothing new."""
    case = case_with(examples(), 3)
    infidelity(case)
    before = case.scheduler.rows_run
    sensitivity_n(case)
    assert case.scheduler.rows_run == before


@pytest.mark.parametrize("metric", [comprehensiveness, sufficiency])
def test_a_normalised_fall_is_a_share_of_the_fall_without_any_word(case, metric):
    plain, normalised = metric(case).columns[:, 0], metric(case, normalised=True).columns[:, 0]
    for index, scores in enumerate(case.scores("word")):
        label, everything = case.explained_classes()[index], frozenset(range(len(scores)))
        without_any = (answer(case, index, frozenset()) - answer(case, index, everything))[label]
        if without_any > 0:
            assert normalised[index] == pytest.approx(min(1, max(0, plain[index] / without_any)), abs=1e-5)
        else:
            assert np.isnan(normalised[index])
