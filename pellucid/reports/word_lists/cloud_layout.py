"""Where the words of a cloud stand: each as near the middle as the larger ones before it allow.

Fonts differ from reader to reader, so a word's width is fixed in the picture (`textLength`); here it is estimated, and the
boxes of two words never overlap.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

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

    words: with their weights above 0, the heaviest first. The size of its font grows with the root of its weight; where not all words find
    room around the middle, all are smaller.
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
    """The word in the middle; share: its weight over the largest. scale: of the largest font, so that the smallest stays legible."""
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
        boxes = np.array([one.box for one in positioned])
        x, y = places[:, :1], places[:, 1:]
        beside = (x + half_width <= boxes[:, 0]) | (x - half_width >= boxes[:, 2])
        above = (y + half_height <= boxes[:, 1]) | (y - half_height >= boxes[:, 3])
        free &= (beside | above).all(1)
    if free.any():
        x, y = places[int(free.argmax())].tolist()
        return replace(word, x=x, y=y)
    return replace(word, y=max(one.box[3] for one in positioned) + half_height)
