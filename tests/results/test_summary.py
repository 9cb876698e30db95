"""The summary of many texts: every count, also where labels fit no class or several methods explain a text."""

from dataclasses import replace

import pytest

from pellucid.results.results import Results
from tests.shared.answered import answered

CAUTION = "The scores do not add up."
TEXTS = Results(
    (
        answered("one", label="positive"),
        answered("two", label="negative", caveats=(CAUTION,)),
        answered("three", says="negative", label="negative", caveats=(CAUTION,)),
        answered("one", says="positive", label="positive", name="again"),
        answered("four", says="negative", label="5"),
        answered("five", says="negative"),
    ),
    seconds=3.0,
)


def test_every_count():
    summary = TEXTS.summary()
    assert (summary.n_texts, summary.n_distinct, summary.n_labelled, summary.seconds) == (6, 5, 4, 3.0)
    assert summary.predicted == {"negative": 3, "positive": 3}
    assert summary.confusion == {
        ("positive", "positive"): 2,
        ("negative", "positive"): 1,
        ("negative", "negative"): 1,
    }
    assert summary.unmatched_labels == {"5": 1} and summary.cautions == {CAUTION: ("two", "three")}
    assert (summary.methods, summary.model) == (("occlusion",), "tiny")


def test_accuracy_has_a_wilson_interval():
    accuracy = TEXTS.summary().accuracy
    assert accuracy.mean == 0.75
    assert (accuracy.low, accuracy.high) == pytest.approx((0.30064, 0.95441), abs=1e-4)
    right = Results((answered("one", label="positive"),)).summary().accuracy
    assert (right.mean, right.high) == (1.0, pytest.approx(1.0)) and 0.2 < right.low < 0.21


def test_without_labels_there_is_no_accuracy():
    summary = Results((answered("one"), answered("two", label="good"))).summary()
    assert summary.accuracy is None and not summary.confusion and summary.unmatched_labels == {"good": 1}


def test_a_text_of_several_methods_counts_once_and_equal_texts_as_often_as_they_came():
    by_other = [replace(one, method="gradient") for one in TEXTS]
    assert Results([*TEXTS, *by_other]).summary().n_texts == 6
    twins = Results((answered("one", name="a"), answered("one", name="a")))
    assert twins.summary().n_texts == 2 and twins.summary().n_distinct == 1


def test_no_results_have_a_summary():
    summary = Results(()).summary()
    assert summary.n_texts == 0 and summary.accuracy is None and summary.words is None
