"""Orange for, blue against, nothing at 0: one symmetric scale a method, in 16 steps a sign.

The colours are told apart with every common colour blindness, and stay so faint that the text on them can be
read in light and dark (tests measure the contrast).
"""

from collections.abc import Iterable, Mapping

import numpy as np

from pellucid.core.results.explanation import Explanation

LEVELS = 16
GAMMA = 0.75  # below 1, small scores stay visible
LIGHT = {
    "plus": (236, 124, 16),
    "minus": (38, 118, 200),
    "most": 0.70,
    "ink": (28, 31, 36),
    "paper": (255, 255, 255),
}
DARK = {
    "plus": (240, 130, 36),
    "minus": (70, 146, 236),
    "most": 0.58,
    "ink": (230, 232, 235),
    "paper": (27, 30, 35),
}

ScaleKey = tuple[str, str, str]
Scales = Mapping[ScaleKey, float]


def scale_key(explanation: Explanation) -> ScaleKey:
    """What shares a scale: one method's scores of one output of one model; others' magnitudes never mix."""
    return explanation.method, explanation.model_hash, explanation.target.output


def largest(explanation: Explanation) -> float:
    """The largest absolute score that a picture of the text shows."""
    shown = explanation.scores[..., ~explanation.special]
    return float(np.abs(shown).max()) if shown.size else 0.0


def scales_of(views: Iterable[Explanation]) -> dict[ScaleKey, float]:
    """For each method the score that gets the full colour: the largest on the page."""
    scales: dict[ScaleKey, float] = {}
    for view in views:
        scales[scale_key(view)] = max(scales.get(scale_key(view), 0.0), largest(view))
    return scales


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


def colour_rules() -> str:
    """The rules of the 32 colour classes, which read the variables of `variables`."""
    colour = "background-color:rgb(var(--pl-{})/calc(var(--pl-most)*{:g}))"
    return "\n".join(
        f".pellucid .pl-{letter}{step}{{{colour.format(sign, step / LEVELS)}}}"
        for letter, sign in (("p", "plus"), ("n", "minus"))
        for step in range(1, LEVELS + 1)
    )


def variables(theme: Mapping) -> str:
    """The theme as CSS variables, colours as three numbers so that opacity can be added."""
    colours = (key for key in theme if key != "most")
    triples = "".join(f"--pl-{key}:{' '.join(map(str, theme[key]))};" for key in colours)
    return f"{triples}--pl-most:{theme['most']};"
