"""The page of an attention analysis: the verdict, the tests, single units, and what the numbers do not say."""

from collections.abc import Mapping
from pathlib import Path

from pellucid.core.results.attention_analysis import AttentionAnalysis
from pellucid.reports.attention.adversary_curve import adversary_curve
from pellucid.reports.attention.tests_table import evidence_table, settings_table, tests_table
from pellucid.reports.attention.unit_plots import unit_plots
from pellucid.reports.attention.wording import LIMITS, MARKS, summary_in_words, verdict_in_words
from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.page.heat_map import caution_lines
from pellucid.reports.page.page import caveats_section, facts_section, write_report
from pellucid.reports.page.section import Section

GUIDE = (
    "Attention gives each word a weight, and the answer is a sum by these weights. This page shows whether they may be read as the "
    "reason of the answer."
)
RESTS = (
    "Two things are asked. Does the answer hang on the weights? Do they lie on the words that the answer depends on? The lines stand "
    "in one file of the program, and were fixed before any study ran. All other tests are shown and do not decide."
)
TESTS = (
    "Each number is the mean over the texts; its 95 % interval stands below it, and then how many texts were judged. Of random draws "
    "± is the standard deviation between them."
)
ADVERSARY = (
    "For each λ a new model was trained to give the same answers with weights as far away as λ asks. Far to the right and low: other "
    "weights answer alike. The adversary imitates mistakes too, and both numbers are means over texts of unequal length."
)
UNITS = (
    "What the model would answer by the state of one word alone. A line that stays near the model’s own answer says that every "
    "state carries the whole text: then it matters little where the weight lies."
)


def report(
    analysis: AttentionAnalysis, *, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write the analysis to one HTML file; about: facts that are shown last."""
    facts = [facts_section("What was done", "", about)] if about else []
    sections = [*attention_sections(analysis), *facts]
    return write_report(path, title=title, sections=sections, guide=element("p", GUIDE, class_="pl-lead"))


def attention_sections(analysis: AttentionAnalysis) -> list[Section]:
    """The verdict, the tests, single units, and limits."""
    sections = [
        Section("The verdict", summary_in_words(analysis), _verdict(analysis)),
        Section("The tests", TESTS, fragment(tests_table(analysis), settings_table(analysis))),
    ]
    if curve := adversary_curve(analysis):
        sections.append(Section("Other weights, the same answers", ADVERSARY, curve))
    if plots := unit_plots(analysis):
        sections.append(Section("Word by word", UNITS, plots))
    return [*sections, caveats_section(LIMITS, "What these numbers do not say", "")]


def _verdict(analysis: AttentionAnalysis) -> Markup:
    first = analysis.models[0]
    symbol, _, css_class = MARKS[first.verdict.answer]
    others = [element("p", verdict_in_words(model)) for model in analysis.models[1:]]
    big = element(
        "p", element("span", f"{symbol} ", class_=css_class), verdict_in_words(first), class_="pl-big"
    )
    rests = element("p", RESTS, class_="pl-note")
    words = element("div", big, *others, *caution_lines(analysis.caveats), rests, class_="pl-verdict")
    return fragment(words, evidence_table(first))
