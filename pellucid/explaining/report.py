"""The door `report`: results as one HTML file; text by text, methods side by side, or by the sections that their room
registers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pellucid.base.checks import every, mapping, of_class, one_of
from pellucid.base.entry import Entry
from pellucid.base.errors import BadInput, failures_in_words
from pellucid.base.kinds import renderers
from pellucid.drawing.comparison_section import comparison_section
from pellucid.drawing.emphasis import Scale, Scales
from pellucid.drawing.html import Markup
from pellucid.drawing.method_facts import explains_state, explains_written
from pellucid.drawing.page import Opening, Section, facts_section, texts_view, write_report
from pellucid.drawing.reading_guide import (
    comparison_guide,
    reading_guide,
    side_by_side_guide,
    span_guide,
    states_guide,
    written_guide,
)
from pellucid.explaining.views.corpus import corpus_opening, corpus_sections, is_corpus
from pellucid.explaining.views.opening import opening, table_opening
from pellucid.explaining.views.pairs import beside_sections
from pellucid.explaining.views.shortcuts import shortcut_sections
from pellucid.explaining.views.side_by_side import side_by_side_sections
from pellucid.explaining.views.span_analysis import span_analysis_opening, span_analysis_sections
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.shortcuts import NOTHING, Shortcuts
from pellucid.results.side_by_side import SideBySide
from pellucid.results.span_analysis import SpanAnalysis
from pellucid.results.table import Table
from pellucid.text.passages import place_of
from pellucid.text.units import Kind, Spans


def report(
    results: Any,
    table: Table | None = None,
    *,
    path: str | Path,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    scale: Scale = "page",
    shortcuts: Shortcuts = NOTHING,
) -> Path:
    """Write one HTML file, without script or network, that shows explanations and a comparison.

    results: from `explain`, one picture a method on its own scale, and where they are many, a summary before them; from
        `class_words`, the words of each class; from `shortcuts`, what decides by itself; from `explain_all`,
        all methods side by side on one scale, with their agreement; from `spans`, a table a text; from
        `error_analysis`, patterns with their texts; from `layer_analysis`, maps of layers and words (without a
        table); from `concepts`, plots of one word over the layers (without a table); from `attention_analysis`,
        the verdict with its tests (without a table); from `diff`, texts under two versions side by side
        (without a table); from `attack`, texts before and after (without a table); from `explain_corpus`, where a
        `Run` has more texts than fit a page, a page that leads to pages of a thousand texts (without a table); from
        `word_pairs`, both texts and their matrix.
    table: from `compare`; shown after the results.
    path: the file to write; a file that exists is replaced.
    title: the heading of the page; None: what the page shows.
    about: facts, name -> value, that stand last on the page.
    scale: what shares the colours of explanations: "page", all its texts, so that texts can be compared; or "text",
        each text by itself, so that the strongest word of every text has the full colour.
    shortcuts: from `shortcuts`; what decides by itself stands first on the page of explanations or of a comparison.

    Returns the path. Raises `BadInput` where there are neither results nor a table, `BadSetting` for another scale,
    `BadFile` where the file cannot be written.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> results = pellucid.explain(model, ["A good film.", "Dull."])
    >>> pellucid.report(results, path="page.html", title="Two reviews", about={"written by": "the quality team"}).name
    'page.html'
    >>> pellucid.report(results.words(min_texts=1), path="words.html").name
    'words.html'
    """
    for own_page in renderers.of_class("page_of", results):
        return _of_analysis(own_page, results, table, path, title, about)
    of_its_room = has_sections(results)
    if not (of_its_room or isinstance(results, SideBySide)):
        members = every("results", results, Explanation | SpanAnalysis, "give what explain, spans or read returned")
        results = results if isinstance(results, Results) else members  # `Results` know their seconds
    if table is not None:
        of_class("The table", table, Table, "give what compare returned")
    one_of("scale", scale, ("page", "text"))
    of_class("The title", title, str | None, "give a string")
    about = None if about is None else mapping("about", about)
    if isinstance(results, SideBySide):
        is_empty: bool = not results.explanations
    else:
        is_empty = not of_its_room and not results
    if is_empty and table is None:
        raise BadInput("There is nothing to report: give explanations, a table, or both.")
    of_class("shortcuts=", shortcuts, Shortcuts, "give what shortcuts returned")
    return write_page(results, table, path=path, title=title, about=about, scale=scale, shortcuts=shortcuts)


def _of_analysis(
    own_page: Entry,
    analysis: object,
    table: Table | None,
    path: str | Path,
    title: str | None,
    about: Mapping[str, Any] | None,
) -> Path:
    """The page of an analysis that has one of its own; raises `BadInput` where a comparison should stand on it too."""
    heading = own_page.facts["heading"].format(analysis)
    if table is not None:
        raise BadInput(f"The page “{heading}” has no comparison; write the table to a page of its own.")
    of_class("The title", title, str | None, "give a string")
    facts = None if about is None else mapping("about", about)
    written: Path = own_page.make(analysis, path=path, title=heading if title is None else title, about=facts)
    return written


# The page of explanations: text by text, or methods side by side, with a comparison and facts where they are there.

# Also every kind of result that has sections of its own, such as the words of classes.
Reportable = Sequence[Explanation] | Sequence[SpanAnalysis] | SideBySide
Sections = tuple[list[Section], Markup, Opening]  # of a page, the guide to reading them, and what stands first

MOST_FAILURES = 1000  # that a page lists
TITLE, STATES_TITLE = "Why the model decided as it did", "What the hidden states hold"
WORDS_TITLE = "What the written words depend on"
TEXTS = ""  # the first line of the page says it


def write_page(
    results: Reportable,
    table: Table | None = None,
    *,
    path: str | Path,
    title: str | None = None,
    about: Mapping[str, object] | None = None,
    scale: Scale = "page",
    shortcuts: Shortcuts = NOTHING,
) -> Path:
    """Write explanations, and a comparison if there is one, to one HTML file.

    results: explanations are shown text by text, with one picture a method; methods side by side share one scale.
    title: None for what the results are. table: the comparison. about: facts that are shown last.
    scale: whose largest score gets the full colour, the page's or each text's. shortcuts: what stands first.
    """
    sections, guide, opened = _drawn(results, table, scale)
    sections = [*sections, *shortcut_sections(shortcuts)]  # the opening says what decides
    opened = replace(opened, first=(*map(str, shortcuts.decisive), *opened.first))
    if table is not None:
        sections.append(comparison_section(table))
    if failures := getattr(results, "failures", ())[:MOST_FAILURES]:
        facts = {f"row {failure.row:,}": failure.reason for failure in failures}
        sections.append(facts_section("Texts without an explanation", failures_in_words(results.failures), facts))  # type: ignore[union-attr]
    if about:
        sections.append(facts_section("What was done", "", about))
    heading = (opened.title or _title(results)) if title is None else title
    return write_report(path, title=heading, sections=sections, guide=guide, opening=opened)


def _opening(results: Reportable, table: Table | None, scale: Scale) -> Opening:
    """What the page begins with: of many texts with three of them in colour."""
    every = results.explanations if isinstance(results, SideBySide) else list(results)
    explanations = [result for result in every if isinstance(result, Explanation)]
    analyses = [result for result in every if isinstance(result, SpanAnalysis)]
    if analyses and not explanations:
        return span_analysis_opening(analyses)
    if not explanations:
        return Opening() if table is None else table_opening(table)
    is_many = is_corpus(explanations) and not isinstance(results, SideBySide)
    return corpus_opening(explanations, table, scale) if is_many else opening(explanations, table)


def has_sections(results: object) -> bool:
    """Whether a kind of result has sections of its own: another room registers them."""
    return bool(renderers.of_class("sections_of", results))


def _drawn(results: Reportable, table: Table | None, scale: Scale) -> Sections:
    """The sections of a kind of result, how to read them, and what stands first."""
    for entry in renderers.of_class("sections_of", results):
        sections, guide, opened = entry.make(results)
        return list(sections), guide, opened
    return _result_sections(results, scale), guide_of(results), _opening(results, table, scale)


def _title(results: Reportable) -> str:
    """The heading of a page that has none of the caller's."""
    if _all_are(results, explains_state):
        return STATES_TITLE
    return WORDS_TITLE if _all_are(results, explains_written) else TITLE


def _all_are(results: Reportable, of_kind: Callable[[Explanation], bool]) -> bool:
    """Whether all results are explanations of a kind, say of hidden states."""
    if has_sections(results):
        return False
    every = results.explanations if isinstance(results, SideBySide) else list(results)
    return bool(every) and all(isinstance(result, Explanation) and of_kind(result) for result in every)


def guide_of(results: Reportable) -> Markup:
    """How to read the results. It explains only what the page shows."""
    if isinstance(results, SideBySide):
        is_written = _all_are(results, explains_written)
        kinds = _kinds(results.explanations)
        return written_guide(kinds) if is_written else side_by_side_guide(kinds & {"words", "unread"} | {"words"})
    if any(isinstance(result, SpanAnalysis) for result in results):
        return span_guide(marked=False)
    explanations = [result for result in results if isinstance(result, Explanation)]
    if _all_are(results, explains_written):
        return written_guide(_kinds(explanations))
    if _all_are(results, explains_state) and "spans" not in _kinds(explanations):
        return states_guide("marks" in _kinds(explanations))
    if not explanations:
        return comparison_guide()
    of_values = all(explanation.predicted_value is not None for explanation in explanations)
    return reading_guide(_kinds(explanations), of_values)


def _kinds(explanations: Sequence[Explanation]) -> set[str]:
    """What the pictures of these explanations show, as the legend names it."""
    kinds = {"spans" if isinstance(explanation.units, Spans) else "words" for explanation in explanations}
    unread = {"unread"} if any("unread_words" in explanation.diagnostics for explanation in explanations) else set()
    marks = {"marks"} if any(explanation.example.rationales for explanation in explanations) else set()
    places = {"places"} if any(place_of(explanation.example) for explanation in explanations) else set()
    return kinds | marks | unread | places


def _result_sections(results: Reportable, scale: Scale) -> list[Section]:
    """The sections for results of each kind."""
    if isinstance(results, SideBySide):
        return side_by_side_sections(results)
    analyses = [result for result in results if isinstance(result, SpanAnalysis)]
    explanations = [result for result in results if isinstance(result, Explanation)]
    of_texts = results if isinstance(results, Results) else explanations  # `Results` know their seconds
    return [
        *(span_analysis_sections(analyses) if analyses else []),
        *(_explanation_sections(of_texts, scale) if of_texts else []),
    ]


def _explanation_sections(explanations: Sequence[Explanation], scale: Scale) -> list[Section]:
    """Few texts as cards, many with a summary before them."""
    if is_corpus(explanations):
        return corpus_sections(explanations, scale=scale)
    texts = texts_section(explanations, scales=None if scale == "page" else {})
    return [*beside_sections(explanations), texts]


def texts_section(
    explanations: Sequence[Explanation],
    heading: str = "The texts",
    intro: str = TEXTS,
    *,
    scales: Scales | None = None,
    unit: Kind = "word",
    anchor: str | None = None,
) -> Section:
    """One card a text; scales: `page_scales` of all explanations, where a page has several such sections; anchor: what
    links lead to its cards by (`texts_view`).
    """
    return Section(heading, intro, texts_view(explanations, scales=scales, unit=unit, anchor=anchor))
