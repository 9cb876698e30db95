"""Figures 2 to 7 as SVG: a panel a sentence, a line a model, what each word's state alone answers; the models' own
answers dotted.
"""

from collections.abc import Mapping, Sequence
from html import escape

from studies.shared.attention_models import PAPER_NAMES
from studies.shared.curve_plot import COLOURS, INK, MUTED, RULE, svg_text
from studies.shared.units import Numbers

LEFT, TOP, WIDTH, HEIGHT, WORDS, FOOT = 44, 66, 600, 130, 96, 34
WIDEST = 40  # from word to word
MARKERS = (  # a model's points: circle, square, triangle, diamond
    "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
    "M-2.6,-2.6h5.2v5.2h-5.2z",
    "M0,-3.4l3.2,5.6h-6.4z",
    "M0,-3.6l3.6,3.6l-3.6,3.6l-3.6,-3.6z",
)


def sentences_picture(models: Mapping[str, Sequence[Numbers]], label: str) -> str:
    """models: variant -> a plot a sentence. label: the class whose probability is drawn."""
    first = next(iter(models.values()), ())
    width, height = LEFT + WIDTH + 16, TOP + len(first) * (HEIGHT + WORDS) + FOOT
    title = f"The probability of “{label}” by one word's state alone"
    colours = dict(zip(models, COLOURS, strict=False))
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        svg_text(16, 26, title, size=15),
        *_legend(colours),
    ]
    for number in range(len(first)):
        plots = {variant: of[number] for variant, of in models.items()}
        parts += _panel(plots, label, TOP + number * (HEIGHT + WORDS), colours)
    parts.append(
        svg_text(
            16,
            height - 12,
            "dotted: the model's own answer to the whole sentence; one training each",
            colour=MUTED,
        )
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(colours: Mapping[str, str]) -> list[str]:
    parts = []
    for number, (variant, colour) in enumerate(colours.items()):
        x = LEFT + 110 * number
        parts.append(f"<line x1='{x}' x2='{x + 22}' y1='46' y2='46' stroke='{colour}' stroke-width='2'/>")
        parts.append(_marker(number, x + 11, 46, colour))
        parts.append(svg_text(x + 28, 50, PAPER_NAMES[variant], colour=colour, size=12))
    return parts


def _panel(plots: Mapping[str, Numbers], label: str, top: float, colours: Mapping[str, str]) -> list[str]:
    words = next(iter(plots.values()))["words"]
    step = min(WIDEST, WIDTH / max(len(words), 1))
    right = LEFT + step * len(words)
    parts = []

    def up(probability: float) -> float:
        return round(top + HEIGHT * (1 - probability), 1)

    for tick in (0.0, 0.5, 1.0):
        parts.append(f"<line x1='{LEFT}' x2='{right:.1f}' y1='{up(tick)}' y2='{up(tick)}' stroke='{RULE}'/>")
        parts.append(svg_text(LEFT - 6, up(tick) + 4, f"{tick:g}", colour=MUTED, anchor="end"))
    for number, word in enumerate(words):
        at = f"translate({LEFT + step * (number + 0.5) + 4:.1f} {top + HEIGHT + 10:.1f}) rotate(-60)"
        parts.append(f"<g transform='{at}'>{svg_text(0, 0, word, colour=INK, anchor='end')}</g>")
    for model, (variant, plot) in enumerate(plots.items()):
        place, colour = plot["classes"].index(label), colours[variant]
        places = [
            (round(LEFT + step * (number + 0.5), 1), up(chances[place]))
            for number, chances in enumerate(plot["probabilities"])
        ]
        points = " ".join(f"{x},{y}" for x, y in places)
        own = up(plot["own"][place])
        parts.append(f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [_marker(model, x, y, colour) for x, y in places]
        parts.append(
            f"<line x1='{LEFT}' x2='{right:.1f}' y1='{own}' y2='{own}' stroke='{colour}' stroke-width='1.2' "
            f"stroke-dasharray='2 4'/>"
        )
    return parts


def _marker(model: int, x: float, y: float, colour: str) -> str:
    shape = MARKERS[model % len(MARKERS)]
    return f"<path d='{shape}' transform='translate({x} {y})' fill='{colour}'/>"
