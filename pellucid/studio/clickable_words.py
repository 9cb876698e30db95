"""The words of a text as links: a click hides one of them or shows it again, and the model answers anew."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pellucid.base.checks import shortened
from pellucid.base.errors import BadInput
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.widgets import link
from pellucid.results.explanation import Explanation
from pellucid.studio.hidden_words import without_words
from pellucid.studio.record import TextRequest
from pellucid.studio.visit import Visit
from pellucid.text.units import Spans, Units

MOST_LINKS = 600  # words of a text that can be clicked: a longer one is edited as a whole
NAMED, LONGEST = 6, 40  # hidden words that a sentence names; characters of each
WordPlace = tuple[int, int, int]  # segment, first character, the one after the last


def clickable_words(of_text: Sequence[Explanation]) -> list[WordPlace]:
    """[word]: where it stands, by the number that edits know it by."""
    for explanation in of_text:
        if isinstance(explanation.units, Spans) or explanation.units.kind in ("piece", "word"):
            units = explanation.view("word").units
            assert isinstance(units, Units)
            return [(units.segment[unit], units.start[unit], units.end[unit]) for unit in units.content]
    return []


def hidden_numbers(visit: Visit, places: Sequence[WordPlace]) -> tuple[int, ...]:
    """The words that the address hides; raises `BadInput` where the text has fewer."""
    hidden = visit.numbers("hidden")
    if hidden and max(hidden) >= len(places):
        raise BadInput(f"hidden= names word {max(hidden)}, and the text has {len(places)}; follow a link of the page.")
    return hidden


def same_words(hidden: Sequence[int], places: Sequence[WordPlace], others: Sequence[WordPlace]) -> tuple[int, ...]:
    """The numbers of hidden words where another model cuts the text into its own words: all that they touch."""
    touched = [places[word] for word in hidden]
    return tuple(
        word
        for word, (segment, start, end) in enumerate(others)
        if any(segment == at and start < last and first < end for at, first, last in touched)
    )


def answers_without(
    visit: Visit, question: TextRequest, explanation: Explanation, hidden: Sequence[int], answer: int = 0
) -> np.ndarray:
    """[text class]: the model's answers to the whole text and to the text without the hidden words. answer: which of
    its answers to the text, where it gives several.
    """
    model, key = visit.studio.model(question.model), ("without", question.bare, answer, tuple(hidden))
    answers: np.ndarray = visit.answer(
        question.model, key, lambda progress: without_words(model, explanation, hidden, progress)
    )
    return answers


def clickable_text(
    explanation: Explanation, places: Sequence[WordPlace], hidden: Sequence[int], address: Callable[[str | None], str]
) -> Iterator[Markup]:
    """Each text with its words as links; a hidden one is struck out. address: of a page with other hidden words."""
    for segment, text in enumerate(explanation.example.segments):
        if len(places) > MOST_LINKS:
            yield element("div", text, class_="pl-text", dir="auto")
            continue
        parts: list[Markup | str] = []
        cursor = 0
        for word, (of_segment, start, end) in enumerate(places):
            if of_segment != segment or start < cursor:
                continue
            target = address(",".join(map(str, sorted({*hidden} ^ {word}))) or None)
            css_class = "st-word st-out" if word in hidden else "st-word"
            title = "show this word again" if word in hidden else "hide this word"
            parts += [text[cursor:start], link(text[start:end], target, class_=css_class, title=title, data_words=word)]
            cursor = end
        yield element("div", *parts, text[cursor:], class_="pl-text st-words", dir="auto")


def words_by_name(explanation: Explanation, places: Sequence[WordPlace], hidden: Sequence[int]) -> Markup:
    """The hidden words in a line: “good”, “film” and 3 more."""
    segments = explanation.example.segments
    texts = (segments[places[word][0]][places[word][1] : places[word][2]] for word in hidden[:NAMED])
    parts = [part for text in texts for part in (", ", name(f"“{shortened(text, LONGEST)}”"))][1:]
    return fragment(*parts, f" and {len(hidden) - NAMED:,} more" if len(hidden) > NAMED else None)
