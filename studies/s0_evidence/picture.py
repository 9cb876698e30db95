"""Table 5 as an SVG picture: each sentence once for each extractor, with the spans on orange.

All letters have one width, and every line states its width, so the orange lies under its words in any font.
"""

from collections.abc import Sequence
from html import escape

from studies.shared.units import Numbers

TITLES = {
    "span_attention": "span attention",
    "average_gradient": "average gradient",
    "average_attention": "average attention",
    "rationale": "rationale",
}
MODELS = {"span": "self-explaining", "plain": "plain", "rationale": "rationale"}
WIDTH, LEFT, EDGE, TOP = 720, 152, 20, 56
LETTER, LINE, PAD = 8.4, 22, 8  # a letter's width, a line's height, the gap between two extractors
LETTERS = int((WIDTH - LEFT - EDGE) / LETTER)
INK, MUTED, RULE, ORANGE = "#1c1f24", "#5d6470", "#dfe1e4", "#ec7c10"
SANS = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"
MONO = "font-family='ui-monospace,Liberation Mono,DejaVu Sans Mono,Menlo,Consolas,monospace'"


def as_picture(sentences: Sequence[Numbers]) -> str:
    """Sentences with `text`, `label`, `kinds`, `said`, `marked` and `spans` (extractor -> [start, end)), one below
    another.
    """
    y, parts = TOP, []
    for sentence in sentences:
        block, y = _sentence(sentence, y)
        parts += block
    about = "Each sentence once for each extractor, with the words that it takes for evidence on orange ground."
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {y}' width='{WIDTH}' height='{y}' role='img'>"
        f"<title>Spans side by side</title><desc>{about}</desc>"
    )
    ground = f"<rect x='1' y='1' width='{WIDTH - 2}' height='{y - 2}' rx='14' fill='#ffffff' stroke='{RULE}'/>"
    legend = [
        f"<rect x='{EDGE}' y='23' width='38' height='15' fill='{ORANGE}' fill-opacity='.28'/>",
        f"<rect x='{EDGE}' y='38' width='38' height='2.5' fill='{ORANGE}'/>",
        _text(EDGE + 46, 35, "taken for evidence", size=13),
        f"<line x1='{EDGE + 190}' x2='{EDGE + 228}' y1='41' y2='41' {_dots()}/>",
        _text(EDGE + 236, 35, "marked by the author", size=13),
    ]
    return "\n".join([head, ground, *legend, *parts, "</svg>"]) + "\n"


def _sentence(sentence: Numbers, y: int) -> tuple[list[str], int]:
    """A sentence's lines of the picture, and where the next sentence begins."""
    kinds = ", ".join(sentence["kinds"])
    label = f"{kinds}: {sentence['label']}" if kinds else f"{sentence['label']}"
    answers = "; ".join(f"{title} says {sentence['said'][kind]}" for kind, title in MODELS.items())
    parts = [
        f"<line x1='{EDGE}' x2='{WIDTH - EDGE}' y1='{y}' y2='{y}' stroke='{RULE}'/>",
        _text(EDGE, y + 22, label.replace("_", " "), size=13, weight=650),
        _text(EDGE, y + 40, answers, size=12, colour=MUTED),
    ]
    lines, y = broken(sentence["text"]), y + 50
    for name, spans in sentence["spans"].items():
        parts.append(_text(EDGE, y + 15, TITLES[name], size=13))
        for number, (start, end) in enumerate(lines):
            parts += _line(sentence, spans, start, end, y + LINE * number)
        y += LINE * len(lines) + PAD
    return parts, y + 10


def broken(text: str, letters: int = LETTERS) -> list[tuple[int, int]]:
    """Characters [start, end) of each line, broken at blanks. A word longer than a line is cut."""
    lines, start = [], 0
    while len(text) - start > letters:
        blank = text.rfind(" ", start, start + letters + 1)
        end = blank if blank > start else start + letters
        lines.append((start, end))
        start = end + 1 if blank > start else end
    return [*lines, (start, len(text))]


def _line(sentence: Numbers, spans: Sequence[Sequence[int]], start: int, end: int, y: int) -> list[str]:
    parts = []
    for left, width in _inside(spans, start, end):
        parts += [
            f"<rect x='{left:.1f}' y='{y + 2}' width='{width:.1f}' height='15' fill='{ORANGE}' fill-opacity='.28'/>",
            f"<rect x='{left:.1f}' y='{y + 17}' width='{width:.1f}' height='2.5' fill='{ORANGE}'/>",
        ]
    for left, width in _inside(sentence["marked"], start, end):
        parts.append(f"<line x1='{left:.1f}' x2='{left + width:.1f}' y1='{y + 21}' y2='{y + 21}' {_dots()}/>")
    line = sentence["text"][start:end]
    wide = f"textLength='{LETTER * len(line):.1f}' lengthAdjust='spacingAndGlyphs'" if line else ""
    position = f"x='{LEFT}' y='{y + 14}' font-size='14' fill='{INK}' xml:space='preserve'"
    return [*parts, f"<text {position} {wide} {MONO}>{escape(line)}</text>"]


def _inside(spans: Sequence[Sequence[int]], start: int, end: int) -> list[tuple[float, float]]:
    """Where the spans lie in a line: left edge and width."""
    cut = [(max(first, start), min(last, end)) for first, last in spans]
    return [(LEFT + LETTER * (first - start), LETTER * (last - first)) for first, last in cut if first < last]


def _dots() -> str:
    return f"stroke='{INK}' stroke-width='2' stroke-dasharray='2 3'"


def _text(x: int, y: int, text: str, *, size: int, weight: int = 400, colour: str = INK) -> str:
    look = f"{SANS} font-size='{size}' font-weight='{weight}' fill='{colour}'"
    return f"<text x='{x}' y='{y}' {look}>{escape(text)}</text>"
