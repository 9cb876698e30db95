"""The page: one HTML file on its own, without script, network or anything but its own style sheet."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pellucid.base.checks import at_least
from pellucid.base.files import write_text
from pellucid.base.kinds import renderers
from pellucid.reports.markup.colours import Scale, Scales
from pellucid.reports.markup.html import Markup, document, element, fragment
from pellucid.reports.markup.style import page_style
from pellucid.reports.page.class_words_view import class_words_sections
from pellucid.reports.page.corpus import corpus_sections, is_corpus
from pellucid.reports.page.curve_panels import curves_view
from pellucid.reports.page.error_analysis import error_analysis_sections
from pellucid.reports.page.facts_view import Section, facts_view, glossary_view
from pellucid.reports.page.reading_guide import (
    comparison_guide,
    errors_guide,
    reading_guide,
    side_by_side_guide,
    span_guide,
    states_guide,
    words_guide,
    written_guide,
)
from pellucid.reports.page.side_by_side import side_by_side_sections
from pellucid.reports.page.span_analysis import span_analysis_sections
from pellucid.reports.page.table_view import table_view
from pellucid.reports.page.texts_view import texts_view
from pellucid.reports.wording.method_facts import explains_state, explains_written, facts_of
from pellucid.results.class_words import ClassWords
from pellucid.results.error_analysis import ErrorAnalysis
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.results.span_analysis import SpanAnalysis
from pellucid.results.table import Table
from pellucid.text.units import Kind, Spans

Reportable = Sequence[Explanation] | Sequence[SpanAnalysis] | SideBySide | ErrorAnalysis | ClassWords

TITLE, STATES_TITLE = "Why the model decided as it did", "What the hidden states hold"
WORDS_TITLE = "What the written words depend on"
TEXTS = ""  # the first line of the page says it
COMPARISON = (
    "Every method took the same tests on the same texts, and so did random scores. A method that does no better than "
    "random scores should not be believed for this model."
)
CAVEATS = "What these pictures and numbers do not say."


def report(
    results: Reportable,
    table: Table | None = None,
    *,
    path: str | Path,
    title: str | None = None,
    about: Mapping[str, object] | None = None,
    more: Sequence[Section] = (),
    scale: Scale = "page",
) -> Path:
    """Write explanations, and a comparison if there is one, to one HTML file.

    results: explanations are shown text by text, with one picture a method; methods side by side share one scale.
    title: None for what the results are. more: sections that follow the results. table: the comparison. about: facts that are shown last.
    scale: whose largest score gets the full colour, the page's or each text's.
    """
    sections = [*_result_sections(results, scale), *more]
    if table is not None:
        sections.append(comparison_section(table))
    if about:
        sections.append(facts_section("What was done", "", about))
    heading = _title(results) if title is None else title
    return write_report(path, title=heading, sections=sections, guide=_guide(results))


def _title(results: Reportable) -> str:
    """The heading of a page that has none of the caller's."""
    if _all_are(results, explains_state):
        return STATES_TITLE
    return WORDS_TITLE if _all_are(results, explains_written) else TITLE


def _all_are(results: Reportable, of_kind: Callable[[Explanation], bool]) -> bool:
    """Whether all results are explanations of a kind, say of hidden states."""
    if isinstance(results, ErrorAnalysis | ClassWords):
        return False
    every = results.explanations if isinstance(results, SideBySide) else list(results)
    return bool(every) and all(isinstance(one, Explanation) and of_kind(one) for one in every)


def _guide(results: Reportable) -> Markup:
    """How to read the results. It explains only what the page shows."""
    if isinstance(results, SideBySide):
        is_written = _all_are(results, explains_written)
        return written_guide(_kinds(results.explanations)) if is_written else side_by_side_guide()
    if isinstance(results, ErrorAnalysis):
        return _errors_guide(results)
    if isinstance(results, ClassWords):
        return words_guide()
    if any(isinstance(one, SpanAnalysis) for one in results):
        return span_guide(marked=False)
    explanations = [one for one in results if isinstance(one, Explanation)]
    if _all_are(results, explains_written):
        return written_guide(_kinds(explanations))
    if _all_are(results, explains_state) and "spans" not in _kinds(explanations):
        return states_guide("marks" in _kinds(explanations))
    if not explanations:
        return comparison_guide()
    of_values = all(one.predicted_value is not None for one in explanations)
    return reading_guide(_kinds(explanations), of_values)


def _errors_guide(analysis: ErrorAnalysis) -> Markup:
    """How to read misclassified texts: underlined spans, or the colours of the method's words."""
    wrong = [one for texts in analysis.texts.values() for one in texts]
    marked = any(one.example.rationales for one in wrong)
    return span_guide(marked) if analysis.by_span else errors_guide(facts_of(analysis.method, wrong), marked)


def _kinds(explanations: Sequence[Explanation]) -> set[str]:
    """What the pictures of these explanations show, as the legend names it."""
    kinds = {"spans" if isinstance(one.units, Spans) else "words" for one in explanations}
    return kinds | ({"marks"} if any(one.example.rationales for one in explanations) else set())


def _result_sections(results: Reportable, scale: Scale) -> list[Section]:
    """The sections for results of each kind."""
    if isinstance(results, SideBySide):
        return side_by_side_sections(results)
    if isinstance(results, ErrorAnalysis):
        return error_analysis_sections(results)
    if isinstance(results, ClassWords):
        return class_words_sections(results)
    analyses = [one for one in results if isinstance(one, SpanAnalysis)]
    explanations = [one for one in results if isinstance(one, Explanation)]
    of_texts = results if isinstance(results, Results) else explanations  # `Results` know their seconds
    return [
        *(span_analysis_sections(analyses) if analyses else []),
        *(_explanation_sections(of_texts, scale) if of_texts else []),
    ]


def _explanation_sections(explanations: Sequence[Explanation], scale: Scale) -> list[Section]:
    """Few texts as cards, many with a summary before them."""
    if is_corpus(explanations):
        return corpus_sections(explanations, scale=scale)
    return [texts_section(explanations, scales=None if scale == "page" else {})]


def write_report(
    path: str | Path, *, title: str, sections: Sequence[Section], guide: Markup | None = None
) -> Path:
    """Write sections, after the guide to reading them, to one HTML file, whole or not at all."""
    at_least("number of sections", len(sections), 1)
    write_text(path, page(title, sections, guide))
    return Path(path)


def page(title: str, sections: Sequence[Section], guide: Markup | None = None) -> str:
    """The whole page as text; guide: how to read it, folded under the title (None: cards with pictures and tables)."""
    contents = _contents(sections) if len(sections) > 1 else None
    head = element("header", element("h1", element("bdi", title)), guide or reading_guide(), contents)
    foot = element(
        "footer", element("p", "Written by Pellucid. This file needs no network and runs no script.")
    )
    main = element("main", head, *(_section(number, part) for number, part in enumerate(sections, 1)), foot)
    return document(title, page_style(), element("div", main, class_="pellucid pl-page"))


def texts_section(
    explanations: Sequence[Explanation],
    heading: str = "The texts",
    intro: str = TEXTS,
    *,
    scales: Scales | None = None,
    unit: Kind = "word",
) -> Section:
    """One card a text; scales: `page_scales` of all explanations, where a page has several such sections."""
    return Section(heading, intro, texts_view(explanations, scales=scales, unit=unit))


def comparison_section(
    table: Table, heading: str = "Which method can be believed", intro: str = COMPARISON
) -> Section:
    """The comparison table, its curves and its checks, whose views lean on this folder."""
    checks = renderers.get("page_checks").make(table)
    return Section(heading, intro, fragment(table_view(table), curves_view(table), checks))


def facts_section(heading: str, intro: str, facts: Mapping[str, object]) -> Section:
    """Facts in order; mappings with the same keys become the rows of a table, intervals show their bounds."""
    return Section(heading, intro, fragment(facts_view(facts), glossary_view(map(str, facts))))


def caveats_section(
    caveats: Sequence[str], heading: str = "What to keep in mind", intro: str = CAVEATS
) -> Section:
    """Caveats as a list of sentences."""
    return Section(
        heading, intro, element("ul", *(element("li", text) for text in caveats), class_="pl-caveats")
    )


def _contents(sections: Sequence[Section]) -> Markup:
    links = (
        element("li", element("a", element("bdi", section.heading), href=f"#part-{number}"))
        for number, section in enumerate(sections, 1)
    )
    return element("nav", element("ol", *links), aria_label="Contents", class_="pl-contents")


def _section(number: int, section: Section) -> Markup:
    heading = element("h2", element("bdi", section.heading), id=f"part-{number}-title")
    intro = element("p", section.intro, class_="pl-lead") if section.intro else None
    labelled = f"part-{number}-title"
    return element("section", heading, intro, section.body, id=f"part-{number}", aria_labelledby=labelled)
