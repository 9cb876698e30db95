"""The glossary: terms are explained where a page uses them, and in the guide to reading a report."""

from pathlib import Path

import pellucid
from pellucid.drawing.page import facts_section
from pellucid.drawing.table_view import table_view
from pellucid.drawing.wording import GLOSSARY, terms_in
from pellucid.explaining.report import write_page as report
from pellucid.explaining.views.side_by_side import left_out_view
from tests.shared.parsed import parsed
from tests.shared.sample_results import sample_explanation, sample_table

GUIDE = Path(pellucid.__file__).parents[1] / "docs/how-to/read-a-report.md"


def explained(html):
    """The terms that some HTML explains."""
    return {term.text for part in parsed(html).every(css_class="pl-glossary") for term in part.every("dt")}


def test_terms_are_recognised_in_names_and_in_the_plural():
    assert set(terms_in(["2 runs a piece", "parity_of_sample", "its plain twins"])) == {
        "piece",
        "parity",
        "twin",
    }
    assert terms_in(["masterpiece"]) == {}


def test_a_page_explains_the_terms_that_it_uses_and_no_others(tmp_path):
    text = report([sample_explanation(diagnostics={"parity": 0.0})], path=tmp_path / "p.html").read_text()
    assert explained(text.removeprefix("<!doctype html>")) == {"parity", "digest", "seed", "logit"}
    assert explained(table_view(sample_table())) == {"operator", "reference"}
    assert explained(facts_section("h", "", {"accuracy of its plain twin": 1}).body) == {"twin"}
    assert explained(left_out_view({"span_attention": "it was not trained with pooler='span'"})) == {
        "pooler",
        "span",
    }
    assert explained(facts_section("h", "", {"texts": 1}).body) == set()


def test_the_guide_to_reading_a_report_has_every_term():
    guide = " ".join(GUIDE.read_text(encoding="utf-8").split())
    for term, meaning in GLOSSARY.items():
        assert f"**{term}**: {meaning}" in guide
