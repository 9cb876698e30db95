"""The page: one file, no script, no network, a policy that says so."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from pellucid.base.errors import BadFile, BadSetting
from pellucid.comparison.checks_view import notebook_html_of_table
from pellucid.comparison.terminal import terminal_table
from pellucid.drawing.page import caveats_section, facts_section, page, write_report
from pellucid.explaining.report import texts_section
from pellucid.explaining.report import write_page as report
from pellucid.explaining.views.corpus import notebook_html
from pellucid.explaining.views.terminal_explanation import terminal_text
from pellucid.results.explanation import Explained, Prediction
from pellucid.results.table import Interval
from tests.shared.parsed import parsed
from tests.shared.sample_results import sample_explanation, sample_table


@pytest.fixture
def whole(tmp_path):
    explanations = [
        sample_explanation(text, method, id=text)
        for text in ("Fine film.", "Poor film.")
        for method in ("lime", "occlusion")
    ]
    return report(
        explanations, sample_table(), path=tmp_path / "page.html", title="A title", about={"texts": 2}
    ).read_text()


def test_the_policy_allows_the_one_style_sheet_and_nothing_else(whole):
    [css] = re.findall(r"<style>(.*?)</style>", whole, re.DOTALL)
    digest = b64encode(sha256(css.encode()).digest()).decode()
    root = parsed(whole.removeprefix("<!doctype html>"))
    [policy] = [m.attributes["content"] for m in root.every("meta") if m.attributes.get("http-equiv")]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in css and "@import" not in css and "//" not in css


def test_the_page_has_language_title_viewport_headings_and_contents(whole):
    root = parsed(whole.removeprefix("<!doctype html>"))
    assert next(root.every("html")).attributes["lang"] == "en"
    assert next(root.every("title")).text == "A title"
    assert "width=device-width" in whole
    headings = [node.text for node in root.every("h2")]
    assert headings == ["The texts", "Which method can be believed", "What was done"]
    links = [(link.attributes["href"], link.text) for link in next(root.every("nav")).every("a")]
    sections = {f"#{node.attributes['id']}" for node in root.every("section")}
    assert [text for _, text in links] == headings and {address for address, _ in links} == sections


def test_the_same_input_gives_the_same_bytes(tmp_path):
    one, other = (
        report([sample_explanation()], sample_table(), path=tmp_path / name).read_bytes() for name in ("a", "b")
    )
    assert one == other


def test_facts_with_the_same_parts_become_a_table():
    accuracy = Interval(0.871, 0.842, 0.9)
    rows = {"plain": {"accuracy": accuracy}, "self-explaining": {"accuracy": accuracy}}
    root = parsed(facts_section("h", "i", rows).body)
    assert [head.text for head in root.every("th")] == ["accuracy", "plain", "self-explaining"]
    assert "0.8710.842 to 0.900" in root.text
    line = parsed(facts_section("h", "i", {"accuracy": accuracy, "texts": 1440, "seeds": [1, 2]}).body).text
    assert "0.871 (95 % interval 0.842 to 0.900)" in line and "1,440" in line and "1, 2" in line


def test_sections_are_put_together_in_order():
    sections = [
        texts_section([sample_explanation()], "Twelve texts", "Intro."),
        caveats_section(["One.", "Two."]),
    ]
    root = parsed(page("t", sections).removeprefix("<!doctype html>"))
    assert [node.text for node in root.every("h2")] == ["Twelve texts", "What to keep in mind"]


def test_a_page_that_cannot_be_written_says_why(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="Cannot write"):
        report([sample_explanation()], path=tmp_path / "file" / "page.html")
    with pytest.raises(BadSetting, match="number of sections"):
        write_report(tmp_path / "page.html", title="t", sections=[])


def test_notebook_fragments_bring_a_style_that_touches_nothing_else():
    for html in (
        notebook_html(sample_explanation()),
        notebook_html(sample_explanation(spans=True)),
        notebook_html_of_table(sample_table()),
    ):
        [css] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
        flat = re.sub(r"@media[^{]*\{(.*?\})\}", r"\1", css, flags=re.DOTALL)
        selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", flat) for part in rule.split(",")]
        assert all(part.startswith((".pellucid", ".pl-notebook")) for part in selectors)
        assert html.startswith('<div class="pellucid pl-notebook">') and html.endswith("</div>")


def test_explanations_and_tables_draw_themselves():
    for results, html, text in (
        (sample_explanation(), notebook_html, terminal_text),
        (sample_table(), notebook_html_of_table, terminal_table),
    ):
        assert results._repr_html_() == html(results) and str(results) == text(results)


MARKS = "what the text’s author marked"
LEGEND = {
    "words": "one of the three strongest, against the answer",
    "spans": "a span the model weighed",
    "marks": MARKS,
}


@pytest.mark.parametrize(
    ("results", "shown"),
    [
        ([sample_explanation()], {"words"}),
        ([sample_explanation("one two", "span_attention", spans=True)], {"spans"}),
        (
            [sample_explanation(), sample_explanation("one two", "span_attention", spans=True)],
            {"words", "spans"},
        ),
        ([sample_explanation(rationales=[(0, 2, 6)])], {"words", "marks"}),
        ([], set()),
    ],
    ids=["words", "spans", "both", "marked", "comparison"],
)
def test_the_legend_explains_what_the_page_shows_and_no_more(results, shown, tmp_path):
    text = report(results, sample_table(), path=tmp_path / "page.html").read_text(encoding="utf-8")
    root = parsed(text.removeprefix("<!doctype html>"))
    guide = next(root.every("header"))
    assert {kind for kind, words in LEGEND.items() if words in guide.text} == shown
    assert ("No text is shown on this page" in guide.text) == (not shown)


@pytest.mark.parametrize(("name", "heading"), (("0", "Text 0"), ("", "Text"), ("films-7", "films-7")))
def test_a_card_is_headed_by_a_name(name, heading):
    root = parsed(texts_section([sample_explanation(id=name)]).body)
    assert [node.text for node in root.every(css_class="pl-id")] == [heading]


def test_the_page_is_english_and_says_nothing_of_the_language_of_texts(whole):
    root = parsed(whole.removeprefix("<!doctype html>"))
    assert next(root.every("html")).attributes["lang"] == "en"
    texts = list(root.every(css_class="pl-text"))
    assert texts and all(text.attributes["lang"] == "" and text.attributes["dir"] == "auto" for text in texts)


def test_checks_of_a_method_stand_once_for_the_worst_text(tmp_path):
    gaps = (0.01, 0.3, 0.02)
    results = [
        sample_explanation(str(n), id=str(n), diagnostics={"completeness_gap": gap}) for n, gap in enumerate(gaps)
    ]
    page_of_three = report(results, path=tmp_path / "p.html").read_text()
    assert page_of_three.count("should add up to") == 1
    assert "In the worst of 3 texts: the scores miss 30 % of what they should add up to." in page_of_three
    alone = report(results[:1], path=tmp_path / "p.html").read_text()
    assert "The scores add up to what they should explain (off by 1 %)." in alone and "worst" not in alone


def test_cautions_about_a_method_are_folded_above_the_cards(tmp_path):
    results = [sample_explanation(str(n), id=str(n), caveats=("Beware.",)) for n in range(2)]
    root = parsed(report(results, path=tmp_path / "p.html").read_text().removeprefix("<!doctype html>"))
    [shared] = root.every(css_class="pl-shared")
    assert shared.text == "⚠ Cautions about integrated gradientsCaution: Beware."
    assert not any("Beware." in card.text for card in root.every("article"))


@pytest.mark.parametrize(
    ("against", "label", "shown"),
    ((None, "positive", False), (None, "negative", True), ("negative", "positive", True)),
)
def test_what_is_explained_stands_where_it_is_not_the_answer(against, label, shown):
    explanation = sample_explanation(target=Explained(label, against, "logit", 1.0))
    assert ("explained:" in texts_section([explanation]).body.text) == shown


def test_the_guide_speaks_of_values_where_the_model_gives_no_label(tmp_path):
    rating = Prediction("rating", ("rating",), (3.2,), ())
    labelled, valued = (
        report([explanation], path=tmp_path / "page.html").read_text()
        for explanation in (sample_explanation(), sample_explanation(prediction=rating))
    )
    assert "gave each text a label" in labelled and "gave each text a value" in valued
    assert "raises it" in valued and "raises it" not in labelled
    guide = valued.split("How to read this page")[1].split("</details>")[0]
    assert "which words a value depended on" in guide and "label" not in guide
