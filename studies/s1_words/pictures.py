"""Figure 4 as curves of every method, and figures 7 and 8 as clouds."""

from collections.abc import Mapping, Sequence
from html import escape

from pellucid.words.columns import WIDTH as CLOUD_WIDTH
from pellucid.words.columns import cloud_layout

SOLID = 4  # methods with solid lines; later ones have dashes, since eight colours alone are hard to tell apart
COLOURS = ("#0b6fb8", "#c95a06", "#00856a", "#a33f89", "#7d6400", "#3f444c", "#1487a8", "#b3262e")
INK, MUTED, RULE, ACCENT = "#1c1f24", "#5d6470", "#dfe1e4", "#9a4700"
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT, LEGEND = 56, 48, 420, 240, 280
COLUMN, GAP = CLOUD_WIDTH, 24


def overlap_picture(curves: Mapping[str, Sequence[float]], title: str) -> str:
    """Shares from 0 to 1 against k = 1, 2, ...; the lines "random words" and "rarest words" are grey."""
    highest = max(0.05, *(max(line, default=0.0) for line in curves.values()))
    most = max(2, *map(len, curves.values()))
    colours = COLOURS * (1 + len(curves) // len(COLOURS))
    parts = [_text(20, 26, title, size=14, weight=600), *_axes(highest, most)]
    for number, (name, line) in enumerate(curves.items()):
        grey = name.startswith(("random", "rarest"))
        dash = _dash(name, number)
        look = f"stroke='{MUTED if grey else colours[number]}' stroke-width='2' fill='none'"
        look += f" stroke-dasharray='{dash}'" if dash else ""
        points = " ".join(f"{_x(k, most)},{_y(value, highest)}" for k, value in enumerate(line, 1))
        y = TOP + 12 + 20 * number
        left = LEFT + PLOT_WIDTH + 24
        parts += [
            f"<polyline points='{points}' {look}/>",
            f"<line x1='{left}' x2='{left + 28}' y1='{y - 4}' y2='{y - 4}' {look}/>",
            _text(left + 36, y, name, size=12),
        ]
    height = max(TOP + PLOT_HEIGHT + 50, TOP + 20 * len(curves) + 20)
    return _document(LEFT + PLOT_WIDTH + LEGEND, height, parts, title)


def _dash(name: str, number: int) -> str:
    """The dashes of a line, "" for a solid one."""
    if name.startswith("random"):
        return "4 4"
    if name.startswith("rarest"):
        return "1.5 3"
    return "" if number < SOLID else "10 3"


def _axes(highest: float, most: int) -> list[str]:
    parts = []
    for share in (0.0, highest / 2, highest):
        y = _y(share, highest)
        parts.append(f"<line x1='{LEFT}' x2='{LEFT + PLOT_WIDTH}' y1='{y}' y2='{y}' stroke='{RULE}'/>")
        parts.append(_text(LEFT - 8, y + 4, f"{100 * share:.1f} %", size=11, colour=MUTED, anchor="end"))
    for k in sorted({1, most // 2, most}):
        parts.append(_text(_x(k, most), TOP + PLOT_HEIGHT + 18, str(k), size=11, colour=MUTED, anchor="middle"))
    middle = LEFT + PLOT_WIDTH / 2
    return [
        *parts,
        _text(middle, TOP + PLOT_HEIGHT + 38, "words of each list, k", size=12, colour=MUTED, anchor="middle"),
    ]


def _x(k: int, most: int) -> float:
    return round(LEFT + PLOT_WIDTH * (k - 1) / (most - 1), 1)


def _y(share: float, highest: float) -> float:
    return round(TOP + PLOT_HEIGHT * (1 - share / highest), 1)


def cloud_picture(words: Mapping[str, Sequence[tuple[str, float]]], title: str) -> str:
    """A cloud a class, two beside each other; words: class -> words with weights above 0, the heaviest first."""
    y, parts = 44.0, [_text(20, 26, title, size=14, weight=600)]
    labels = list(words)
    for first in range(0, len(labels), 2):
        clouds = [(label, *cloud_layout(words[label])) for label in labels[first : first + 2]]
        for column, (label, positioned, _) in enumerate(clouds):
            x = 20 + column * (COLUMN + GAP)
            parts.append(_text(x, y + 14, label, size=13, weight=600))
            for number, word in enumerate(positioned):
                parts.append(
                    f"<text x='{x + word.x:.1f}' y='{y + 24 + word.baseline:.1f}' {FONT} font-size='{word.size:.1f}' "
                    f"textLength='{word.width:.1f}' lengthAdjust='spacingAndGlyphs' text-anchor='middle' "
                    f"fill='{ACCENT if number < 10 else INK}'>{escape(word.text)}</text>"
                )
        y += 44 + max(height for _, _, height in clouds)
    return _document(40 + 2 * COLUMN + GAP, y, parts, title)


def _document(width: float, height: float, parts: Sequence[str], title: str) -> str:
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' "
        f"height='{height:.0f}' role='img'><title>{escape(title)}</title>"
    )
    return (
        "\n".join([head, f"<rect width='{width:.0f}' height='{height:.0f}' fill='#ffffff'/>", *parts, "</svg>"]) + "\n"
    )


def _text(
    x: float, y: float, text: str, *, size: int, weight: int = 400, colour: str = INK, anchor: str = "start"
) -> str:
    look = f"{FONT} font-size='{size}' font-weight='{weight}' fill='{colour}' text-anchor='{anchor}'"
    return f"<text x='{x:.1f}' y='{y:.1f}' {look}>{escape(text)}</text>"
