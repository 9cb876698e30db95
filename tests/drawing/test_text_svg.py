"""A text as SVG: valid XML with every word on its colour, nothing of a stranger's text as markup, also from right to
left.
"""

import re
from xml.etree import ElementTree

import pytest

from pellucid.drawing.canvas import blended
from pellucid.drawing.colours import LIGHT
from pellucid.text.units import all_spans
from tests.shared.explanations import explanation, word_units
from tests.shared.sample_results import HOSTILE, sample_explanation

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg):
    """(words, boxes) of a picture, in order; the first box is the paper."""
    root = ElementTree.fromstring(svg)
    return root.findall(f"{SVG}text"), root.findall(f"{SVG}rect")[1:]


def test_every_word_stands_on_the_colour_of_its_score():
    words, boxes = drawn(explanation("good bad so", [0, 2.0, -2.0, 0.0, 0]).to_svg())
    assert [word.text for word in words] == ["good", "bad", "so"]
    strongest = ["#{:02x}{:02x}{:02x}".format(*blended(step)) for step in (16, -16)]
    assert [box.get("fill") for box in boxes] == strongest
    assert all(
        float(box.get("x")) < float(word.get("x")) < float(box.get("x")) + float(box.get("width"))
        for word, box in zip(words, boxes, strict=False)
    )


def test_the_strongest_colour_is_that_of_the_page():
    mixed = [round(LIGHT.most * ink + (1 - LIGHT.most) * 255) for ink in LIGHT.plus]
    assert list(blended(16)) == mixed and blended(0) == LIGHT.paper


def test_a_long_text_is_set_in_lines_inside_the_picture():
    text = "word " * 100 + "x" * 300
    words, _ = drawn(explanation(text).to_svg())
    height = float(re.search(r'height="([\d.]+)"', explanation(text).to_svg()).group(1))
    assert len({word.get("y") for word in words}) > 5
    assert all(0 < float(word.get("x")) < 720 and float(word.get("y")) < height for word in words)


def test_a_language_from_right_to_left_begins_at_the_right():
    words, _ = drawn(explanation("סרט נפלא").to_svg())
    assert float(words[0].get("x")) > float(words[1].get("x")) > 600
    words, _ = drawn(explanation("a film").to_svg())
    assert float(words[0].get("x")) < float(words[1].get("x")) < 120


@pytest.mark.parametrize("text", (HOSTILE.replace("\0", ""), "a\ufffeb\uffff \x07 tab\t]]> &amp;", "two\nlines"))
def test_strange_characters_are_text(text):
    words, _ = drawn(sample_explanation(text, model=text, method=text).to_svg())
    root = ElementTree.fromstring(sample_explanation(text, method=text).to_svg())
    assert {node.tag for node in root.iter()} <= {SVG + tag for tag in ("svg", "title", "style", "rect", "text")}
    assert words and "<script" not in sample_explanation(text).to_svg()


def test_pairs_spans_and_rows_are_drawn():
    words, _ = drawn(explanation(("first text", "second")).to_svg())
    assert len({word.get("y") for word in words}) == 2
    assert drawn(explanation("A fine film.", units=all_spans(word_units(("A fine film.",)))).to_svg())[0]
    assert drawn(explanation("A film.", rows=(("layer", ("0", "1")),)).to_svg())[0]
