"""One sentence as four maps: a row a layer, a column a word, as dark as the layer holds much of the word."""

from collections.abc import Mapping, Sequence
from html import escape

from studies.shared.units import Numbers

LEFT, TOP, ROW, GAP, PER_LETTER = 110, 40, 24, 46, 8.2
INK, MUTED, BLUE = "#1c1f24", "#5d6470", "#1f5fa8"
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"


def map_picture(maps: Numbers) -> str:
    """The maps as SVG, model below model. A cell's shade lies between the least and the most of its model's map."""
    words: Sequence[str] = maps["words"]
    widths = [max(26.0, PER_LETTER * len(word) + 10) for word in words]
    y, parts = float(TOP), []
    for name, rows in maps["models"].items():
        parts += _map(name, rows, words, widths, y)
        y += (len(rows) + 1) * ROW + GAP
    width, height = LEFT + sum(widths) + 24, y - GAP / 2
    title = "What each layer holds of each word of one sentence"
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' "
        f"height='{height:.0f}' role='img'><title>{title}</title>"
    )
    ground = f"<rect width='{width:.0f}' height='{height:.0f}' fill='#ffffff'/>"
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _map(
    name: str, rows: Mapping[str, Sequence[float]], words: Sequence[str], widths: Sequence[float], y: float
) -> list[str]:
    every = [value for row in rows.values() for value in row]
    low, high = min(every), max(every)
    parts = [_text(16, y - 12, f"{name}: {low:.1f} to {high:.1f} nats", INK, 14)]
    starts = [LEFT + sum(widths[:column]) for column in range(len(words))]
    parts += [_text(start + 5, y + 16, word, MUTED, 13) for start, word in zip(starts, words, strict=True)]
    for number, (row, values) in enumerate(rows.items(), start=1):
        top = y + number * ROW
        parts.append(_text(16, top + 16, row if not row.isdigit() else f"layer {row}", INK, 13))
        for start, width, value in zip(starts, widths, values, strict=True):
            shade = (value - low) / ((high - low) or 1.0)
            parts.append(
                f"<rect x='{start:.1f}' y='{top:.1f}' width='{width - 1:.1f}' height='{ROW - 1}' fill='{BLUE}' "
                f"fill-opacity='{shade:.3f}' stroke='#dfe1e4' stroke-width='.5'/>"
            )
    return parts


def _text(x: float, y: float, words: str, colour: str, size: int) -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' fill='{colour}'>{escape(words)}</text>"
