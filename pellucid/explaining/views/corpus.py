"""Many texts on a page, with a summary before them, each in a line that opens; and fragments for notebooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.base.checks import shortened
from pellucid.base.kinds import renderers
from pellucid.drawing.card import by_example, by_method, card, is_wrong, text_highlights
from pellucid.drawing.emphasis import Scale, ScaleKey, Scales, full_colour, scale_key
from pellucid.drawing.heat_map import caution_lines, drawable_view, numbers_switch, small_print
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.long_text import shown_text
from pellucid.drawing.method_facts import facts_of, in_words
from pellucid.drawing.page import (
    IN_NOTEBOOK,
    Opening,
    Section,
    methods_key,
    notebook_frame,
    notebook_sections,
    page_scales,
    shared_cautions,
    shared_caveats,
    without_headings,
)
from pellucid.drawing.wording import answer_name, percent, reading_cautions, short_ids, sureness
from pellucid.explaining.views.class_words import class_words_view, words_intro
from pellucid.explaining.views.opening import examples_view, opening, picks_of
from pellucid.explaining.views.side_by_side import left_out_view, side_by_side_sections
from pellucid.explaining.views.summary import summary_sections
from pellucid.results.class_words import ClassWords
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.results.summary import Summary, summary_of
from pellucid.results.table import Table
from pellucid.text.units import Spans

MANY = 8  # from more texts than this a page opens with their summary
IN_FULL, START = 50, 80  # texts that open into a card; characters of a text in its line
LINES, GROUP = 200, 100  # texts with a line on the page; texts of a group that opens into lines
LONGEST_ID = 11  # characters of an id in a line, which fit its column
ORDER = (
    "Mistakes come first, the surest ones at the top; then right answers, the least sure ones first. A text is "
    "called by its id; rows of a file have the number of their line. Click on a line to open it."
)
UNLABELLED = "The least sure answers come first. Click on a line to open it."
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
    """The summary, the words of classes, the texts, a line each that opens.

    in_full: how many texts open into a card, the others into their picture. scale: whose largest score gets the full
    colour, the page's or each text's.
    """
    summary = summary_of_results(explanations)
    return [*summary_sections(summary), lines_section(explanations, in_full, scale, summary.n_labelled > 0)]


def lines_section(explanations: Sequence[Explanation], in_full: int, scale: Scale, is_labelled: bool) -> Section:
    """The texts, a line each that opens; in_full, scale: as in `corpus_sections`. is_labelled: whether mistakes are
    known.
    """
    order = ORDER if is_labelled else UNLABELLED
    scales, shared = corpus_scales(explanations, scale), shared_caveats(explanations)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    body = fragment(
        shared_cautions(shared),
        _lines(texts_in_order(explanations), scales, hide, in_full),
        methods_key(explanations, scales, checks=True),
    )
    intro = f"{order} {COLOURS if scale == 'page' else OWN_COLOURS}"
    return Section("The texts", intro, body)


def corpus_scales(explanations: Sequence[Explanation], scale: Scale) -> Scales:
    """One scale a method for the page, or none, so that each text has its own."""
    return usual_scales(explanations) if scale == "page" else {}


def corpus_opening(explanations: Sequence[Explanation], table: Table | None, scale: Scale) -> Opening:
    """The facts of the page, and its three texts in colour."""
    picks = picks_of([(text.first, text.anchor) for text in texts_in_order(explanations)])
    return opening(explanations, table, examples_view(picks, corpus_scales(explanations, scale)))


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
            sizes.setdefault(scale_key(view), []).append(full_colour(view))
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
    sure = sureness(text.first)
    return (False, -sure, text.position) if is_wrong(text.first) else (True, sure, text.position)


def text_line(text: Text, ids: Mapping[str, str]) -> list[Markup | str | None]:
    """The number, the verdict, the answer and how sure it was, and the start of the text."""
    prediction, example = text.first.prediction, text.first.example
    probability = prediction.probability
    label = f" (label: {example.label})" if is_wrong(text.first) else ""
    is_one = probability == probability and not prediction.gives_several
    sure = percent(probability) if is_one else ""
    copies = f" (×{text.copies})" if text.copies > 1 else ""
    short = ids[example.id]
    whole_id = None if short == example.id else example.id
    return [
        element("span", name(f"{short or text.position}{copies}"), class_="pl-nr", title=whole_id),
        _mark(text.first),
        element("span", name(f"{answer_name(text.first)}{label}"), class_="pl-answered"),
        element("span", sure, class_="pl-sure"),
        element("span", shortened(" / ".join(example.segments), START), class_="pl-start", dir="auto", lang=""),
    ]


def _mark(explanation: Explanation) -> Markup:
    correct = explanation.is_correct
    if correct is None:
        return element("span", "·")
    return element("span", "✓", class_="pl-right") if correct else element("span", "✗", class_="pl-wrong")


def _lines(texts: Sequence[Text], scales: Scales, hide: frozenset[str], in_full: int) -> Markup:
    """A line a text, which opens into its card or picture."""
    ids = short_ids([text.first.example.id for text in texts], LONGEST_ID)
    return folded_lines([_folded(text, ids, scales, hide, index < in_full) for index, text in enumerate(texts)])


def folded_lines(lines: Sequence[Markup]) -> Markup:
    """Lines of `folded_line` with the switch that writes their numbers; beyond two hundred they are folded again, by
    the hundred.
    """
    parts = [numbers_switch(), *lines[:LINES]]
    for start in range(LINES, len(lines), GROUP):
        title = f"Texts {start + 1:,} to {min(start + GROUP, len(lines)):,}"
        parts.append(element("details", element("summary", title), *lines[start : start + GROUP], class_="pl-group"))
    return element("div", *parts, class_="pl-folded")


def _folded(text: Text, ids: Mapping[str, str], scales: Scales, hide: frozenset[str], whole: bool) -> Markup:
    if whole:
        shown = card(text.explanations, scales=scales, hide=hide, checks=False, anchor=text.anchor)
    else:
        several = len(text.explanations) > 1
        pictures = (light_picture(explanation, scales, several) for explanation in text.explanations)
        shown = element("div", *pictures, id=text.anchor)
    return folded_line(text_line(text, ids), shown, whole)


def folded_line(line: Sequence[Markup | str | None], shown: Markup, in_print: bool) -> Markup:
    """A line and what it opens into; in_print: whether that is printed, though it is closed."""
    summary = element("summary", *line, class_="pl-line")
    return element("details", summary, shown, class_="pl-full" if in_print else None)


def light_picture(explanation: Explanation, scales: Scales, named: bool = False) -> Markup:
    """The coloured text, and the name of the method where there are several."""
    title = element("small", name(facts_of(explanation.method).title)) if named else None
    text = shown_text(explanation.example, text_highlights(explanation, scales))
    return fragment(title, *caution_lines(reading_cautions([explanation])), text)


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
    if not is_corpus(results):
        scales = page_scales(results)
        return notebook_frame(*(card(of_text, scales=scales) for of_text in by_example(results)))
    scales = usual_scales(results)
    cards = (card(of_text, scales=scales, checks=False) for of_text in by_example(results)[:IN_NOTEBOOK])
    summary = summary_sections(summary_of_results(results))
    return notebook_frame(*without_headings(summary), small_print([f"The first {IN_NOTEBOOK} texts:"]), *cards)


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
    sections = side_by_side_sections(replace(methods, left_out={}))
    return notebook_frame(*without_headings(sections), left_out_folded(methods.left_out))


def left_out_folded(left_out: Mapping[str, str]) -> Markup | None:
    """How many methods are left out, with the reasons folded; nothing where all were asked for by name."""
    if not left_out:
        return None
    summary = element("summary", f"{len(left_out)} methods are left out here; why")
    return element("details", summary, left_out_view(left_out))
