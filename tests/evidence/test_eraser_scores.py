"""ERASER's definitions, quirks included: ours equal the benchmark's to 1e-9 on random documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import BadInput
from pellucid.comparison.metrics.erasure import comprehensiveness, sufficiency
from pellucid.comparison.metrics.plausibility import area_under_precision
from pellucid.comparison.removed_words import FRACTIONS
from pellucid.evidence.eraser_scores import eraser_differences, eraser_scores, example_columns
from pellucid.results.extraction import ExtractedSpan, Extraction
from pellucid.text.example import Example, Rationale
from tests.reference import eraser as slow
from tests.reference import metrics
from tests.shared.cases import case_with, examples

EXACT = 1e-9
WORDS = 9
SPAN = st.tuples(st.integers(0, WORDS - 1), st.integers(1, WORDS)).filter(lambda span: span[0] < span[1])
SPANS = st.sets(SPAN, max_size=3)
DOCUMENT = st.tuples(SPANS, SPANS)  # predicted, marked
EXAMPLES = st.lists(st.lists(DOCUMENT, min_size=1, max_size=2), min_size=1, max_size=4)


def characters(span):
    """Where tokens of two letters with a blank between them stand."""
    return 3 * span[0], 3 * span[1] - 1


def extraction(number, documents):
    """An extraction with these predicted and marked spans of tokens in each text, also overlapping ones."""
    text = " ".join(["ab"] * WORDS)
    marks = [Rationale(n, *characters(span)) for n, (_, gold) in enumerate(documents) for span in sorted(gold)]
    spans = [
        ExtractedSpan("", 0.0, n, *characters(span), range(*span))
        for n, (predicted, _) in enumerate(documents)
        for span in sorted(predicted)
    ]
    example = Example((text,) * len(documents), "x", tuple(marks), str(number))
    return Extraction(example, tuple(spans), WORDS * len(documents), "by hand", {}, 0)


def by_key(examples, side):
    spans = {
        (str(number), n): documents[n][side] for number, documents in enumerate(examples) for n in range(len(documents))
    }
    return {key: of_document for key, of_document in spans.items() if of_document}


@given(EXAMPLES, st.sampled_from([0.1, 0.5, 0.9]))
def test_hard_scores_are_the_benchmarks(examples, threshold):
    gold, predicted = by_key(examples, 1), by_key(examples, 0)
    extractions = [extraction(number, documents) for number, documents in enumerate(examples)]
    if not gold:
        with pytest.raises(BadInput, match="nothing to judge"):
            eraser_scores(extractions, threshold=threshold)
        return
    scores = eraser_scores(extractions, threshold=threshold, resamples=2)
    assert scores.iou_f1.mean == pytest.approx(slow.iou_f1(gold, predicted, threshold), abs=EXACT)
    assert scores.token_f1.mean == pytest.approx(slow.token_f1(gold, predicted), abs=EXACT)


def test_the_quirks_that_random_cases_could_miss():
    """By hand: recall above 1, an empty prediction left out of precision, a document without marks counted in it."""
    halves = extraction(0, [({(0, 2), (2, 4)}, {(0, 4)})])
    nothing = extraction(1, [(set(), {(0, 2)})])
    astray = extraction(2, [({(0, 2)}, set()), ({(3, 5)}, {(3, 5)})])
    scores = eraser_scores([halves, nothing, astray])
    precision, recall = (1 + 0 + 1) / 3, (2 + 0 + 1) / 3  # the empty prediction is in the second only
    assert scores.iou_f1.mean == pytest.approx(2 * precision * recall / (precision + recall))
    assert scores.token_f1.mean == pytest.approx((1 + 0 + 0 + 1) / 4)
    assert eraser_scores([nothing]).iou_f1.mean == 0
    assert scores.n == 3 and scores.budget == pytest.approx((4 / 9 + 0 + 4 / 18) / 3)


def test_tokens_stand_between_blanks_and_count_whole():
    example = Example(("A well-made film, really.",), "x", (Rationale(0, 2, 16),))
    span = ExtractedSpan("made", 0.0, 0, 7, 11, range(3, 4))
    scores = eraser_scores([Extraction(example, (span,), 7, "by hand", {}, 0)])
    assert scores.token_f1.mean == pytest.approx(2 / 3)  # "well-made" of "well-made film,"
    assert scores.iou_f1.mean == 1


def test_marking_what_people_marked_is_perfect_and_intervals_hold_the_number(bert):
    texts = [one for one in pellucid.examples("pocket") if one.rationales][:6]
    spans = [
        Extraction(
            one,
            tuple(ExtractedSpan("", 0.0, m.segment, m.start, m.end, range(1)) for m in one.rationales),
            1,
            "people",
            {},
            0,
        )
        for one in texts
    ]
    scores = eraser_scores(spans)
    assert scores.iou_f1.mean == scores.token_f1.mean == 1
    assert scores.budget == scores.marked
    random = eraser_scores(pellucid.extract(bert, texts, "random_span"))
    assert random.token_f1.low <= random.token_f1.mean <= random.token_f1.high < 1


def test_a_difference_is_between_scores_and_of_oneself_is_nothing(bert):
    texts = [one for one in pellucid.examples("pocket") if one.rationales][:8]
    extractions = [pellucid.extract(bert, texts, "random_span", seed=seed) for seed in (0, 1)]
    columns = [np.array([example_columns(one, 0.5) for one in of_seed]) for of_seed in extractions]
    scores = [eraser_scores(of_seed) for of_seed in extractions]
    over = eraser_differences(*columns)
    assert over["iou_f1"].mean == pytest.approx(scores[0].iou_f1.mean - scores[1].iou_f1.mean)
    assert over["token_f1"].mean == pytest.approx(scores[0].token_f1.mean - scores[1].token_f1.mean)
    none = eraser_differences(columns[0], columns[0])["token_f1"]
    assert (none.mean, none.low, none.high) == (0, 0, 0)


@given(st.permutations(range(12)), st.lists(st.booleans(), min_size=1, max_size=12))
def test_auprc_of_a_document_is_the_benchmarks(scores, marks):
    scores = scores[: len(marks)]
    if any(marks):
        expected = metrics.auprc(scores, {n for n, mark in enumerate(marks) if mark})
        assert area_under_precision(np.array(marks), np.array(scores, float)) == pytest.approx(expected, abs=EXACT)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6))
def test_auprc_of_equal_scores_is_the_mean_of_the_benchmarks_over_their_orders(words):
    """The benchmark's code takes them as one threshold, which gives blank scores .5 and more."""
    scores, marks = (list(column) for column in zip(*words, strict=True))
    if any(marks):
        expected = metrics.auprc_of_ties(scores, {n for n, mark in enumerate(marks) if mark})
        assert area_under_precision(np.array(marks), np.array(scores, float)) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("metric", [comprehensiveness, sufficiency])
def test_falls_are_averaged_over_thresholds_and_texts_in_any_order(metric):
    case = case_with(examples(), 4)
    by_threshold = [metric(case, fractions=(share,)).columns[:, 0].tolist() for share in FRACTIONS]
    assert metric(case).columns.mean() == pytest.approx(slow.aopc(by_threshold), abs=EXACT)
