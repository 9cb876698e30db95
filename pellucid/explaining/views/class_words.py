"""The words of each class: bars with intervals, those for the class beside those against it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pellucid.base.checks import listed
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import facts_of, readable
from pellucid.drawing.page import Section
from pellucid.drawing.wording import MINUS, signed
from pellucid.results.class_words import ClassWords, Sign, WordScore

MOST_WORDS, OPEN_CLASSES, MOST_FUNCTION_WORDS = 10, 4, 5
WIDTH, HEIGHT = 100, 12
SIGNS: tuple[Sign, ...] = ("for", "against")
INTRO = (
    "Words are counted by their form, without regard to capitals. A bar is a word’s mean score over the texts that it "
    "occurs in, the thin line its 95 % interval; a word counts for a class where the class is the one that is "
    "explained. The surest words come first: those whose interval stays farthest from 0, then those whose line crosses "
    "0, which may speak either way. Each class has a scale of its own: compare bars within a class, and numbers "
    "between classes."
)
STOP_WORDS = (
    "Function words and punctuation, such as “the” or “,”, stand below the other words, in brackets where the interval "
    "holds 0. They are listed because a model that relies on them may have learnt something else than meant."
)


def class_words_sections(words: ClassWords, most: int = 2 * MOST_WORDS) -> list[Section]:
    """A page of words: what the bars mean, then every class; most: words a class and sign."""
    return [Section("The words of each class", words_intro(words), class_words_view(words, most))]


def words_intro(words: ClassWords) -> str:
    """How to read the bars, and the method whose scores they are."""
    return f"{INTRO} The scores are those of {readable(words.method)}."


def class_words_view(words: ClassWords, most: int = MOST_WORDS) -> Markup:
    """A block a class, those after the fourth folded away; nothing but a sentence where there is no word."""
    signed_method = facts_of(words.method).signed or any(word.mean < 0 for word in words.words)
    blocks = [_of_class(words, label, most, signed_method) for label in words.labels]
    shown = [block for block in blocks if block]
    if not shown:
        return element("p", "No word occurs in three texts or more, so no mean can be given.", class_="pl-note")
    more = shown[OPEN_CLASSES:]
    folded = element("details", element("summary", f"{len(more)} more classes"), *more) if more else None
    stop = any(word.is_stop_word for word in words.words)
    return fragment(
        *caution_lines(words.caveats),
        *shown[:OPEN_CLASSES],
        folded,
        element("p", " ".join(left_out(words)), class_="pl-note") if words.n_rare else None,
        element("p", STOP_WORDS, class_="pl-note") if stop else None,
    )


def left_out(words: ClassWords) -> list[str]:
    """How many words are too rare to be counted, and the classes of which no word is left."""
    rare = f"Left out: {words.n_rare:,} words that occur in fewer than {words.min_texts} texts."
    empty = [label for label in words.labels if not any(word.label == label for word in words.words)]
    return [rare, *([f"No word is left for {listed(empty)}."] if empty else [])]


def _of_class(words: ClassWords, label: str, most: int, signed_method: bool) -> Markup | None:
    of_label = words.only(label)
    lists = {sign: of_label.content().strongest(label, most, sign) for sign in SIGNS}
    every = [word for of_sign in lists.values() for word in of_sign]
    if not every:
        return None
    reach = reach_of(every)
    headings: dict[Sign, str] = {"for": "count most"}
    if signed_method:
        headings = {"for": "speak for it", "against": "speak against it"}
    columns = (
        element(
            "div",
            element("h4", headings[sign]),
            _word_list(lists[sign], axis_of(lists[sign], sign, reach)),
            _function_words(of_label, label, sign, lists[sign]),
        )
        for sign in headings
    )
    heading = element("h3", name(label), class_="pl-heading")
    return element("div", heading, element("div", *columns, class_="pl-columns"), class_="pl-class")


def _word_list(words: Sequence[WordScore], axis: "Axis") -> Markup:
    if not words:
        return element("p", "none", class_="pl-note")
    return element("ol", *(element("li", *_line(word, axis)) for word in words), class_="pl-words")


def _function_words(words: ClassWords, label: str, sign: Sign, listed_words: Sequence[WordScore]) -> Markup | None:
    """The surest function words in a line below the others, where they are not listed there; in brackets unsure
    ones.
    """
    every = words.strongest(label, max(len(words.words), 1), sign)
    function_words = [word for word in every if word.is_stop_word and word not in listed_words]
    if not function_words:
        return None
    shown = [
        fragment(
            "; " if index else None,  # a comma is one of the words
            None if word.is_sure else "(",
            element("em", name(word.word)),
            f" {signed(word.mean)} in {word.n_texts} text{'' if word.n_texts == 1 else 's'}",
            None if word.is_sure else ")",
        )
        for index, word in enumerate(function_words[:MOST_FUNCTION_WORDS])
    ]
    more = len(function_words) - MOST_FUNCTION_WORDS
    return element("p", "Function words: ", *shown, f" and {more} more" if more > 0 else None, class_="pl-note")


def _line(word: WordScore, axis: "Axis") -> Iterable[Markup]:
    form = element("em", name(word.word)) if word.is_stop_word else name(word.word)
    known = not math.isnan(word.low)
    interval = f"{axis.written(word.low)} to {axis.written(word.high)}" if known else "one text"
    texts = f"{word.count}× in {word.n_texts} text{'' if word.n_texts == 1 else 's'}"
    yield element("span", form, class_="pl-word")
    yield _bar(word, axis)
    yield element("span", axis.written(word.mean), class_="pl-sure")
    yield element("small", f"{texts}; {interval}")


@dataclass(frozen=True)
class Axis:
    """The range of scores that the bars of one class share."""

    low: float
    high: float

    def written(self, value: float) -> str:
        """A score with its sign; all scores of the axis have the same decimals, three digits of the largest."""
        decimals = max(0, 2 - math.floor(math.log10(max(-self.low, self.high))))
        return f"{value:+.{decimals}f}".replace("-", MINUS)

    def x(self, value: float) -> float:
        """The position of a score, 0 to 100."""
        return round(WIDTH * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 1)


def reach_of(words: Sequence[WordScore]) -> float:
    """How far the farthest end of any interval is from 0."""
    return max(abs(end) for end in _ends(words)) or 1.0


def axis_of(words: Sequence[WordScore], sign: Sign, reach: float) -> Axis:
    """From 0, or from where an interval crosses it, to the reach of the class on the side of the sign."""
    low, high = min([0.0, *_ends(words)]), max([0.0, *_ends(words)])
    return Axis(low, reach) if sign == "for" else Axis(-reach, high)


def _ends(words: Sequence[WordScore]) -> list[float]:
    return [end for word in words for end in (word.low, word.high, word.mean) if not math.isnan(end)]


def _bar(word: WordScore, axis: Axis) -> Markup:
    left, right = sorted((axis.x(0), axis.x(word.mean)))
    sign = "pl-bar-for" if word.mean > 0 else "pl-bar-against"
    zero = element("line", x1=axis.x(0), x2=axis.x(0), y1=0, y2=HEIGHT, class_="pl-axis")
    return element(
        "svg",
        element("rect", x=left, y=2, width=round(right - left, 1), height=HEIGHT - 4, class_=sign),
        None if math.isnan(word.low) else _whisker(word, axis),
        zero,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="pl-word-bar",
    )


def _whisker(word: WordScore, axis: Axis) -> Markup:
    y = HEIGHT / 2
    return element("line", x1=axis.x(word.low), x2=axis.x(word.high), y1=y, y2=y, class_="pl-whisker")
