"""Fragments for notebooks, drawn as on a page, with a style sheet that changes nothing outside them."""

from dataclasses import replace

from pellucid.base.kinds import renderers
from pellucid.reports.attacks.page import attack_sections
from pellucid.reports.attention.page import attention_sections
from pellucid.reports.checks.view import page_checks
from pellucid.reports.concepts.concept_card import concept_card
from pellucid.reports.layer_maps.page import layer_sections
from pellucid.reports.markup.html import Markup, element, style
from pellucid.reports.markup.style import fragment_style
from pellucid.reports.page.card import by_example, card
from pellucid.reports.page.class_words_view import class_words_view, words_intro
from pellucid.reports.page.corpus import is_corpus, summary_of_results
from pellucid.reports.page.curve_panels import curves_view
from pellucid.reports.page.error_analysis import cue_list, errors_in_words, pattern_table
from pellucid.reports.page.heat_map import small_print
from pellucid.reports.page.side_by_side import side_by_side_sections
from pellucid.reports.page.span_analysis import span_analysis_card
from pellucid.reports.page.summary_view import summary_sections
from pellucid.reports.page.table_view import table_view
from pellucid.reports.trust.card_view import card_view
from pellucid.reports.versions.page import difference_sections
from pellucid.reports.wording.method_facts import facts_of, in_words
from pellucid.results.attacks.attempts import Attempts
from pellucid.results.attention_analysis import AttentionAnalysis
from pellucid.results.check_outcome import TrustCard
from pellucid.results.class_words import ClassWords
from pellucid.results.difference import Difference
from pellucid.results.error_analysis import ErrorAnalysis
from pellucid.results.explanation import Explanation
from pellucid.results.layers.concept_analysis import ConceptAnalysis
from pellucid.results.layers.layer_analysis import LayerAnalysis
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.results.span_analysis import SpanAnalysis
from pellucid.results.summary import Summary
from pellucid.results.table import Table
from pellucid.text.units import Spans


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
    cards = (card(of_text, checks=False) for of_text in by_example(results)[:FIRST_TEXTS])
    if not is_corpus(results):
        return _framed(*(card(of_text) for of_text in by_example(results)))
    summary = summary_sections(summary_of_results(results))
    parts = (part for section in summary for part in (small_print([section.intro]), section.body))
    return _framed(*parts, small_print([f"The first {FIRST_TEXTS} texts:"]), *cards)


@renderers.add(draws="summary")
def notebook_summary(summary: Summary) -> str:
    """The counts over many texts, and the words of each class, for `_repr_html_`."""
    sections = summary_sections(summary)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


@renderers.add(draws="words of classes")
def notebook_class_words(words: ClassWords) -> str:
    """The words of each class as bars, for `_repr_html_`."""
    return _framed(small_print([words_intro(words)]), class_words_view(words))


@renderers.add(draws="table")
def notebook_html_of_table(table: Table) -> str:
    """A comparison with its curves, for `_repr_html_`."""
    return _framed(table_view(table), curves_view(table), page_checks(table))


@renderers.add(draws="trust card")
def notebook_html_of_trust_card(card: TrustCard) -> str:
    """Which methods a comparison recommends, for `_repr_html_`."""
    return _framed(card_view(card))


@renderers.add(draws="side by side")
def notebook_side_by_side(methods: SideBySide) -> str:
    """Several methods' explanations of the same texts, for `_repr_html_`."""
    sections = side_by_side_sections(methods)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


@renderers.add(draws="span analysis")
def notebook_span_analysis(analysis: SpanAnalysis) -> str:
    """One text's heaviest spans, analysed, for `_repr_html_`."""
    return _framed(span_analysis_card(analysis))


@renderers.add(draws="concept analysis")
def notebook_concept_analysis(analysis: ConceptAnalysis) -> str:
    """What layers hold of a word beyond its concepts, for `_repr_html_`."""
    return _framed(concept_card(analysis))


@renderers.add(draws="error analysis")
def notebook_error_analysis(analysis: ErrorAnalysis) -> str:
    """How often each pattern of errors is seen, without the texts, for `_repr_html_`."""
    errors = small_print([errors_in_words(analysis)])
    return _framed(errors, pattern_table(analysis.patterns), cue_list(analysis.cues))


@renderers.add(draws="layer analysis")
def notebook_layer_analysis(analysis: LayerAnalysis) -> str:
    """What the layers still use: sums, words and maps, for `_repr_html_`."""
    sections = layer_sections(analysis)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


@renderers.add(draws="attention analysis")
def notebook_attention_analysis(analysis: AttentionAnalysis) -> str:
    """Whether a model's weights may be read as an explanation: verdict, tests and plots, for `_repr_html_`."""
    sections = attention_sections(analysis)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


@renderers.add(draws="difference")
def notebook_difference(difference: Difference) -> str:
    """What changed between two versions, and the worst texts under both, for `_repr_html_`."""
    worst = replace(difference, rows=difference.rows[:FIRST_TEXTS])
    sections = difference_sections(worst)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))


def _framed(*parts: Markup | None) -> str:
    return element("div", style(fragment_style()), *parts, class_="pellucid pl-notebook").text


@renderers.add(draws="attempts")
def notebook_html_of_attempts(attempts: Attempts) -> str:
    """What attacks did: the table and the first fooled texts, for `_repr_html_`."""
    sections = attack_sections(attempts, FIRST_TEXTS)
    return _framed(*(part for section in sections for part in (small_print([section.intro]), section.body)))
