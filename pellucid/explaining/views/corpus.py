"""Many texts on a page, with a summary and an index before them; and fragments for notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.base.checks import shortened
from pellucid.base.kinds import renderers
from pellucid.drawing.card import by_example, by_method, card, is_wrong
from pellucid.drawing.colours import Scale, ScaleKey, Scales, largest, scale_key
from pellucid.drawing.heat_map import caution_lines, drawable_view, numbers_switch, small_print, unit_highlights
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.long_text import Highlight, shown_text
from pellucid.drawing.method_facts import facts_of, in_words
from pellucid.drawing.page import (
    IN_NOTEBOOK,
    Section,
    methods_key,
    notebook_frame,
    notebook_sections,
    shared_cautions,
    shared_caveats,
)
from pellucid.drawing.span_view import span_highlights
from pellucid.drawing.wording import answer_name, percent, reading_cautions, shown_row, signed
from pellucid.explaining.views.class_words import class_words_view, words_intro
from pellucid.explaining.views.side_by_side import side_by_side_sections
from pellucid.explaining.views.summary import summary_sections
from pellucid.results.class_words import ClassWords
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.results.summary import Summary, summary_of
from pellucid.text.units import Spans

MANY = 8  # from more texts than this a page opens with their summary
IN_FULL, START = 50, 80  # texts in full; characters of a text in the index
LONGEST_ID = 13  # characters of an id in the index
ORDER = (
    "Mistakes come first, the surest ones at the top; then right answers, the least sure ones first. A text is "
    "called by its id; rows of a file have the number of their line."
)
UNLABELLED = "The least sure answers come first."
COLOURS = (
    "A colour means the same in every text. The full colour stands for the score at the end of the scale and for "
    "larger ones, so that one extreme text does not make the others pale."
)
OWN_COLOURS = (
    "Each text has a scale of its own: its strongest word has the full colour, however small the score. So compare the "
    "words of a text, and do not compare texts."
)
FULL_COLOUR = 0.9  # of the texts' largest scores, nine in ten get no more than the full colour


@dataclass(frozen=True)
class Text:
    """One text of the page: its position among the texts as they came, its explanations (one a method), how many equal
    texts it stands for.
    """

    position: int
    explanations: Sequence[Explanation]
    copies: int

    @property
    def first(self) -> Explanation:
        """The explanation whose answer is shown."""
        return self.explanations[0]

    @property
    def anchor(self) -> str:
        """Where the index leads."""
        return f"text-{self.position}"


def corpus_sections(
    explanations: Sequence[Explanation], in_full: int = IN_FULL, scale: Scale = "page"
) -> list[Section]:
    """The summary, the words of classes, the index, the texts.

    in_full: how many texts have a card of their own. scale: whose largest score gets the full colour, the page's or
    each text's.
    """
    summary = summary_of_results(explanations)
    texts = texts_in_order(explanations)
    order = ORDER if summary.n_labelled else UNLABELLED
    sections = [*summary_sections(summary), Section("Index", order, index_view(texts))]
    shown, folded = texts[:in_full], texts[in_full:]
    scales = usual_scales(explanations) if scale == "page" else {}
    shared = shared_caveats(explanations)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    cards = (card(text.explanations, scales=scales, hide=hide, checks=False, anchor=text.anchor) for text in shown)
    body = fragment(
        shared_cautions(shared),
        element("div", *cards, class_="pl-cards"),
        _folded(folded, scales),
        methods_key(explanations, scales, checks=True),
    )
    return [*sections, Section("The texts", COLOURS if scale == "page" else OWN_COLOURS, body)]


def summary_of_results(explanations: Sequence[Explanation]) -> Summary:
    """Their summary, with the seconds that they took where these are known."""
    seconds = explanations.seconds if isinstance(explanations, Results) else None
    return summary_of(explanations, seconds)


def usual_scales(explanations: Sequence[Explanation]) -> Scales:
    """For each method the score that gets the full colour: one that nine texts in ten do not exceed."""
    sizes: dict[ScaleKey, list[float]] = {}
    for explanation in explanations:
        if not isinstance(explanation.units, Spans):
            view = drawable_view(explanation)
            sizes.setdefault(scale_key(view), []).append(largest(view))
    return {key: float(np.quantile(of_texts, FULL_COLOUR)) for key, of_texts in sizes.items()}


def is_corpus(explanations: Sequence[Explanation]) -> bool:
    """Whether there are so many texts that a page opens with their summary."""
    return len(by_example(explanations)) > MANY


def texts_in_order(explanations: Sequence[Explanation]) -> list[Text]:
    """The different texts: mistakes first, surest first; then the others, least sure first."""
    groups = [list(by_method(group).values()) for group in by_example(explanations)]
    texts = [
        Text(position, [of_method[0] for of_method in group], len(group[0])) for position, group in enumerate(groups, 1)
    ]
    return sorted(texts, key=_place)


def _place(text: Text) -> tuple[bool, float, int]:
    probability = text.first.prediction.probability
    sure = probability if probability == probability else 0.0
    return (False, -sure, text.position) if is_wrong(text.first) else (True, sure, text.position)


def index_view(texts: Sequence[Text]) -> Markup:
    """A line a text that leads to it, in a box that scrolls by itself."""
    lines = (element("li", element("a", *_line(text), href=f"#{text.anchor}")) for text in texts)
    return element(
        "div",
        element("ol", *lines),
        class_="pl-index",
        tabindex=0,
        role="region",
        aria_label=f"Index of {len(texts)} texts",
    )


def _line(text: Text) -> list[Markup | str | None]:
    """The number, the verdict, the answer and how sure it was, and the start of the text."""
    prediction, example = text.first.prediction, text.first.example
    probability = prediction.probability
    label = f" (label: {example.label})" if is_wrong(text.first) else ""
    is_one = probability == probability and not prediction.gives_several
    sure = percent(probability) if is_one else ""
    copies = f" (×{text.copies})" if text.copies > 1 else ""
    return [
        element("span", name(f"{ending(example.id) or text.position}{copies}"), class_="pl-nr"),
        _mark(text.first),
        element("span", name(f"{answer_name(text.first)}{label}"), class_="pl-answered"),
        element("span", sure, class_="pl-sure"),
        element("span", shortened(" / ".join(example.segments), START), class_="pl-start", dir="auto", lang=""),
    ]


def ending(id_: str) -> str:
    """The end of an id, which tells it apart from the others of its file: "…reviews-1974"."""
    return id_ if len(id_) <= LONGEST_ID else f"…{id_[1 - LONGEST_ID :]}"


def _mark(explanation: Explanation) -> Markup:
    correct = explanation.is_correct
    if correct is None:
        return element("span", "·")
    return element("span", "✓", class_="pl-right") if correct else element("span", "✗", class_="pl-wrong")


def _folded(texts: Sequence[Text], scales: Scales) -> Markup | None:
    """The other texts: a line each, the pictures inside."""
    if not texts:
        return None
    heading = element("h3", f"{len(texts):,} more texts, folded; click on a line to open it", class_="pl-heading")
    lines = (
        element(
            "details",
            element("summary", *_line(text), class_="pl-line"),
            element(
                "div",
                *(light_picture(explanation, scales, len(text.explanations) > 1) for explanation in text.explanations),
                id=text.anchor,
            ),
        )
        for text in texts
    )
    return element("div", heading, numbers_switch(), *lines, class_="pl-folded")


def light_picture(explanation: Explanation, scales: Scales, named: bool = False) -> Markup:
    """The coloured text, and the name of the method where there are several."""
    title = element("small", name(facts_of(explanation.method).title)) if named else None
    text = shown_text(explanation.example, _highlights(explanation, scales))
    return fragment(title, *caution_lines(reading_cautions([explanation])), text)


def _highlights(explanation: Explanation, scales: Scales) -> list[Highlight]:
    if isinstance(explanation.units, Spans):
        return span_highlights(shown_row(explanation))
    view = drawable_view(explanation)
    scale = scales.get(scale_key(view), largest(view))
    every = unit_highlights(view, scale, lambda unit: signed(unit.score))
    coloured = (highlight for highlight in every if highlight.css_classes != "pl-u")
    return [
        replace(highlight, css_classes=highlight.css_classes.removeprefix("pl-u ")) for highlight in coloured
    ]  # a lighter page


# Fragments for notebooks, drawn as on a page, with a style sheet that changes nothing outside them.


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
