"""The colours of scores: orange for the answer, blue against it, none at 0, in 16 steps a sign.

Each method has one scale, the same for both signs. People with any common colour blindness can tell the two colours
apart. The colours are faint enough for the text on them to be read in light and dark (tests measure the contrast).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

LEVELS = 16
GAMMA = 0.75  # below 1, small scores stay visible
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """The colours of a page, as red, green and blue; most: the opacity of the strongest score's colour."""

    plus: Colour
    minus: Colour
    most: float
    ink: Colour
    paper: Colour


LIGHT = Theme((236, 124, 16), (38, 118, 200), 0.70, ink=(28, 31, 36), paper=(255, 255, 255))
DARK = Theme((240, 130, 36), (70, 146, 236), 0.58, ink=(230, 232, 235), paper=(27, 30, 35))


def level(score: float, scale: float) -> int:
    """From -16 to 16: the step of a score on a scale; 0 is fully transparent."""
    if not scale > 0:
        return 0
    share = min(abs(score) / scale, 1.0) ** GAMMA
    return round(share * LEVELS) * (1 if score > 0 else -1)


def shade(score: float, scale: float) -> str:
    """The style class of a score's colour; empty at 0."""
    step = level(score, scale)
    return f"pl-p{step}" if step > 0 else f"pl-n{-step}" if step < 0 else ""


@dataclass(frozen=True)
class ColourRange:
    """The scores without a colour and with the full one; the lower is 0 unless all scores lie far from it."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The difference of the ends: a scale for scores less the lower end."""
        return self.high - self.low


def colour_range(scores: Iterable[np.ndarray]) -> ColourRange:
    """From 0 to the largest absolute score; from the lowest where none is below a third of that: else all would look
    alike.
    """
    every = np.concatenate([score.ravel() for score in scores])
    low, high = float(every.min()), float(np.abs(every).max())
    return ColourRange(low if high / 3 <= low < high else 0.0, high)


def colour_rules() -> str:
    """The rules of the 32 colour classes, which read the variables of `variables`."""
    colour = "background-color:rgb(var(--pl-{})/calc(var(--pl-most)*{:g}))"
    return "\n".join(
        f".pellucid .pl-{letter}{step}{{{colour.format(sign, step / LEVELS)}}}"
        for letter, sign in (("p", "plus"), ("n", "minus"))
        for step in range(1, LEVELS + 1)
    )


def variables(theme: Theme) -> str:
    """The theme as CSS variables. Colours are three numbers, so that a rule can add opacity."""
    colours = {"plus": theme.plus, "minus": theme.minus, "ink": theme.ink, "paper": theme.paper}
    triples = "".join(f"--pl-{name}:{' '.join(map(str, colour))};" for name, colour in colours.items())
    return f"{triples}--pl-most:{theme.most};"
