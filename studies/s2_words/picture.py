"""Figure 2 on sentences of our own, as SVG: a row a method, each word on the colour of its score."""

from collections.abc import Sequence
from html import escape

from studies.shared.curve_plot import INK, MUTED, svg_text
from studies.shared.units import Numbers

LEFT, TOP, LINE, CHARACTER, EDGE = 70, 56, 26, 8.6, 10
MONOSPACE = "font-family='ui-monospace,DejaVu Sans Mono,Menlo,monospace' font-size='13'"
ORANGE = (201, 90, 6)


def sentences_picture(sentences: Sequence[Numbers]) -> str:
    """sentences: as a unit leaves them."""
    rows = sum(2 + len(one["scores"]) for one in sentences)
    widest = max((sum(map(_width, one["words"])) for one in sentences), default=300.0)
    width, height = round(max(LEFT + widest + 20, 560)), TOP + LINE * rows + 30
    title = "Four methods on the same sentences"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        svg_text(16, 26, title, size=15),
    ]
    top = float(TOP)
    for one in sentences:
        parts.append(svg_text(16, top + 16, f"answer: {one['answer']}", colour=MUTED))
        for row, (name, scores) in enumerate(one["scores"].items(), 1):
            parts += _row(name, one["words"], scores, top + LINE * row)
        top += LINE * (2 + len(one["scores"]))
    foot = "sentences of our own, model of one seed; full colour: the largest score of a row"
    parts.append(svg_text(16, height - 12, foot, colour=MUTED))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(name: str, words: Sequence[str], scores: Sequence[float], top: float) -> list[str]:
    parts, x = [svg_text(LEFT - 8, top + 16, name, size=13, anchor="end")], float(LEFT)
    for word, score in zip(words, scores, strict=True):
        width = _width(word)
        parts.append(
            f"<rect x='{x:.1f}' y='{top + 1:.1f}' width='{width - 2:.1f}' height='{LINE - 4}' fill='{_shade(score)}'/>"
        )
        parts.append(
            f"<text x='{x + width / 2 - 1:.1f}' y='{top + 16:.1f}' {MONOSPACE} fill='{INK}' "
            f"text-anchor='middle'>{escape(word)}</text>"
        )
        x += width
    return parts


def _width(word: str) -> float:
    return CHARACTER * len(word) + EDGE


def _shade(score: float) -> str:
    share = 0.7 * min(max(score, 0.0), 1.0)
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in ORANGE)
