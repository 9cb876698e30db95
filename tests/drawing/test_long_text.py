"""Long texts: where the scores lie, the strongest sentences, and the whole text behind a click."""

import numpy as np
import pytest

from pellucid.drawing.heat_map import heat_map
from pellucid.drawing.long_text import BARS, HEIGHT, LONG, LONGEST, SENTENCES
from pellucid.drawing.span_view import span_view
from tests.shared.explanations import word_units
from tests.shared.parsed import parsed
from tests.shared.sample_results import sample_explanation

SENTENCE = "The night boat leaves the harbour at ten. "
TEXT = SENTENCE * 120
STRONG = {40: 3.0, 400: -9.0, 640: 5.0}  # unit -> score; all others are small


def drawn(text=TEXT, strong=STRONG, **changes):
    units = word_units((text,) if isinstance(text, str) else text)
    scores = np.full(len(units), 0.01)
    for unit, score in strong.items():
        scores[unit] = score
    return parsed(heat_map(sample_explanation(text, scores=scores, **changes)).text)


def test_a_short_text_is_shown_whole_at_once():
    page = parsed(heat_map(sample_explanation(SENTENCE * (LONG // len(SENTENCE)))).text)
    assert not list(page.every(css_class="pl-whole"))
    assert not list(page.every("svg"))


def test_the_whole_text_is_there_folded_away():
    page = drawn()
    folded = next(page.every("details", css_class="pl-whole"))
    assert next(folded.every(css_class="pl-text")).text == TEXT
    assert next(folded.every("summary")).text == f"The whole text, {len(TEXT.split()):,} words"


def test_the_strongest_sentences_stand_in_reading_order_with_their_words():
    excerpts = next(drawn().every(css_class="pl-excerpts"))
    shown = [block.text for block in excerpts.every(css_class="pl-text")]
    assert len(shown) == SENTENCES
    assert set(shown) == {SENTENCE.strip()}
    emphasised = [unit for unit in excerpts.every(css_class="pl-u") if "9.0" in unit.attributes["title"]]
    assert len(emphasised) == 1
    places = [int(note.text.split()[0]) for note in excerpts.every("small")]
    assert places == sorted(places)
    units = word_units((TEXT,))
    for unit in STRONG:
        assert 100 * units.start[unit] // len(TEXT) in range(max(places) + 2)


def test_bars_are_as_high_as_the_sizes_of_the_scores():
    bars = {int(bar.attributes["x"]): float(bar.attributes["height"]) for bar in drawn().every("rect")}
    units = word_units((TEXT,))
    highest = max(bars, key=bars.get)
    assert highest == units.start[400] * BARS // len(TEXT)
    assert bars[highest] == pytest.approx(HEIGHT)
    assert bars[units.start[640] * BARS // len(TEXT)] == pytest.approx(HEIGHT * 5 / 9, rel=0.05)
    assert len(bars) == BARS


def test_both_texts_of_a_pair_have_their_own():
    page = drawn((TEXT, "Short and plain."), {40: 3.0})
    excerpts = list(page.every(css_class="pl-excerpts"))
    assert len(excerpts) == 2
    assert "First text" in excerpts[0].text
    assert next(excerpts[1].every(css_class="pl-text")).text == "Short and plain."


def test_of_a_sentence_without_end_the_part_around_is_shown():
    endless = "and then " * 900
    near = next(drawn(endless, {900: 4.0, 901: 3.0, 905: 2.0}).every(css_class="pl-excerpts"))
    emphasised = [[i.text for i in block.every(css_class="pl-for")] for block in near.every(css_class="pl-text")]
    assert [words for words in emphasised if words] == [["then", "and", "and"]]  # one place, one excerpt
    shown = [
        block.text
        for block in next(drawn(endless, {900: 4.0}).every(css_class="pl-excerpts")).every(css_class="pl-text")
    ]
    assert all(len(text) <= LONGEST + len("……") for text in shown)
    assert all(set(text.strip("…").split()) == {"and", "then"} for text in shown)  # cut between words


def test_spans_of_a_long_text_are_shown_where_they_begin():
    text = SENTENCE * 80
    spans = sample_explanation(text, method="span_attention", spans=True, scores=None)
    scores = np.zeros(len(spans.units))
    scores[5000] = 1.0
    page = parsed(span_view(sample_explanation(text, method="span_attention", spans=True, scores=scores)).text)
    assert len(list(next(page.every(css_class="pl-excerpts")).every(css_class="pl-span"))) == 1
    assert next(next(page.every("details", css_class="pl-whole")).every(css_class="pl-text")).text == text


def test_a_text_without_scores_has_no_strongest_sentence():
    page = parsed(heat_map(sample_explanation(TEXT, scores=np.zeros(len(word_units((TEXT,)))))).text)
    assert not list(next(page.every(css_class="pl-excerpts")).every(css_class="pl-text"))
