"""Heat maps: colours mean what the legend says, and are never the only sign."""

import numpy as np
import pytest

from pellucid.drawing.card import card
from pellucid.drawing.colours import DARK, LEVELS, LIGHT, level, shade
from pellucid.drawing.emphasis import scale_key
from pellucid.drawing.heat_map import heat_map
from pellucid.drawing.page import page_scales, texts_view
from pellucid.drawing.span_view import span_view
from pellucid.text.units import Units
from tests.shared.parsed import parsed
from tests.shared.sample_results import sample_explanation


def drawn_units(html):
    return list(parsed(html).every(css_class="pl-u"))


def test_colours_are_symmetric_and_nothing_at_zero():
    assert level(0.0, 2.0) == 0 and shade(0.0, 2.0) == ""
    assert level(2.0, 2.0) == LEVELS == -level(-2.0, 2.0)
    assert level(5.0, 2.0) == LEVELS  # never beyond the full colour
    assert level(1.0, 0.0) == 0
    steps = [level(score, 1.0) for score in np.linspace(-1, 1, 41)]
    assert steps == sorted(steps) == [-step for step in reversed(steps)]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("sign", ["plus", "minus"])
def test_text_on_the_full_colour_can_be_read(theme, sign):
    mixed = theme.most * np.array(getattr(theme, sign)) + (1 - theme.most) * np.array(theme.paper)
    assert contrast(mixed, np.array(theme.ink)) >= 4.5


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = colour / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_each_unit_has_its_value_and_the_strongest_are_underlined():
    html = heat_map(sample_explanation("good bad so the", scores=[0, 2.0, -1.5, 1.0, 0.01, 0]))
    units = drawn_units(html)
    assert [unit.text for unit in units] == ["good", "bad", "so", "the"]
    assert units[0].attributes["title"] == "+2.00"
    assert "\u22121.50" in units[1].attributes["title"]
    spoken = next(parsed(html).every("figure")).attributes["aria-label"]
    assert spoken.endswith("Strongest: “good” +2.00, “bad” \u22121.50, “so” +1.00.")
    emphasis = [unit.attributes["class"].split()[-1] for unit in units]
    assert emphasis == ["pl-for", "pl-against", "pl-for", "pl-u"]


def test_a_scale_makes_texts_comparable():
    [loud], [quiet] = (
        drawn_units(heat_map(sample_explanation("word", scores=[0, score, 0]), scale=4.0)) for score in (4.0, 0.4)
    )
    assert "pl-p16" in loud.attributes["class"] and "pl-p3" in quiet.attributes["class"]


def test_methods_and_models_have_scales_of_their_own():
    explanations = [
        sample_explanation("word", "m", [0, 4.0, 0]),
        sample_explanation("word", "m", [0, -1.0, 0]),
        sample_explanation("word", "n", [0, 0.1, 0]),
    ]
    explanations.append(sample_explanation("word", "m", [0, 9.0, 0], model_hash="other"))
    scales = page_scales(explanations)
    assert [scales[scale_key(view)] for view in explanations] == pytest.approx([4.0, 4.0, 0.1, 9.0])


def test_pieces_become_words_unless_the_unit_is_piece():
    units = Units("piece", ("[CLS]", "un", "##like", "ly"), (-1, 0, 0, 0), (0, 0, 2, 6), (0, 2, 6, 8))
    explanation = sample_explanation("unlikely", units=units, scores=[0, 1.0, 2.0, 0.5])
    assert [unit.text for unit in drawn_units(heat_map(explanation))] == ["unlikely"]
    assert [unit.text for unit in drawn_units(heat_map(explanation, unit="piece"))] == ["un", "like", "ly"]


def test_bytes_of_one_character_are_drawn_once():
    units = Units("piece", ("a", "b", "c"), (0, 0, 0), (0, 0, 1), (1, 1, 2))
    drawn = drawn_units(heat_map(sample_explanation("👏!", units=units, scores=[1.0, 0.5, 0.0]), unit="piece"))
    assert [unit.text for unit in drawn] == ["👏", "!"]
    assert "+1.50" in drawn[0].attributes["title"]


def test_of_several_rows_the_first_is_shown_and_named():
    explanation = sample_explanation("a b", "chance", np.ones((2, 4)), rows=(("draw", ("0", "1")),))
    assert "Shown: draw 0 (the first of 2)." in heat_map(explanation).text
    assert "picture means nothing" in texts_view([explanation]).text


def test_pairs_are_two_labelled_texts():
    root = parsed(heat_map(sample_explanation(("One.", "Two."))))
    assert [node.text for node in root.every(css_class="pl-which")] == ["first text", "second text"]
    assert [node.text for node in root.every(css_class="pl-text")] == ["One.", "Two."]


def test_all_zero_scores_are_drawn_plain():
    html = heat_map(sample_explanation("a b", scores=np.zeros(4)))
    assert [unit.attributes["class"] for unit in drawn_units(html)] == ["pl-u", "pl-u"]
    assert "all scores are 0" in html.text


def test_the_heaviest_spans_are_underlined_and_listed():
    explanation = sample_explanation(
        "one two three", "span_attention", np.array([0.5, 0.05, 0.05, 0.1, 0.05, 0.25]), spans=True
    )
    root = parsed(span_view(explanation))
    assert [(node.text, node.attributes["class"]) for node in root.every(css_class="pl-span")] == [
        ("one", "pl-span pl-s1"),
        ("two", "pl-span pl-s3"),
        ("three", "pl-span pl-s2"),
    ]
    [listing] = root.every(css_class="pl-spans")
    assert [line.text for line in listing.every("li")] == [
        "“one” weight .50",
        "“three” weight .25",
        "“two” weight .10",
    ]
    assert (
        "The other 3 spans share .15 of the weight; .10 of it belongs to spans that overlap the heaviest one."
        in root.text
    )


def test_spans_of_next_to_no_weight_are_neither_drawn_nor_mentioned():
    explanation = sample_explanation(
        "one two three", "span_attention", np.array([0.9, 0.0, 0.0, 0.02, 0.0, 0.08]), spans=True
    )
    root = parsed(span_view(explanation))
    assert [node.text for node in root.every(css_class="pl-span")] == ["one", "three"]
    assert "The other" not in root.text  # they have next to nothing


def test_a_wrong_answer_is_marked_and_the_misleading_words_are_named():
    scores = [0, 2.0, -1.0, 0]
    text = parsed(card([sample_explanation("good bad", scores=scores, label="negative")])).text
    assert "✗ wrong, the label is negative" in text
    assert "What spoke most for the wrong answer: “good” +2.00 (integrated gradients)." in text
    assert "✓ as labelled" in parsed(card([sample_explanation(label="positive")])).text
    assert "label" not in parsed(card([sample_explanation()])).text


def test_a_caveat_of_every_text_is_shown_once():
    explanations = [
        sample_explanation(text, "attention", caveats=("Beware.", text), id=text) for text in ("one", "two")
    ]
    text = parsed(texts_view(explanations)).text
    assert text.count("Beware.") == 1
    assert "Caution: one" in text and "Caution: two" in text


def test_explanations_of_one_text_share_a_card():
    explanations = [
        sample_explanation("one", "a", id="1"),
        sample_explanation("two", "a", id="2"),
        sample_explanation("one", "b", id="1"),
    ]
    cards = list(parsed(texts_view(explanations)).every("article"))
    assert len(cards) == 2
    assert [len(list(card.every("figure"))) for card in cards] == [2, 1]


def test_an_expert_finds_seed_settings_model_and_digest():
    text = parsed(card([sample_explanation(seed=7, diagnostics={"parity": 1e-7})]))
    table = next(text.every(css_class="pl-expert")).text
    for fact in (
        "pocket-model",
        "0123456789ab",
        "7",
        "n_steps = 32",
        "parity = 1e\u221207",
        "logit of positive",
    ):
        assert fact in table
