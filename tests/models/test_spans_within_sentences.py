"""Spans within sentences: none crosses a border, and what the model weighs is what the method shows."""

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.results.storage import read, save
from pellucid.run.batch import OPERATORS
from pellucid.text.example import as_examples
from pellucid.text.units import coarsen, text_units
from tests.shared.asking import ask
from tests.shared.tiny import tiny_composed

TEXTS = (
    "A fine film. It is long, and in the end dull! Avoid",
    "One sentence and no end",
    ("Is it good? Nobody could say.\nIt ran on Monday.", "A fine film. A dull book."),
)
SETTINGS = ({}, {"max_width": 3}, {"unit": "piece"}, {"weights": "uniform"})


def expected_spans(text, settings, explanation):
    """(text, start, end) of every stretch of units inside one sentence, from the characters alone."""
    segments = (text,) if isinstance(text, str) else text
    parts, spans = explanation.units.parts, []
    for number, segment in enumerate(segments):
        for start, end in text_units(segment, "sentence"):
            inside = [
                n
                for n in parts.content
                if parts.segment[n] == number and start <= parts.start[n] and parts.end[n] <= end
            ]
            for place, first in enumerate(inside):
                for last in inside[place : place + settings.get("max_width", len(inside))]:
                    spans.append((number, parts.start[first], parts.end[last]))
    return spans


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_spans_are_those_inside_sentences(settings):
    classifier = tiny_composed("span", within="sentence", **settings)
    for text, explanation in zip(TEXTS, ask(classifier, TEXTS, "span_attention"), strict=True):
        spans = [explanation.units.characters(number) for number in range(len(explanation.units))]
        assert spans == expected_spans(text, settings, explanation)
        assert explanation.scores.sum() == pytest.approx(1, abs=1e-5)
        assert (explanation.scores > 0).all()


def test_weights_are_those_of_whole_texts_over_the_spans_that_are_left():
    """The softmax of the same scores over fewer spans: the others' weights rise in proportion."""
    whole, within = (
        ask(tiny_composed("span", within=border), TEXTS, "span_attention") for border in ("text", "sentence")
    )
    for all_of, some in zip(whole, within, strict=True):
        weight = {all_of.units.characters(n): score for n, score in enumerate(all_of.scores.tolist())}
        left = np.array([weight[some.units.characters(n)] for n in range(len(some.units))])
        np.testing.assert_allclose(some.scores, left / left.sum(), rtol=0, atol=1e-5)
    assert len(whole[1].units) == len(within[1].units)  # one sentence


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_edited_text_keeps_its_borders(operator):
    classifier = tiny_composed("span", within="sentence", unit="piece")
    batch = classifier.encode(as_examples(TEXTS[:1]))
    units, row = batch.units[0], batch.rows[0]
    stops = [piece for piece in units.content if units.labels[piece] in ".!"]
    edited = batch.edited(0, stops, operator)
    with torch.no_grad():
        trace = classifier.trace([edited]).spans
    sentences = torch.tensor([number for number in edited.sentences if number >= 0])
    inside = sentences[:, None] == sentences
    assert torch.equal(trace.scores[0] != -torch.inf, inside.triu())
    assert len(set(row.sentences)) == len(set(edited.sentences)) == 4  # three sentences and no sentence


def test_no_two_sentences_or_texts_share_a_number():
    rows = tiny_composed("span", within="sentence").encode(as_examples(TEXTS)).rows
    assert [len({number for number in row.sentences if number >= 0}) for row in rows] == [3, 1, 5]
    for row in rows:
        assert [number < 0 for number in row.sentences] == [segment < 0 for segment in row.segments]
    assert tiny_composed("span").encode(as_examples(TEXTS)).rows[0].sentences == ()


def test_rows_that_differ_in_borders_alone_are_different():
    classifier = tiny_composed("span", within="sentence")
    one, other = classifier.encode(as_examples(["a film.\nit is", "a film .it is"])).rows
    assert one.ids == other.ids and one.digest != other.digest
    with torch.no_grad():
        together = classifier.trace([one, other]).logits
    assert not torch.allclose(together[0], together[1])


def test_results_survive_a_file(tmp_path):
    explanations = ask(tiny_composed("span", within="sentence"), TEXTS, "span_attention")
    save(explanations, tmp_path / "found.parquet")
    assert read(tmp_path / "found.parquet") == explanations
    words, _ = coarsen(explanations[0].units.parts, "word", explanations[0].example.segments)
    assert explanations[0].words().units == words
    assert len(explanations[0].top(3)) == len(explanations[0].spans(3)) == 3


def test_all_words_of_a_text_may_be_removed():
    classifier = tiny_composed("span", within="sentence")
    batch = classifier.encode(as_examples(TEXTS))
    rows = [batch.edited(0, batch.units[0].content, "absent"), batch.rows[1]]
    with torch.no_grad():
        logits = classifier.trace(rows).logits
    torch.testing.assert_close(logits[0], classifier.network.head.bias)


def test_a_border_that_is_none_raises():
    with pytest.raises(BadSetting, match=r"within='paragraph' is not possible; give one of sentence, text"):
        tiny_composed("span", within="paragraph")
