"""Ranges of a text: the heaviest of all possible ranges, and random ranges of the same length."""

import numpy as np
import pytest
import torch

from pellucid.results.heaviest_spans import heaviest, richest
from pellucid.run.read_alone import choices_alike, disjoint_alike, only, others_alike, without
from pellucid.text.example import as_examples
from tests.shared.sample_results import sample_explanation as explanation


def all_ranges(texts):
    return [
        range(start, stop)
        for start in range(len(texts))
        for stop in range(start + 1, len(texts) + 1)
        if len(set(texts[start:stop])) == 1
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_richest_range_has_the_largest_sum_of_all(seed):
    texts = [0] * 5 + [1] * 4
    gains = np.random.default_rng(seed).normal(size=9) - 0.3 * (seed % 3)
    first, second, third = richest(gains, texts, 3)
    assert gains[list(first)].sum() == pytest.approx(max(gains[list(s)].sum() for s in all_ranges(texts)))
    free = [s for s in all_ranges(texts) if not {*s} & {*first}]
    assert gains[list(second)].sum() == pytest.approx(max(gains[list(s)].sum() for s in free))
    assert not {*third} & ({*first} | {*second})


def test_there_are_no_more_ranges_than_units():
    assert richest(np.array([1.0, 2.0]), [0, 0], 5) == [range(2)]
    assert richest(np.array([]), [], 1) == []


def test_span_scores_give_their_spans_and_word_scores_what_is_above_their_mean():
    spans = explanation("one two three", "span_attention", np.array([0.1, 0.5, 0.0, 0.1, 0.05, 0.25]), spans=True)
    kind, ranges = heaviest(spans, "sentence", 2)  # the model's own parts, whatever unit is named
    assert (kind, ranges) == (spans.units.parts.kind, [range(2), range(2, 3)])
    words = explanation("one two three four", scores=np.array([9.0, 1.0, 5.0, 5.0, 0.0, 0.0]))
    assert heaviest(words, "word") == ("word", [range(1, 3)])  # the special token's 9 does not count


def test_random_ranges_have_one_length_lie_in_one_text_and_differ():
    texts, heaviest_range = [0] * 6 + [1] * 3, range(2, 4)
    every = others_alike(heaviest_range, texts, 99, torch.Generator())
    assert every == [s for s in all_ranges(texts) if len(s) == 2 and s != heaviest_range]
    some = others_alike(heaviest_range, texts, 3, torch.Generator().manual_seed(1))
    assert len({*some}) == 3 and {*some} < {*every}
    assert some != others_alike(heaviest_range, texts, 3, torch.Generator().manual_seed(2))
    assert others_alike(range(6), texts, 3, torch.Generator()) == []


def test_random_choices_of_several_ranges_have_their_lengths_share_no_unit_and_differ():
    texts, ranges = [0] * 7 + [1] * 4, [range(1, 3), range(8, 9)]
    generator = torch.Generator().manual_seed(0)
    choices = choices_alike(ranges, texts, 50, generator)
    assert 10 < len(choices) <= 50 and len({frozenset(one) for one in choices}) == len(choices)
    for one in choices:
        assert sorted(map(len, one)) == [1, 2] and set(one) != set(ranges)
        units = [unit for each in one for unit in each]
        assert len(set(units)) == 3 and all(texts[each[0]] == texts[each[-1]] for each in one)
    assert choices_alike([range(4), range(4, 7)], [0] * 7, 20, generator) == [[range(3, 7), range(3)]]
    assert choices_alike([range(2, 4)], texts, 99, generator) == [
        [one] for one in others_alike(range(2, 4), texts, 99, generator)
    ]
    assert disjoint_alike([range(2), range(2, 4)], [0, 0, 1, 2, 2, 2], generator) is not None
    assert disjoint_alike([range(3), range(3, 6)], [0, 0, 0, 1, 1], generator) is None


def test_a_range_alone_and_the_rest_make_the_text(bert):
    batch = bert.encode(as_examples(["A gripping, lovely film."]))
    pieces = batch.pieces_of(0, "word")
    alone, rest = only(batch, 0, pieces, range(1, 3)), without(batch, 0, pieces, range(1, 3))
    special = [place for place, text in enumerate(batch.units[0].segment) if text == -1]
    assert {*alone.positions} & {*rest.positions} == {*special}
    assert {*alone.positions} | {*rest.positions} == {*range(len(batch.rows[0]))}
    assert {*alone.positions} == {*special, *pieces[1], *pieces[2]}


def test_random_ranges_lie_in_no_text_without_spans():
    texts = [-1, -1, -1, 1, 1, 1, 1]  # the first text of the pair has none
    generator = torch.Generator().manual_seed(0)
    assert others_alike(range(3, 5), texts, 9, generator) == [range(4, 6), range(5, 7)]
    drawn = {tuple(disjoint_alike([range(3, 5), range(6, 7)], texts, generator) or ()) for _ in range(40)}
    assert all(one.start >= 3 for ranges in drawn for one in ranges) and len(drawn) > 1
