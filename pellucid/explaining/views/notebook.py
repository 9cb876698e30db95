"""Fragments for notebooks, drawn as on a page, with a style sheet that changes nothing outside them."""

from pellucid.base.kinds import renderers
from pellucid.drawing.card import by_example, card
from pellucid.drawing.heat_map import small_print
from pellucid.drawing.method_facts import facts_of, in_words
from pellucid.drawing.page import IN_NOTEBOOK, notebook_frame, notebook_sections
from pellucid.explaining.views.class_words import class_words_view, words_intro
from pellucid.explaining.views.corpus import is_corpus, summary_of_results
from pellucid.explaining.views.side_by_side import side_by_side_sections
from pellucid.explaining.views.summary import summary_sections
from pellucid.results.class_words import ClassWords
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.results.summary import Summary
from pellucid.text.units import Spans


@renderers.add(draws="explanation")
def notebook_html(explanation: Explanation) -> str:
    """One explanation as a card, for `_repr_html_`."""
    kind = explanation.units.kind
    unit = "word" if isinstance(explanation.units, Spans) else kind
    guide = in_words(facts_of(explanation.method, [explanation]))
    return notebook_frame(small_print([guide]), card([explanation], unit=unit))  # type: ignore[arg-type]


@renderers.add(draws="results")
def notebook_results(results: Results) -> str:
    """Many texts: the summary, then the first texts as cards, for `_repr_html_`."""
    cards = (card(of_text, checks=False) for of_text in by_example(results)[:IN_NOTEBOOK])
    if not is_corpus(results):
        return notebook_frame(*(card(of_text) for of_text in by_example(results)))
    summary = summary_sections(summary_of_results(results))
    parts = (part for section in summary for part in (small_print([section.intro]), section.body))
    return notebook_frame(*parts, small_print([f"The first {IN_NOTEBOOK} texts:"]), *cards)


@renderers.add(draws="summary")
def notebook_summary(summary: Summary) -> str:
    """The counts over many texts, and the words of each class, for `_repr_html_`."""
    sections = summary_sections(summary)
    return notebook_sections(sections)


@renderers.add(draws="words of classes")
def notebook_class_words(words: ClassWords) -> str:
    """The words of each class as bars, for `_repr_html_`."""
    return notebook_frame(small_print([words_intro(words)]), class_words_view(words))


@renderers.add(draws="side by side")
def notebook_side_by_side(methods: SideBySide) -> str:
    """Several methods' explanations of the same texts, for `_repr_html_`."""
    sections = side_by_side_sections(methods)
    return notebook_sections(sections)
