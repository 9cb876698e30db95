"""The pages and prints of span and error analyses: every number stands there, and no text becomes markup."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.errors.record import CueWord, ErrorAnalysis, PatternCount
from pellucid.explaining.report import write_page as report
from pellucid.explaining.views.span_analysis import cautions
from pellucid.results.span_analysis import AnalysedSpan, Answer, SpanAnalysis
from pellucid.results.table import Interval
from tests.drawing.test_escaping import harmless, hostile_explanation
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE, sample_explanation

NAN = float("nan")


def analysed(text="one two three", words="one", alone="positive", without="negative", **changes):
    """An analysis of one span, with numbers that can be told apart."""
    explanation = changes.pop("explanation", None) or sample_explanation(
        text, "span_attention", np.array([0.5, 0.05, 0.05, 0.1, 0.05, 0.25]), spans=True
    )
    numbers = {
        "weight": 0.5, "own": Answer("positive", 0.81), "own_value": 1.2, "removal": 0.31, "gradient_norm": 0.62,
        "gradient_direct": 0.6, "gradient_by_weights": -0.17, "alone": Answer(alone, 0.73),
        "without": Answer(without, 0.24), "random_agrees": 0.4, "random_probability": 0.3,
    }  # fmt: skip
    span = AnalysedSpan(words, 0, 0, len(words), **{**numbers, **changes})
    return SpanAnalysis(explanation, (span,), 2.9, 4.1, 0.93, 1e-7)


def error_analysis(text=None, name="contrast_outside"):
    """An analysis of errors with one text."""
    one = text or sample_explanation(
        "one two", "span_attention", np.array([0.6, 0.1, 0.3]), spans=True, label="negative"
    )
    half = Interval(0.5, 0.2, 0.8)
    counts = PatternCount(name, "What it means.", 1, 2, half, Interval(0.2, 0.1, 0.4), Interval(0.3, 0.05, 0.6))
    return ErrorAnalysis(2, 10, (counts,), {name: [one]}, {"negative": [CueWord("dull", 9, 1.5, 4.2)], "up": []})


def page_of(results, tmp_path):
    path = report(results, path=tmp_path / "page.html")
    return path.read_text(encoding="utf-8").removeprefix("<!doctype html>")


SHOWN = (
    "“one”",
    "positive (81\u00a0%)",
    "positive (73\u00a0%)",
    "40\u00a0%",
    "negative (24\u00a0%)",
    "−0.310",
    "0.620 (−0.170)",
)


def test_a_card_and_the_terminal_show_every_number(tmp_path):
    page = parsed(page_of([analysed()], tmp_path)).text
    for fact in (*SHOWN, "have 93 % of the weight", "about 2.90 spans", "4.10 if measured by its entropy"):
        assert fact in page, fact
    for fact in SHOWN:
        assert fact in str(analysed()), fact
    assert "“one”" in analysed()._repr_html_()


def test_what_is_unknown_is_a_dash():
    drawn = str(analysed(removal=NAN, random_agrees=NAN, random_probability=NAN))
    assert "random: –" in drawn and "left out of the sum: –" in drawn


@pytest.mark.parametrize(
    ("changes", "starts"),
    [
        ({}, []),
        ({"alone": "negative"}, ["Read alone, “one” gets negative, not positive"]),
        ({"random_probability": 0.8}, ["Read alone, “one” does no better"]),
        ({"without": "positive"}, ["Without “one” the answer is still positive"]),
    ],
)
def test_cautions_say_what_speaks_against_the_span(changes, starts):
    sentences = cautions(analysed(**changes))
    assert len(sentences) == len(starts)
    assert all(one.startswith(start) for one, start in zip(sentences, starts, strict=True))


def test_errors_are_counted_listed_and_marked(tmp_path):
    page = parsed(page_of(error_analysis(), tmp_path)).text
    for fact in (
        "Of 12 texts the model gets 2 wrong",
        "1\u00a0(50\u00a0%)",
        "+30\u00a0points",
        "+5 to +60 points",
        "▲ more common",
    ):
        assert fact in page, fact
    assert "✗ wrong, the label is negative" in page and "“dull” (4.2)" in page
    printed = str(error_analysis())
    assert "1 of 2 wrong answers (50 %), 2 of 10 right ones (20 %)" in printed
    assert "negative read as positive: “one”" in printed
    assert "What it means." in error_analysis()._repr_html_()


def test_errors_by_words_are_read_by_their_method(tmp_path):
    """The page of another method names it, explains its colours, and does not speak of spans."""
    scores = np.array([0.0, 0.6, -0.1, 0.0])
    words = sample_explanation("one two", "integrated_gradients", scores, label="negative")
    analysis = replace(error_analysis(words), method="integrated_gradients")
    page = parsed(page_of(analysis, tmp_path)).text
    for sentence in (
        "its wrong answers depended on, according to integrated gradients",
        "Orange words speak for the explained answer",
        "against the answer",
    ):
        assert sentence in page, sentence
    assert "span" not in page.rpartition("What errors look like")[2]
    assert "explains itself" in parsed(page_of(error_analysis(), tmp_path)).text


def test_a_page_says_how_many_texts_it_leaves_out(tmp_path):
    analysis = error_analysis()
    analysis.texts["contrast_outside"].extend(analysis.texts["contrast_outside"] * 24)
    page = parsed(page_of(analysis, tmp_path))
    assert len(list(page.every(css_class="pl-card"))) == 20
    assert "5 more are in the analysis" in page.text


def test_hostile_texts_are_harmless(tmp_path):
    hostile = hostile_explanation(spans=True)
    spans = analysed(words=HOSTILE, alone=HOSTILE, without=HOSTILE, explanation=hostile)
    errors = error_analysis(hostile, HOSTILE)
    for html in (
        page_of([spans], tmp_path),
        page_of(errors, tmp_path),
        spans._repr_html_(),
        errors._repr_html_(),
    ):
        harmless(html)
    assert "\x1b" not in str(spans) + str(errors)


def test_marks_are_explained_where_there_are_some(tmp_path):
    """The tables of spans draw no marks; the texts of errors do."""
    marked = {"spans": True, "label": "negative", "rationales": [(0, 0, 3)]}
    legend = "what the text’s author marked"
    text = sample_explanation("one two", "span_attention", np.array([0.6, 0.1, 0.3]), **marked)
    assert legend in page_of(error_analysis(text), tmp_path)
    assert legend not in page_of(error_analysis(), tmp_path)
    assert legend not in page_of([analysed(explanation=text)], tmp_path)
