"""The words of one class: by raw and by normalised sums, each times idf, with counts, and a cloud."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.drawing.html import Markup, element, name
from pellucid.results.word_lists import MOST, SUMS, Sums, WordLists, WordSum

SHOWN = 15  # words of a list
HEADINGS: dict[Sums, str] = {
    "raw": "scores added up × idf",
    "normalised": "each text’s shares added up × idf",
}
BAR_WIDTH, BAR_HEIGHT = 100, 12


def class_columns(lists: WordLists, label: str, most: int = SHOWN) -> Markup:
    """A card a class; most: words of a list. The cloud has up to 50."""
    columns = [_column(lists, label, sums, most) for sums in SUMS]
    cloud = word_cloud(lists.top(label, MOST), label)
    figure = element("figure", element("figcaption", CAPTION), cloud, class_="pl-cloud-box") if cloud else None
    texts = lists.n_texts[label]
    return element(
        "div",
        element(
            "h3",
            name(label),
            " ",
            element("small", f"{texts:,} text" + ("" if texts == 1 else "s")),
            class_="pl-heading",
        ),
        element("div", *columns, figure, class_="pl-columns pl-three"),
        class_="pl-class",
    )


CAPTION = f"up to {MOST} words; larger: higher scores added up × idf"


def _column(lists: WordLists, label: str, sums: Sums, most: int) -> Markup:
    words = lists.top(label, most, sums)
    heading = element("h4", HEADINGS[sums])
    if not words:
        return element("div", heading, element("p", "none above 0", class_="pl-note"))
    lines = (element("li", *_line(word, words, sums, lists.n_idf_texts)) for word in words)
    return element("div", heading, element("ol", *lines, class_="pl-words pl-sums"))


def _line(word: WordSum, words: Sequence[WordSum], sums: Sums, n_idf_texts: int) -> Iterable[Markup]:
    highest, score = words[0].score(sums), word.score(sums)
    decimals = max(0, 2 - math.floor(math.log10(highest)))
    counts = f"{word.count:,}× in {word.n_texts:,}"
    yield element("span", element("em", name(word.word)) if word.is_stop_word else name(word.word), class_="pl-word")
    yield _bar(score / highest)
    yield element("span", f"{score:,.{decimals}f}", class_="pl-sure")
    yield element(
        "small",
        f"{counts}; idf {word.idf:.1f}",
        title=f"in {word.idf_texts:,} of {n_idf_texts:,} other texts",
    )


def _bar(share: float) -> Markup:
    return element(
        "svg",
        element("rect", x=0, y=2, width=round(BAR_WIDTH * share, 1), height=BAR_HEIGHT - 4, class_="pl-bar-for"),
        viewBox=f"0 0 {BAR_WIDTH} {BAR_HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="pl-word-bar",
    )


# Where the words of a cloud stand: each as near the middle as the larger ones before it allow.
#
# Fonts differ from reader to reader, so a word's width is fixed in the picture (`textLength`); here it is estimated,
# and the boxes of two words never overlap.

WIDTH = 360.0
SMALLEST, LARGEST = 10.0, 40.0  # font sizes
SCALES = (1.0, 0.85, 0.7, 0.6, 0.5)  # of the largest font, until all words find room
ASCENT, DESCENT = 0.80, 0.26  # of a font's size, above and below the line that letters stand on
GAP = 2.0  # between two words
LONGEST = 24  # letters of a word; longer ones end in "…"
NARROW, WIDE = frozenset("fijlrtI1.,:;'’!|()[]-"), frozenset("mwMW@%—")
STEP = 3.0  # between two places that are tried
FLAT = 0.62  # height of the cloud over its width: words are wider than high


@dataclass(frozen=True)
class CloudWord:
    """A word of a cloud. x, y: the middle of its box. size: of its font. width: of its letters."""

    text: str
    x: float
    y: float
    size: float
    width: float

    @property
    def baseline(self) -> float:
        """The y on which its letters stand."""
        return self.y + (ASCENT - DESCENT) / 2 * self.size

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        half_width, half_height = self.width / 2, (ASCENT + DESCENT) / 2 * self.size
        return (
            self.x - half_width,
            self.y - half_height,
            self.x + half_width,
            self.y + half_height,
        )


def cloud_layout(words: Sequence[tuple[str, float]]) -> tuple[list[CloudWord], float]:
    """The words where they stand, in a picture `WIDTH` wide, and its height.

    words: with their weights above 0, the heaviest first. The size of its font grows with the root of its weight; where
    not all words find room around the middle, all are smaller.
    """
    positioned: list[CloudWord] = []
    for scale in SCALES:
        positioned = _at_scale(words, scale)
        if all(word.box[3] <= WIDTH / 2 for word in positioned):  # none had to go below all others
            break
    if not positioned:
        return [], 0.0
    top = min(word.box[1] for word in positioned) - GAP
    bottom = max(word.box[3] for word in positioned) + GAP
    moved = [replace(word, x=word.x + WIDTH / 2, y=word.y - top) for word in positioned]
    return moved, bottom - top


def _at_scale(words: Sequence[tuple[str, float]], scale: float) -> list[CloudWord]:
    positioned: list[CloudWord] = []
    places = _places()
    for text, weight in words:
        positioned.append(_positioned(_sized(text, weight / words[0][1], scale), positioned, places))
    return positioned


def estimated_width(text: str, size: float) -> float:
    """How wide a text is in a usual sans-serif font."""
    return size * sum(map(_letter, text))


def _letter(letter: str) -> float:
    """A letter's width over the size of the font."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in NARROW:
        return 0.32
    if letter in WIDE:
        return 0.85
    return 0.68 if letter.isupper() else 0.55


def _sized(text: str, share: float, scale: float) -> CloudWord:
    """The word in the middle; share: its weight over the largest. scale: of the largest font, so that the smallest
    stays legible.
    """
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    size = SMALLEST + (scale * LARGEST - SMALLEST) * share**0.5
    size = min(size, size * (WIDTH - 2 * GAP) / max(estimated_width(text, size), 1e-9))
    return CloudWord(text, 0.0, 0.0, size, estimated_width(text, size))


def _places() -> np.ndarray:
    """[place axis]: a grid of places, from the middle outwards."""
    side = np.arange(-WIDTH / 2, WIDTH / 2 + STEP, STEP)
    x, y = (axis.ravel() for axis in np.meshgrid(side, side))
    order = np.lexsort((x, y, x**2 + (y / FLAT) ** 2))
    return np.stack([x[order], y[order]], axis=1)


def _positioned(word: CloudWord, positioned: Sequence[CloudWord], places: np.ndarray) -> CloudWord:
    """The word at the first free place; below all others where there is none."""
    half_width, half_height = (word.box[2] - word.box[0]) / 2 + GAP, (word.box[3] - word.box[1]) / 2 + GAP
    free = np.abs(places[:, 0]) + half_width <= WIDTH / 2 + GAP
    if positioned:
        boxes = np.array([neighbour.box for neighbour in positioned])
        x, y = places[:, :1], places[:, 1:]
        beside = (x + half_width <= boxes[:, 0]) | (x - half_width >= boxes[:, 2])
        above = (y + half_height <= boxes[:, 1]) | (y - half_height >= boxes[:, 3])
        free &= (beside | above).all(1)
    if free.any():
        x, y = places[int(free.argmax())].tolist()
        return replace(word, x=x, y=y)
    return replace(word, y=max(neighbour.box[3] for neighbour in positioned) + half_height)


# A word cloud as text in SVG: the heavier a word, the larger it is; without script, and readable without sight.

BRIGHT = 10  # words in the accent's colour
SPOKEN = 8  # words that a screen reader reads


def word_cloud(words: Sequence[WordSum], label: str, sums: Sums = "raw") -> Markup | None:
    """The words of a class, highest score first, as a cloud; None where there are none."""
    positioned, height = cloud_layout([(word.word, word.score(sums)) for word in words])
    if not positioned:
        return None
    texts = (_text(place, index, words[index].is_stop_word) for index, place in enumerate(positioned))
    largest = ", ".join(word.word for word in words[:SPOKEN])
    return element(
        "svg",
        *texts,
        viewBox=f"0 0 {WIDTH:g} {height:.1f}",
        role="img",
        aria_label=f"Word cloud of {label}; largest: {largest}",
        class_="pl-cloud",
    )


def _text(place: CloudWord, index: int, is_stop_word: bool) -> Markup:
    css_classes = ["pl-bright"] * (index < BRIGHT) + ["pl-stop"] * is_stop_word
    return element(
        "text",
        place.text,
        x=f"{place.x:.1f}",
        y=f"{place.baseline:.1f}",
        font_size=f"{place.size:.1f}",
        textLength=f"{place.width:.1f}",
        lengthAdjust="spacingAndGlyphs",
        text_anchor="middle",
        class_=" ".join(css_classes) or None,
    )
