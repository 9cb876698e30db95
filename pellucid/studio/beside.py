"""Two answers, or two texts, beside each other: which words are the same, which changed, and what that did."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from pellucid.attacks.omission_scores import words_of
from pellucid.base.checks import shortened
from pellucid.drawing.card import probability_bar
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.wording import percent, readable_number, signed
from pellucid.results.explanation import NO_CLASS, Prediction
from pellucid.results.side_by_side import SideBySide
from pellucid.studio.explained import explained
from pellucid.studio.record import TextRequest
from pellucid.studio.visit import Visit
from pellucid.studio.work import StillComputing
from pellucid.text.example import Example

Word = tuple[int, str]  # segment and text
Pair = tuple[int | None, int | None]  # the numbers of a word before and after; None where it is on one side alone
Answer = TypeVar("Answer")
Range = tuple[int, int, int]  # segment, first character, the one after the last

MOST_COMPARED = 250_000  # pairs of words that are compared exactly
MOST_CLASSES = 12  # whose bars are drawn
MOST_CHANGES = 8  # that a sentence lists
LONGEST = 40  # characters of a word or class that is listed


def aligned(before: Sequence[Word], after: Sequence[Word]) -> list[Pair]:
    """Which word before is which word after, in reading order; a word that became another one is a pair with it."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    pairs: list[Pair] = [(index, index) for index in range(start)]
    # Of very many words that are all different, common ones are not compared.
    matcher = SequenceMatcher(None, left, right, autojunk=len(left) * len(right) > MOST_COMPARED)
    for _, first, last, first_after, last_after in matcher.get_opcodes():
        pairs += zip_longest(
            range(start + first, start + last), range(start + first_after, start + last_after), fillvalue=None
        )
    return pairs + [(len(before) - rest, len(after) - rest) for rest in range(end, 0, -1)]


def changed_words(before: Sequence[str], after: Sequence[str]) -> list[tuple[Range | None, Range | None]]:
    """The characters of each word that changed, in both texts; None where one of them has no such word."""
    places = [words_of(Example(tuple(segments))) for segments in (before, after)]
    first, second = ([(place.segment, place.text) for place in of_text] for of_text in places)
    ranges = [[(place.segment, place.start, place.end) for place in of_text] for of_text in places]
    return [
        (None if left is None else ranges[0][left], None if right is None else ranges[1][right])
        for left, right in aligned(first, second)
        if left is None or right is None or first[left] != second[right]
    ]


def changes_in_words(before: Sequence[str], after: Sequence[str]) -> Markup:
    """Which words became which others, were taken out or put in."""
    changes = changed_words(before, after)
    parts: list[Markup | str] = []
    for left, right in changes[:MOST_CHANGES]:
        old, new = (_text(segments, place) for segments, place in ((before, left), (after, right)))
        if old is None or new is None:
            parts += [", ", name(f"“{old or new}”"), " put in" if old is None else " taken out"]
        else:
            parts += [", ", name(f"“{old}”"), " → ", name(f"“{new}”")]
    more = len(changes) - MOST_CHANGES
    parts += [f" and {more:,} more"] if more > 0 else []
    return fragment("Changed: ", *parts[1:], ".") if changes else fragment("No word changed, only blanks.")


def _text(segments: Sequence[str], place: Range | None) -> str | None:
    return None if place is None else shortened(segments[place[0]][place[1] : place[2]], LONGEST)


def in_a_line(links: Iterable[Markup]) -> Markup:
    """Links in one line."""
    return element("p", *[part for each in links for part in (" · ", each)][1:], class_="pl-note")


# Answers.


def explained_both(visit: Visit, questions: Sequence[TextRequest]) -> list[SideBySide]:
    """The explanations of several questions, whose models compute at once; raises as `explained`."""
    return at_once([partial(explained, visit, question) for question in questions])


def at_once(calls: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """What several desks answer, which compute at once; raises `StillComputing` where one of them is not ready."""
    answers, waiting = list[Answer](), None
    for call in calls:
        try:
            answers.append(call())
        except StillComputing as computing:
            waiting = waiting or computing
    if waiting is not None:
        raise waiting
    return answers


def answer_in_words(prediction: Prediction) -> str:
    """The class with its probability, several of them, or the value."""
    if not prediction.probabilities:
        return readable_number(prediction.logits[0]) if len(prediction.logits) == 1 else prediction.label
    chances = dict(zip(prediction.labels, prediction.probabilities, strict=True))
    return ", ".join(f"{label} {percent(chances[label])}" for label in prediction.names) or NO_CLASS


def change_of_answer(before: Prediction, after: Prediction) -> Markup:
    """What the answer was and is: "positive 93 % → 41 %", or with another class."""
    if not before.probabilities:
        moved = after.logits[0] - before.logits[0]
        return fragment(f"{answer_in_words(before)} → {answer_in_words(after)} ({signed(moved)})")
    if before.names != after.names:
        return fragment(name(answer_in_words(before)), " → ", element("strong", name(answer_in_words(after))))
    if before.names == (before.label,):
        old, new = percent(before.probability), percent(after.probabilities[after.labels.index(before.label)])
        return fragment(name(before.label), f" stays {old}" if old == new else f" {old} → {new}")
    return fragment(name(answer_in_words(before)), " → ", name(answer_in_words(after)))


def moved_in_words(prediction: Prediction, before: np.ndarray, after: np.ndarray) -> Markup:
    """What became of an answer in an edited text: "positive 93 % → 41 %"; before, after: [class]."""
    if len(before) != len(prediction.labels) or len(before) == 1:
        return fragment(f"{readable_number(float(before[0]))} → {readable_number(float(after[0]))}")
    old, new = int(before.argmax()), int(after.argmax())
    if prediction.gives_several:
        old = new = int(np.abs(after - before).argmax())
    shares = percent(float(before[old])), percent(float(after[new]))
    if old == new:
        moved = f" stays {shares[0]}" if shares[0] == shares[1] else f" {shares[0]} → {shares[1]}"
        return fragment(name(prediction.labels[old]), moved)
    now = element("strong", name(f"{prediction.labels[new]} {shares[1]}"))
    return fragment(name(f"{prediction.labels[old]} {shares[0]}"), " → ", now)


def both_answers(
    before: Prediction,
    after: Prediction,
    titles: tuple[str, str] = ("before", "after"),
    edited: Sequence[Mapping[str, float]] = ({}, {}),
) -> Markup:
    """The bars of all classes on both sides, from 0 to 1; of a model that gives a value both values. edited: of each
    side class -> its probability in an edited text, which is drawn instead.
    """
    if not (before.probabilities and after.probabilities):
        return element("p", change_of_answer(before, after))
    sides = [dict(zip(side.labels, side.probabilities, strict=True)) for side in (before, after)]
    labels = list(dict.fromkeys((*before.labels, *after.labels)))
    ordered = sorted(labels, key=lambda label: -max(side.get(label, 0.0) for side in sides))[:MOST_CLASSES]
    rows = (_bar_row(label, list(zip(sides, edited, strict=True))) for label in labels if label in ordered)
    more = len(labels) - MOST_CLASSES
    note = element("p", f"and {more:,} classes with lower probabilities", class_="pl-note") if more > 0 else None
    bars = table(header_row(("class", *titles)), rows, "pl-table st-both")
    return fragment(scroll_box(bars, "Probabilities of all classes"), note)


def _bar_row(label: str, sides: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> Markup:
    cells = (
        element("td", "–" if label not in side else _bar(side[label], edited.get(label))) for side, edited in sides
    )
    return element("tr", element("th", name(shortened(label, LONGEST)), scope="row"), *cells)


def _bar(share: float, edited: float | None) -> Markup:
    """A bar with its number; of an edited text, with what it was before."""
    shown = share if edited is None else edited
    before = (
        element("small", f" was {percent(share)}", class_="st-before") if percent(shown) != percent(share) else None
    )
    return fragment(probability_bar(shown), " ", percent(shown), before)
