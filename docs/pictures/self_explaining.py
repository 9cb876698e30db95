"""Draws self-explaining.svg: `python -m docs.pictures.self_explaining`. All of it is drawn here, nothing is traced."""

from html import escape
from pathlib import Path

from docs.pictures.drawn import record

FILES = ("docs/pictures/self_explaining.py",)
WORDS = ("the", "acting", "is", "superb")
HEAVY = (2, 3)  # the span i..j that the drawing follows
WIDTH, HEIGHT = 640, 640
INK, MUTED, EDGE, CARD = "#1c1f24", "#5d6470", "#8a919c", "#ffffff"
STATE, ORANGE = "#cfe1f5", "#ec7c10"
WEIGHTS = {(0, 0): 0.01, (1, 1): 0.05, (2, 2): 0.02, (3, 3): 0.15, (0, 1): 0.01, (1, 2): 0.02, (2, 3): 0.56}
WEIGHTS |= {(0, 2): 0.01, (1, 3): 0.14, (0, 3): 0.03}
LEFT, STEP = 200, 104  # where the first word stands, and how far the next


def text(x: float, y: float, said: str, size: int = 16, anchor: str = "middle", **more: str) -> str:
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in {"fill": INK, **more}.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"{extra}>{escape(said)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = EDGE, thick: float = 1.2) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {place} rx="6" fill="{fill}" stroke="{stroke}" stroke-width="{thick:g}"/>'


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str = EDGE, thick: float = 1.4) -> str:
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return (
        f'<line {ends} stroke="{colour}" stroke-width="{thick:g}" '
        f'marker-end="url(#{"to" if colour == EDGE else "heavy"})"/>'
    )


def column(word: int) -> float:
    """The middle of a word's column."""
    return LEFT + STEP * word + 44


def span_place(first: int, last: int) -> tuple[float, float]:
    """The middle of a span's cell: spans of one length stand in one row, longer ones higher."""
    return (column(first) + column(last)) / 2, 412 - 58 * (last - first)


def layer(y: float, title: str, about: str) -> str:
    return text(24, y, title, 18, "start", font_weight="650") + text(24, y + 20, about, 15, "start", fill=MUTED)


def words_and_states() -> str:
    parts = [layer(596, "Words", "of the text"), layer(508, "Encoder", "one vector h a word")]
    for number, word in enumerate(WORDS):
        x = column(number)
        parts += [text(x, 602, word, 18), arrow(x, 582, x, 536), box(x - 36, 496, 72, 36, STATE)]
        parts.append(text(x, 520, f"h{'₁₂₃₄'[number]}", 17))
    return "".join(parts)


def spans() -> str:
    parts = [
        layer(400, "Spans", "a vector for each i..j,"),
        text(24, 438, "made of hᵢ and hⱼ", 15, "start", fill=MUTED),
    ]
    x, y = span_place(*HEAVY)
    parts += [arrow(column(end), 496, x + (16 if end == HEAVY[1] else -16), y + 20, ORANGE, 2) for end in HEAVY]
    for (first, last), weight in WEIGHTS.items():
        x, y = span_place(first, last)
        chosen = (first, last) == HEAVY
        parts.append(box(x - 40, y - 18, 80, 36, CARD, ORANGE if chosen else EDGE, 3 if chosen else 1.2))
        parts.append(
            f'<rect x="{x - 40:g}" y="{y - 18:g}" width="80" height="36" rx="6" fill="{ORANGE}" '
            f'fill-opacity="{weight**0.75 * 0.9:.2f}"/>'
        )
        parts.append(
            text(x, y + 6, f"α {f'{weight:.2f}'.removeprefix('0')}", 16, font_weight="700" if chosen else "400")
        )
    return "".join(parts)


def above() -> str:
    middle = (column(0) + column(3)) / 2
    top = span_place(0, 3)[1]
    parts = [
        layer(162, "Sum", "h̃ = Σ αᵢⱼ hᵢⱼ"),
        arrow(middle, top - 20, middle, 190),
        box(middle - 130, 144, 260, 42, STATE),
        text(middle, 171, "weighted sum of all spans, h̃", 16),
        layer(78, "Classes", "one linear layer"),
        arrow(middle, 142, middle, 102),
    ]
    for number, (label, chance) in enumerate((("negative", 0.1), ("positive", 0.9))):
        y = 44 + 30 * number
        parts += [text(middle - 14, y + 16, label, 16, "end"), box(middle, y, 150, 20, CARD, EDGE, 1)]
        parts.append(f'<rect x="{middle:g}" y="{y:g}" width="{150 * chance:g}" height="20" rx="6" fill="{MUTED}"/>')
    return "".join(parts)


def note() -> str:
    """What the weights are for; it stands beside the top of the triangle."""
    x, y = 24, 240
    return text(x, y, "Weights α", 18, "start", font_weight="650", fill="#9a4700") + "".join(
        text(x, y + 20 + 18 * line, said, 15, "start", fill=MUTED)
        for line, said in enumerate(("sum to 1 over all spans,", "and are the explanation"))
    )


def drawing() -> str:
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="{size}" markerHeight="{size}" '
        f'orient="auto"><path d="M0 0 10 5 0 10z" fill="{colour}"/></marker>'
        for name, colour, size in (("to", EDGE, 7), ("heavy", ORANGE, 5))
    )
    family = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"
    about = (
        "From bottom to top: the words, the encoder's vector for each word, a triangle with a vector and a weight for "
        "every span of words, the weighted sum of all spans, and the classes. The weights are the explanation."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-labelledby="name about" font-family="{family}"><title id="name">A self-explaining '
        f'classifier</title><desc id="about">{escape(about)}</desc><defs>{heads}</defs>'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="14" fill="{CARD}" stroke="#dfe1e4"/>'
        f"{words_and_states()}{spans()}{note()}{above()}</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_name("self-explaining.svg").write_text(drawing(), encoding="utf-8")
    record("python -m docs.pictures.self_explaining", FILES, ["docs/pictures/self-explaining.svg"])
