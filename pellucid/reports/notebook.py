"""Fragments for notebooks, drawn as on a page, with a style sheet that changes nothing outside them."""

from pellucid.core.corpus.results import Results
from pellucid.core.corpus.side_by_side import SideBySide
from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.error_analysis import ErrorAnalysis
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.span_analysis import SpanAnalysis
from pellucid.core.results.table import Table
from pellucid.core.text.units import Spans
from pellucid.reports.markup.html import Markup, element, style
from pellucid.reports.markup.style import fragment_style
from pellucid.reports.page.card import card
from pellucid.reports.page.curve_plot import curve_plots
from pellucid.reports.page.error_analysis import cue_list, errors_in_words, pattern_table
from pellucid.reports.page.heat_map import small_print
from pellucid.reports.page.side_by_side import side_by_side_sections
from pellucid.reports.page.span_analysis import span_analysis_card
from pellucid.reports.page.table_view import table_view
from pellucid.reports.wording.method_facts import facts_of, in_words


@renderers.add(draws="explanation")
def notebook_html(explanation: Explanation) -> str:
    """One explanation as a card, for `_repr_html_`."""
    kind = explanation.units.kind
    unit = "word" if isinstance(explanation.units, Spans) else kind
    guide = in_words(facts_of(explanation.method, [explanation]))
    return _framed(small_print([guide]), card([explanation], unit=unit))  # type: ignore[arg-type]


FIRST_TEXTS = 5


@renderers.add(draws="results")
def notebook_results(results: Results) -> str:
    """Many texts: the summary, then the first texts as cards, for `_repr_html_`."""
    cards = (card([one], unit=one.units.kind) for one in results[:FIRST_TEXTS])  # type: ignore[arg-type]
    return _framed(small_print([repr(results).strip("<>")]), *cards)


@renderers.add(draws="table")
def notebook_html_of_table(table: Table) -> str:
    """A comparison with its curves, for `_repr_html_`."""
    return _framed(table_view(table), curve_plots(table))


@renderers.add(draws="side by side")
def notebook_side_by_side(methods: SideBySide) -> str:
    """Several methods' explanations of the same texts, for `_repr_html_`."""
    sections = side_by_side_sections(methods)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


@renderers.add(draws="span analysis")
def notebook_span_analysis(analysis: SpanAnalysis) -> str:
    """One text's heaviest spans, analysed, for `_repr_html_`."""
    return _framed(span_analysis_card(analysis))


@renderers.add(draws="error analysis")
def notebook_error_analysis(analysis: ErrorAnalysis) -> str:
    """How often each pattern of errors is seen, without the texts, for `_repr_html_`."""
    errors = small_print([errors_in_words(analysis)])
    return _framed(errors, pattern_table(analysis.patterns), cue_list(analysis.cues))


def _framed(*parts: Markup | None) -> str:
    return element("div", style(fragment_style()), *parts, class_="pellucid pl-notebook").text
