"""Whatever a text, label or name says, it comes out as text and nothing else."""

import numpy as np
import pytest

from pellucid.comparison.checks_view import notebook_html_of_table
from pellucid.drawing.card import card
from pellucid.drawing.heat_map import heat_map
from pellucid.drawing.html import document, element, fragment, plain, style, turns, visible
from pellucid.drawing.page import caveats_section, facts_section, page
from pellucid.drawing.span_view import span_view
from pellucid.explaining.report import write_page as report
from pellucid.explaining.views.corpus import notebook_html
from pellucid.results.table import Table
from pellucid.text.units import Units
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE, sample_explanation, sample_table

_OURS = (
    "html head body meta title style main header footer nav section article figure figcaption details "
    "summary h1 h2 h3 h4 p div span i em bdi strong small ul ol li dl dt dd a table thead tbody tr th td "
    "svg g path line rect polyline polygon text"
)
OURS = set(_OURS.split())
TRICKY = [
    "plain",
    "  two  spaces\tand\ttabs \n\n lines ",
    "<b>&amp; \"quotes\" 'single' &#60;",
    "</div></span></style><script>alert(1)</script>",
    "emoji 👩‍👩‍👧 and e\u0301 combined",
    "نص عربي and \u202ereversed\u202c \u2067isolate",
    "&lt;already&gt; escaped",
    "<!-- <plaintext> -->",
]


def harmless(html) -> None:
    """No element, attribute or address that this package does not write."""
    for node in parsed(html).every():
        assert node.tag in OURS
        assert not [key for key in node.attributes if key.startswith(("on", "src")) or key == "style"]
        assert (node.attributes.get("href") or "#").startswith("#")


def hostile_explanation(**changes):
    return sample_explanation(
        HOSTILE.replace("\0", "").replace("\x1b", "") + " word",
        HOSTILE,
        label=HOSTILE + "x",
        labels=("no", HOSTILE),
        id=HOSTILE,
        model=HOSTILE,
        model_hash=HOSTILE,
        settings={HOSTILE: HOSTILE},
        diagnostics={HOSTILE: 0.5},
        caveats=(HOSTILE,),
        rationales=((0, 0, 9),),
        **changes,
    )


def hostile_table() -> Table:
    return sample_table(
        (HOSTILE, "chance"),
        ((HOSTILE, "higher"), ("hiding", "lower")),
        (HOSTILE,),
        about={HOSTILE: {HOSTILE: HOSTILE}},
    )


@pytest.mark.parametrize("text", TRICKY)
def test_the_text_comes_back_exactly(text):
    for explanation in (
        sample_explanation(text),
        sample_explanation((text, "a second one")),
        sample_explanation(text, spans=True),
        sample_explanation(text, rationales=((0, 1, 4),)),
    ):
        blocks = [node.text for node in parsed(card([explanation])).every(css_class="pl-text")]
        assert blocks[: len(explanation.example.segments)] == list(explanation.example.segments)


def test_control_characters_become_pictures():
    text = "a\x00b\x1b[31mc\x7fd\x85e\rf\tg\nh"
    assert visible(text) == "a\u2400b\u241b[31mc\u2421d\ufffde\u240df\tg\nh"
    [block] = parsed(heat_map(sample_explanation(text))).every(css_class="pl-text")
    assert block.text == visible(text)


def test_half_surrogates_in_names_can_be_written(tmp_path):
    path = report([sample_explanation(model="m\udc80")], path=tmp_path / "page.html")
    assert "m\ufffd" in path.read_text(encoding="utf-8")


def test_direction_overrides_are_named_where_nothing_isolates_them():
    assert plain("a\u202eb\u2066c") == "a‹U+202E›b‹U+2066›c"
    assert turns("a\u202eb") and not turns("نص")
    assert "\u202e" not in element("span", title="\u202e").text
    assert "\u202e" not in document("\u202e", "", element("p", "x"))
    assert list(parsed(card([sample_explanation("a \u202eb c")])).every(css_class="pl-caution"))


@pytest.mark.parametrize("draw", [lambda explanation: card([explanation]), notebook_html])
def test_hostile_explanations_are_harmless(draw):
    harmless(draw(hostile_explanation()))
    harmless(draw(hostile_explanation(spans=True)))


def test_hostile_tables_are_harmless():
    html = notebook_html_of_table(hostile_table())
    harmless(html)
    assert visible(HOSTILE) in parsed(html).text.replace(" (", "(")


def test_a_hostile_page_is_harmless(tmp_path):
    facts = {HOSTILE: {HOSTILE: HOSTILE}, "b": {HOSTILE: 1}}
    path = report([hostile_explanation()], hostile_table(), path=tmp_path / "p.html", title=HOSTILE, about=facts)
    harmless(path.read_text(encoding="utf-8").removeprefix("<!doctype html>"))
    sections = [facts_section(HOSTILE, HOSTILE, facts), caveats_section([HOSTILE])]
    harmless(page(HOSTILE, sections).removeprefix("<!doctype html>"))


def test_hostile_special_tokens_are_not_drawn():
    units = Units("piece", (HOSTILE, "word"), (-1, 0), (0, 0), (0, 4))
    html = heat_map(sample_explanation("word", units=units, scores=np.array([3.0, 1.0])))
    assert "script" not in html.text
    assert "+3.00 of the scores’ sum of +4.00" in html.text


def test_spans_of_hostile_texts_are_harmless():
    harmless(span_view(sample_explanation(HOSTILE.replace("\0", ""), "span_attention", spans=True)))


@pytest.mark.parametrize(
    "wrong", [lambda: element("script"), lambda: element("p", onclick="x"), lambda: element("p", style="x")]
)
def test_only_known_elements_and_attributes_can_be_written(wrong):
    with pytest.raises(AssertionError):
        wrong()


def test_addresses_stay_on_the_page_and_style_is_not_data():
    for wrong in (lambda: element("a", href="javascript:alert(1)"), lambda: style("</style>")):
        with pytest.raises(AssertionError):
            wrong()


def test_strings_are_escaped_and_markup_is_not():
    assert fragment("<", element("strong", "&", element("em", ">")), None).text == (
        "&lt;<strong>&amp;<em>&gt;</em></strong>"
    )
