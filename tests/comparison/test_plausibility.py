"""Token F1, IOU F1 and AUPRC: the benchmark's counting, on real words and marks."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from pellucid.base.errors import BadSetting
from pellucid.comparison.metrics.plausibility import auprc, iou_f1, matched, runs, token_f1
from pellucid.comparison.selection import mean_share, selected_words
from pellucid.results.bootstrap import combined
from pellucid.text.example import Rationale
from tests.reference import metrics as slow
from tests.shared.cases import case_with, examples, mark

MARKS = ([2, 3, 7], [0], [1, 5, 8, 9], [], [0, 1, 2], [1])


def marked_examples():
    return [mark(example, words) if words else example for example, words in zip(examples(), MARKS, strict=True)]


def perfect(case):
    pairs = zip(case.scores("word"), case.rationales("word"), strict=True)
    return [np.zeros(len(scores)) if marked is None else marked.astype(float) for scores, marked in pairs]


def selections(case, budget=None):
    """[example] (selected, marked) as sets of words, by the slow formulas."""
    marks = [set(np.flatnonzero(words)) if words is not None else set() for words in case.rationales("word")]
    lengths = [len(scores) for scores in case.scores("word")]
    shares = [len(gold) / length for gold, length in zip(marks, lengths, strict=True) if gold]
    share = sum(shares) / len(shares) if budget is None else budget
    return [(set(slow.top(scores, str(share))), gold) for scores, gold in zip(case.scores("word"), marks, strict=True)]


@pytest.mark.parametrize("budget", [None, 0.05, 0.4, 1.0])
def test_token_f1_is_the_formula(budget):
    case = case_with(marked_examples(), 6)
    expected = [slow.token_f1(*pair) if pair[1] else np.nan for pair in selections(case, budget)]
    np.testing.assert_allclose(token_f1(case, budget=budget).columns[:, 0], expected)


@pytest.mark.parametrize("budget", [None, 0.2, 0.5])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_iou_f1_is_the_formula(budget, threshold):
    case = case_with(marked_examples(), 6)
    judged = iou_f1(case, budget=budget, threshold=threshold)
    rows = [
        slow.span_precision_and_recall(slow.spans(words, texts), slow.spans(gold, texts), threshold)
        for (words, gold), texts in zip(selections(case, budget), case.segments("word"), strict=True)
        if gold
    ]
    np.testing.assert_allclose(judged.columns[~np.isnan(judged.columns[:, 0])], rows)
    precision, recall = np.mean(rows, axis=0)
    assert combined(judged.columns, judged.combine) == pytest.approx(slow.f1(precision, recall))


@pytest.mark.parametrize("seed", range(3))
def test_auprc_is_the_formula(seed):
    case = case_with(marked_examples(), seed)
    pairs = zip(case.scores("word"), selections(case), strict=True)
    expected = [slow.auprc(scores.tolist(), gold) if gold else np.nan for scores, (_, gold) in pairs]
    np.testing.assert_allclose(auprc(case).columns[:, 0], expected)


@pytest.mark.parametrize("number", [0, 2, 4, 5])
def test_perfect_scores_are_perfect(number):
    """One text at a time: then the budget is that text's own."""
    texts = marked_examples()[number : number + 1]
    case = case_with(texts, perfect(case_with(texts)))
    for metric in (token_f1, iou_f1, auprc):
        judged = metric(case)
        assert combined(judged.columns, judged.combine) == pytest.approx(1)


def test_true_scores_beat_their_negative():
    case = case_with(marked_examples())
    good, bad = (case_with(marked_examples(), [sign * scores for scores in perfect(case)]) for sign in (1, -1))
    for metric in (token_f1, iou_f1, auprc):
        better, worse = (metric(judged) for judged in (good, bad))
        assert combined(better.columns, better.combine) > combined(worse.columns, worse.combine)


def test_texts_without_marks_are_not_judged():
    case = case_with(marked_examples(), 6)
    for metric in (token_f1, iou_f1, auprc):
        assert np.isnan(metric(case).columns).any(1).tolist() == [not words for words in MARKS]


def test_a_run_stays_inside_its_text():
    """The last word of the premise and the first of the hypothesis are neighbours, not one span."""
    assert runs(np.array([0, 1, 1, 1], bool), np.array([0, 0, 1, 1])) == [range(1, 2), range(2, 4)]
    pair = mark(examples()[2], [6, 7])
    case = case_with([pair], perfect(case_with([pair])))
    assert case.segments("word")[0][[6, 7]].tolist() == [0, 1]
    assert len(runs(case.rationales("word")[0], case.segments("word")[0])) == 2


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ([0, 1], [range(4)], (1, 1)),  # exactly half counts
        ([0, 1], [range(5)], (0, 0)),
        ([0, 1, 7], [range(2)], (0.5, 1)),
        ([0, 1], [range(2), range(4, 5)], (1, 0.5)),
    ],
)
def test_a_span_matches_from_half_on(predicted, gold, expected):
    masks = np.isin(np.arange(8), predicted)[None]
    assert matched(masks, np.zeros(8), gold, 0.5) == expected


def test_iou_f1_is_the_f1_of_means_not_the_mean_of_f1s():
    rows = np.array([[1.0, 0.2], [0.2, 1.0]])
    assert combined(rows, "f1") == pytest.approx(0.6)
    assert np.mean([slow.f1(*row) for row in rows]) == pytest.approx(1 / 3)


def test_a_constant_score_gets_what_all_orders_get():
    """The benchmark's code takes equal scores as one threshold: one jump from (0, 1) to (1, share of marked words), .62
    here.
    """
    case = case_with(marked_examples(), [np.ones(len(s)) for s in case_with(marked_examples()).scores("word")])
    pairs = zip(case.scores("word"), selections(case), strict=True)
    expected = [
        np.mean([slow.auprc(range(len(scores)), set(places)) for places in combinations(range(len(scores)), len(gold))])
        if gold
        else np.nan
        for scores, (_, gold) in pairs
    ]
    np.testing.assert_allclose(auprc(case).columns[:, 0], expected)


def test_the_budget_is_the_mean_share_and_at_least_a_word():
    marks = [np.array([True, False]), None, np.array([True, False, False, False])]
    assert mean_share(marks) == pytest.approx(0.375)
    case = case_with(marked_examples(), 6)
    assert [words.sum() for words in selected_words(case, case.rationales("word"), 0.0)] == [1] * len(case)


def test_a_number_of_spans_selects_the_best_spans_of_each_text():
    case = case_with(marked_examples(), 6)
    for n_spans in (1, 2):
        masks = [one for (one,) in selected_words(case, case.rationales("word"), 0.3, n_spans)]
        for scores, texts, mask in zip(case.scores("word"), case.segments("word"), masks, strict=True):
            for text in set(texts.tolist()):
                words = np.flatnonzero(texts == text)
                budget = len(slow.top(scores[words], "0.3"))
                assert mask[words].sum() == budget
                ranges = runs(mask[words], texts[words])
                assert len(ranges) <= n_spans
                means = [scores[words][n : n + budget].mean() for n in range(len(words) - budget + 1)]
                if n_spans == 1:
                    assert scores[words][mask[words]].mean() == pytest.approx(max(means))
    assert iou_f1(case, n_spans=1).columns.shape == token_f1(case, n_spans=1).columns.repeat(2, 1).shape


def test_order_of_examples_does_not_matter():
    for metric in (token_f1, iou_f1, auprc):
        straight = metric(case_with(marked_examples(), 6)).columns
        np.testing.assert_allclose(metric(case_with(marked_examples()[::-1], 6)).columns[::-1], straight)


@pytest.mark.parametrize(
    "settings", [{"budget": 1.5}, {"budget": -0.1}, {"threshold": 0.0}, {"threshold": 2.0}, {"n_spans": 0}]
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(BadSetting):
        iou_f1(case_with(marked_examples()), **settings)


def test_a_mark_on_a_blank_marks_nothing():
    example = replace(examples()[0], rationales=(Rationale(0, 3, 4),))
    assert example.segments[0][3:4] == " "
    assert np.isnan(auprc(case_with([example])).columns).all()
