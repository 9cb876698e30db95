"""Runs of neighbouring units above a bar, in one text, the best first."""

import numpy as np
import pytest

from pellucid.base.errors import BadSetting
from tests.shared.asking import ask
from tests.shared.explanations import explanation


def runs_of(text, scores, above=0.5):
    """The runs of a text whose words have these scores, with two special tokens around them."""
    one = explanation(text, scores=np.array([9.0, *scores, 9.0]))
    return [(run.text, round(run.score, 2)) for run in one.runs(above)]


def test_neighbours_above_the_bar_are_one_run():
    assert runs_of("a b c d", (0.9, 0.7, 0.1, 0.8)) == [("a b", 0.8), ("d", 0.8)]


def test_the_best_run_has_the_largest_sum_over_the_mean():
    """Means are .5625: d has .4, a b together .05 + .05."""
    assert runs_of("a b c d", (0.6, 0.6, 0.1, 0.95)) == [("d", 0.95), ("a b", 0.6)]


def test_nothing_above_the_bar_gives_nothing_and_the_bar_itself_is_not_above():
    assert runs_of("a b c d", (0.5, 0.2, 0.1, 0.5)) == []
    assert runs_of("a b c d", (0.5, 0.2, 0.1, 0.5), above=0.4) == [("a", 0.5), ("d", 0.5)]


def test_spans_have_no_runs(self_explaining):
    (one,) = ask(self_explaining, ["A fine film."], "span_attention")
    with pytest.raises(BadSetting, match="scores spans already"):
        one.runs()


def test_a_run_does_not_cross_into_the_other_text(choosing):
    (one,) = ask(choosing, [("A fine film.", "A dull book.")], "rationale")
    assert [run.segment for run in one.runs(-1.0)] in ([0, 1], [1, 0])
    assert {run.text for run in one.runs(-1.0)} == {"A fine film.", "A dull book."}
