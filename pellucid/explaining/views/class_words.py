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
    "explained. Listed are words whose interval leaves 0 out, those first that are farthest from it at the nearer end; "
    "the others are folded. An arrow ends a line that goes on. Each class has a scale of its own: compare bars within "
    "a class, and numbers between classes."
)
UNSURE = "Nothing sure: no word's interval leaves 0 out, so no word can be said to speak {sign} it."
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
    content = of_label.content()
    if not content.words:
        return None
    reach = reach_of(content.words)
    headings: dict[Sign, str] = {"for": "count most"}
    if signed_method:
        headings = {"for": "speak for it", "against": "speak against it"}
    columns = (_column(of_label, label, sign, title, most, reach) for sign, title in headings.items())
    heading = element("h3", name(label), class_="pl-heading")
    return element("div", heading, element("div", *columns, class_="pl-columns"), class_="pl-class")


def _column(words: ClassWords, label: str, sign: Sign, title: str, most: int, reach: float) -> Markup:
    """The sure words of one sign, then function words, then the unsure ones, folded."""
    every = words.content().strongest(label, max(len(words.words), 1), sign)
    sure, unsure = [[word for word in every if word.is_sure is is_sure] for is_sure in (True, False)]
    axis = axis_of(sign, reach)
    nothing = UNSURE.format(sign=sign) if unsure else "none"
    summary = f"{len(unsure)} word{'' if len(unsure) == 1 else 's'} whose interval holds 0"
    folded = element("details", element("summary", summary), _word_list(unsure[:most], axis)) if unsure else None
    return element(
        "div",
        element("h4", title),
        _word_list(sure[:most], axis) if sure else element("p", nothing, class_="pl-note"),
        _function_words(words, label, sign, every),
        folded,
    )


def _word_list(words: Sequence[WordScore], axis: "Axis") -> Markup:
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
    """How far the axis of a class goes: a quarter beyond its largest mean, whatever the intervals do; of sure words
    where there are any.
    """
    sure = [word for word in words if word.is_sure] or words
    return 1.25 * max(abs(word.mean) for word in sure) or 1.0


def axis_of(sign: Sign, reach: float) -> Axis:
    """From 0 to the reach of the class on the side of the sign, and a quarter as far on the other side."""
    return Axis(-reach / 4, reach) if sign == "for" else Axis(-reach, reach / 4)


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
    """The interval; where it goes beyond the axis, an arrow."""
    y, low, high = HEIGHT / 2, axis.x(word.low), axis.x(word.high)
    line = element("line", x1=low, x2=high, y1=y, y2=y, class_="pl-whisker")
    left = f"M{low + 2.5},{y - 3} {low},{y} {low + 2.5},{y + 3}" if word.low < axis.low else ""
    right = f"M{high - 2.5},{y - 3} {high},{y} {high - 2.5},{y + 3}" if word.high > axis.high else ""
    if not left + right:
        return line
    return fragment(line, element("path", d=left + right, fill="none", class_="pl-whisker"))
