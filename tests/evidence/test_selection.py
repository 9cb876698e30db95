"""Selections against every span tried, and the promises they share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.base.errors import BadSetting
from pellucid.evidence.extraction_request import BY_WORDS, Selection
from pellucid.text.ranges import choose_ranges, shared_out
from tests.reference import extraction as slow

SCORES = st.lists(st.integers(-8, 8).map(lambda n: n / 4), min_size=1, max_size=9).map(np.array)


def selected(mode, scores, **settings):
    return Selection(mode, **settings).by_words(scores, 0, 0, [f"word {n}" for n in range(len(scores))])


@given(SCORES)
def test_the_highest_average_is_always_one_word(scores):
    """Property 6: the literal rule of the paper never takes a phrase."""
    (word_range,) = selected("literal", scores)
    assert len(word_range) == 1
    assert scores[word_range.start] == slow.highest_average(scores)


@given(SCORES, st.integers(1, 10))
def test_a_budget_takes_the_best_span_of_its_length(scores, budget):
    (word_range,) = selected("budget", scores, budget=budget)
    length = min(budget, len(scores))
    assert len(word_range) == length
    assert slow.mean(scores, (word_range.start, word_range.stop)) == pytest.approx(slow.best_of_length(scores, length))


@given(SCORES)
def test_max_sum_centred_is_the_largest_centred_sum(scores):
    (word_range,) = selected("max_sum_centred", scores)
    total = (scores - scores.mean())[word_range.start : word_range.stop].sum()
    assert total == pytest.approx(slow.largest_centred_sum(scores), abs=1e-12)


@given(SCORES, st.sampled_from(sorted(set(BY_WORDS) - {"same_length"})), st.integers(1, 4), st.integers(1, 12))
def test_spans_stand_in_order_without_overlap_and_one_at_least(scores, mode, n_spans, budget):
    takes = mode in ("budget", "best_words")
    ranges = selected(mode, scores, n_spans=n_spans, **({"budget": budget} if takes else {}))
    words = [word for word_range in ranges for word in word_range]
    assert words and words == sorted(set(words)) and words[-1] < len(scores)
    if takes:
        assert len(words) == min(budget, len(scores))
    if mode not in ("best_words", "above_half"):
        assert len(ranges) <= max(n_spans, 1) or mode == "budget"


@given(st.integers(1, 12), st.lists(st.integers(1, 8), max_size=5), st.randoms())
def test_lengths_that_find_no_room_are_cut_and_none_is_lost(units, lengths, random):
    ranges = choose_ranges(units, lengths, random.choice)
    words = [word for unit_range in ranges for word in unit_range]
    assert words == sorted(set(words))
    assert len(words) == min(sum(lengths), units)


def test_lengths_that_have_room_stay_whole():
    assert sorted(map(len, choose_ranges(10, [2, 3, 4], lambda places: places[0]))) == [2, 3, 4]


def test_a_budget_is_shared_out_evenly():
    assert shared_out(7, 3) == [3, 2, 2]
    assert shared_out(2, 3) == [1, 1]
    assert Selection("budget", 0.5, n_spans=2).lengths(0, 0, 9) == [3, 2]  # a share is rounded up


@pytest.mark.parametrize(
    ("mode", "settings"),
    [("max_sum_centred", {}), ("literal", {}), ("budget", {"budget": 2}), ("best_words", {"budget": 1})],
)
def test_equal_scores_give_words_anywhere_in_the_text_and_always_the_same(mode, settings):
    """The first would let the place of the evidence decide. Words that stand in another order are the same words."""
    starts = []
    for text in range(300):
        words = [f"{text} {n}" for n in range(7)]
        (one,), (again,) = (
            Selection(mode, **settings).by_words(np.full(7, 0.1), 0, 0, order) for order in (words, words[::-1])
        )
        assert {words[n] for n in one} == {words[::-1][n] for n in again}
        starts.append(one.start + (len(one) - 1) / 2)
    assert np.mean(starts) == pytest.approx(3, abs=0.35)


def test_gates_above_a_half_are_open_and_one_is_always():
    assert selected("above_half", np.array([0.6, 0.9, 0.5, 0.7])) == [range(2), range(3, 4)]
    assert selected("above_half", np.array([0.1, 0.4, 0.2])) == [range(1, 2)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "longest"}, "not possible; give one of above_half"),
        ({"mode": "budget"}, "which need one, such as budget=0.2"),
        ({"mode": "literal", "budget": 3}, "a budget belongs to budget and best_words"),
        ({"mode": "same_length"}, "give them as like="),
        ({"mode": "budget", "budget": 1.5}, "is no share of a text"),
        ({"mode": "budget", "budget": 0}, "budget=0 is too small"),
        ({"mode": "budget", "budget": True}, "is no number"),
        ({"mode": "literal", "n_spans": 0}, "n_spans=0 is too small"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, message):
    with pytest.raises(BadSetting, match=message):
        Selection(**settings)
