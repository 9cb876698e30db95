"""Spans with content: none is of punctuation and function words alone, and what the model weighs is what the method
shows.
"""

import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.data.load import load_examples
from pellucid.models.composed.composed import load_composed, save_composed
from pellucid.models.composed.networks import Plan
from pellucid.run.batch import OPERATORS
from pellucid.text.example import as_examples
from pellucid.text.lexicon import has_content, is_content_word
from pellucid.text.units import text_units
from tests.shared.asking import ask
from tests.shared.tiny import LABELS, tiny_composed

TEXTS = (
    "A fine film. It is long, and in the end dull! Avoid.",
    ("Is it good? Nobody could say.", "It is."),  # the second text has no content word
    "It is, and there.",  # none at all
    "Unbelievable .",
)
SETTINGS = (
    {},
    {"max_width": 3},
    {"unit": "piece"},
    {"weights": "uniform"},
    {"within": "sentence"},
    {"interaction": "exact"},
    {"interaction": "feed_forward", "weights": "uniform"},
)


def places(explanation):
    return [explanation.units.characters(number) for number in range(len(explanation.units))]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        *((word, False) for word in ("the", "Is", ".", "…", "it's", "They’re", "€", "、", "'", "s")),
        *(
            (word, True)
            for word in ("film", "not", "n't", "don't", "Don’t", "no", "all", "3", "♥", "😀", "John's", "猫")
        ),
    ],
)
def test_what_a_content_word_is(word, says):
    assert is_content_word(word) is says


def test_half_of_the_words_say_nothing_and_hardly_a_marked_span():
    """What the level of a collapse is set against."""
    texts = load_examples("pocket", "all")
    words = [text.segments[0][a:b] for text in texts for a, b in text_units(text.segments[0], "word")]
    marks = [text.segments[0][mark.start : mark.end] for text in texts for mark in text.rationales]
    assert 0.45 < sum(not is_content_word(word) for word in words) / len(words) < 0.55
    assert sum(not has_content(mark) for mark in marks) / len(marks) < 0.01


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_spans_are_those_with_a_content_word(settings):
    every = ask(tiny_composed("span", **settings), TEXTS, "span_attention")
    some = ask(tiny_composed("span", spans="with_content", **settings), TEXTS, "span_attention")
    for example, (whole, explanation) in enumerate(zip(every, some, strict=True)):
        texts = whole.example.segments
        left = [place for place in places(whole) if has_content(_words_under(texts[place[0]], *place[1:]))]
        assert places(explanation) == (left or places(whole))
        assert bool(left) == (example != 2)
        assert explanation.scores.sum() == pytest.approx(1, abs=1e-5)


def _words_under(text, start, end):
    """The characters of the words that a span of pieces touches."""
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return text[start:end]


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_edited_text_knows_which_words_it_had(operator):
    classifier = tiny_composed("span", spans="with_content", unit="piece")
    batch = classifier.encode(as_examples(TEXTS[:1]))
    units, row = batch.units[0], batch.rows[0]
    stops = [piece for piece in units.content if units.labels[piece] in ".!,"]
    edited = batch.edited(0, stops, operator)
    with torch.no_grad():
        scores = classifier.trace([edited]).spans.scores[0]
    says = [mark for mark in edited.content if mark >= 0]
    for first, last in (scores != -torch.inf).nonzero().tolist():
        assert any(says[first : last + 1])
    assert (scores != -torch.inf).any() and sum(row.content) <= sum(edited.content) + 2


def test_neighbours_do_not_matter_and_an_emptied_text_is_read():
    classifier = tiny_composed("span", spans="with_content")
    batch = classifier.encode(as_examples(TEXTS))
    emptied = batch.edited(0, batch.units[0].content, "absent")
    with torch.no_grad():
        together = classifier.trace([emptied, *batch.rows]).logits
        for row, logits in zip([emptied, *batch.rows], together, strict=True):
            torch.testing.assert_close(classifier.trace([row]).logits[0], logits, rtol=1e-4, atol=1e-5)


def test_a_saved_model_remembers_and_an_older_folder_weighs_all_spans(tmp_path):
    for settings in ({"spans": "with_content"}, {}):
        classifier = tiny_composed("span", **settings)
        folder = tmp_path / str(len(settings))
        save_composed(classifier.network, classifier.tokenizer, Plan("tiny", "span", settings, LABELS), folder)
        loaded = load_composed(folder)
        assert loaded.network.pooler.spans == settings.get("spans", "all")
        for before, after in zip(
            ask(classifier, TEXTS, "span_attention"), ask(loaded, TEXTS, "span_attention"), strict=True
        ):
            assert places(before) == places(after)
    assert tiny_composed("span").encode(as_examples(TEXTS)).rows[0].content == ()


def test_other_methods_and_the_analysis_read_such_a_model():
    classifier = tiny_composed("span", spans="with_content")
    for method in ("gradient", "occlusion", "relevance"):
        assert all(one.diagnostics["parity"] <= 1e-4 for one in ask(classifier, TEXTS, method))
    for analysis in pellucid.spans(classifier, list(TEXTS), k=2, random_spans=2, progress=False):
        assert analysis.identity_gap < 1e-4
        assert analysis.agreeing_weight <= 1 + 1e-6


def test_a_setting_that_is_none_raises():
    with pytest.raises(BadSetting, match=r"spans='some' is not possible; give one of all, with_content"):
        tiny_composed("span", spans="some")
