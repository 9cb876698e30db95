"""The sections of a page of word lists: the words of each class with clouds, and how far the classes overlap."""

from collections.abc import Sequence

from pellucid.core.corpus.list_overlap import OverlapCurve
from pellucid.core.corpus.word_lists import MOST, SUMS, Sums, WordLists
from pellucid.reports.markup.html import Markup, element, fragment
from pellucid.reports.page.section import Section
from pellucid.reports.word_lists.columns import class_columns
from pellucid.reports.word_lists.overlap_plot import overlap_plot
from pellucid.reports.word_lists.shared_words import shared_words_table
from pellucid.reports.wording.overlap import overlap_in_words

OPEN_CLASSES = 6
WORDS = (
    "Here a word’s scores are added up over the texts of a class, so a word counts that is strong and frequent; the sum is "
    "multiplied by how rare the word is in {n:,} other texts: idf = ln((1 + N) / (1 + df)) + 1, where df of N texts have it. On the "
    "left the scores are added up as they are, so texts with large scores count most; beside them each text’s scores are divided by "
    "the sum of their sizes, so every text counts alike. {unit}"
)
UNITS = {
    "word": "Counted are words by their form, without regard to capitals.",
    "piece": "Counted are the tokens as the text spells them; the means above are of words.",
}
OVERLAP = (
    "Words that a model goes by for one class should not stand in the list of another. But that lists share few words proves "
    "little by itself: lists of the rarest words share none either, as each occurs in one class. So compare the lines with the "
    "controls: random words of the same classes, and the rarest words first."
)
TABLE = "The words that two classes both have among their {k} highest."


def word_lists_sections(lists: WordLists, labels: Sequence[str]) -> list[Section]:
    """The words of these classes, and the overlap of all."""
    intro = WORDS.format(n=lists.n_idf_texts, unit=UNITS[lists.unit])
    sections = [Section("Sums of scores, weighted by rarity", intro, _classes(lists, labels))]
    if len(lists.labels) > 1:
        sections.append(Section("Words that classes share", OVERLAP, _overlap(lists)))
    return sections


def _classes(lists: WordLists, labels: Sequence[str]) -> Markup:
    cards = [class_columns(lists, label) for label in labels]
    more = cards[OPEN_CLASSES:]
    folded = element("details", element("summary", f"{len(more)} more classes"), *more) if more else None
    return fragment(*cards[:OPEN_CLASSES], folded)


def _overlap(lists: WordLists) -> Markup:
    curves: dict[Sums, OverlapCurve] = {sums: lists.overlap_curve(sums) for sums in SUMS}
    plot = overlap_plot(curves)
    body = (
        element(
            "div",
            plot,
            element("div", *map(_sentence, overlap_in_words(lists, curves["raw"]))),
            class_="pl-plots",
        )
        if plot
        else element("p", "The lists are too short to be compared.", class_="pl-note")
    )
    heading = element("h3", TABLE.format(k=MOST), class_="pl-heading")
    return fragment(body, heading, shared_words_table(lists))


def _sentence(text: str) -> Markup:
    return element("p", text, class_="pl-overlap-words")
