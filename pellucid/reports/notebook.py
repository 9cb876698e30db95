"""Fragments for notebooks, drawn by the page's own renderer, with a style sheet that touches nothing else."""

from pellucid.core.error_analysis import ErrorAnalysis
from pellucid.core.explanation import Explanation
from pellucid.core.kinds import renderers
from pellucid.core.side_by_side import SideBySide
from pellucid.core.span_analysis import SpanAnalysis
from pellucid.core.table import Table
from pellucid.core.units import Spans
from pellucid.reports.card import card
from pellucid.reports.curve_plot import curve_plots
from pellucid.reports.error_analysis import cue_list, pattern_table, said
from pellucid.reports.heat_map import small_print
from pellucid.reports.html import Markup, element, style
from pellucid.reports.method_facts import facts_of, in_words
from pellucid.reports.side_by_side import side_by_side_sections
from pellucid.reports.span_analysis import span_analysis_card
from pellucid.reports.style import fragment_style
from pellucid.reports.table_view import table_view


@renderers.add(draws="explanation")
def notebook_html(explanation: Explanation) -> str:
    """One explanation as a card, for `_repr_html_`."""
    kind = explanation.units.kind
    unit = "word" if isinstance(explanation.units, Spans) else kind
    guide = in_words(facts_of(explanation.method, [explanation]))
    return _framed(small_print([guide]), card([explanation], unit=unit))  # type: ignore[arg-type]


@renderers.add(draws="table")
def notebook_html_of_table(table: Table) -> str:
    """A comparison with its curves, for `_repr_html_`."""
    return _framed(table_view(table), curve_plots(table))


@renderers.add(draws="side by side")
def notebook_side_by_side(found: SideBySide) -> str:
    """Several methods' explanations of the same texts, for `_repr_html_`."""
    sections = side_by_side_sections(found)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


@renderers.add(draws="span analysis")
def notebook_span_analysis(analysis: SpanAnalysis) -> str:
    """One text's heaviest spans, analysed, for `_repr_html_`."""
    return _framed(span_analysis_card(analysis))


@renderers.add(draws="error analysis")
def notebook_error_analysis(found: ErrorAnalysis) -> str:
    """What errors look like, without the texts, for `_repr_html_`."""
    return _framed(small_print([said(found)]), pattern_table(found.patterns), cue_list(found.cues))


def _framed(*parts: Markup | None) -> str:
    return element("div", style(fragment_style()), *parts, class_="pellucid pl-notebook").text
