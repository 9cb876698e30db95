"""The page of the study of concepts, and its picture: a line a concept over the layers of each model."""

from collections.abc import Sequence
from html import escape

from pellucid.layers.concept_analysis import GAUSSIAN, SUBSTITUTION
from studies.shared.claims import claim_of, claims_table
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

PANEL, HEIGHT, LEFT, TOP, GAP = 250, 170, 60, 64, 66
INK, MUTED = "#1c1f24", "#5d6470"
COLOURS = ("#1f5fa8", "#b3541e", "#00694f", "#7a3e9d", "#a5262c", "#5d6470", "#8a6d00")
DASHES = ("none", "7 3", "2 3", "8 3 2 3")
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        f"# Concepts: what do layers hold of “{about['word']}”?\n\n"
        f"The word stands in “{about['text']}”. r is what the states of a layer hold of the word when its concept is "
        f"known (equations 8 and 9\nof Guan et al. 2019), in nats, under two densities: that of the noise which the "
        f"word can bear (`gaussian`), whose ratios\nbetween concepts are the same in every layer by construction, and "
        f"by putting other words in its place (`substitution`).\n{about['seeds']} training seeds of each classifier of "
        f"`s3_layers`; concepts are the small set that comes with the package. One word in one\nsentence: a picture of "
        f"the method, and no law about models.\n\n![r by layer, a line a "
        f"concept](concepts.svg)\n\n{_table(numbers)}\n\n"
        "## Claims of the paper\n\nr falls with depth, in percent of the r of layer 1; concepts within seeds, "
        "t-interval over seeds. Positive where the\npaper says so. (The door `concepts` reads whole layers, so of the "
        f"CNN, whose widths stand beside one another, there is\none.)\n\n{_claims(numbers['falls'], '%')}\n"
        "The concept that is used most, so has the smallest r, is negative emotion, except in the Transformer. In the "
        "last layer, the\nsmallest r of all others over that of negative emotion, less 1; of the Transformer with the "
        f"sign turned.\n\n{_claims(numbers['used_most'], '%')}\n"
        f"BiLSTM and CNN tell concepts apart: the largest r is more than 1.2 times the smallest, in the last layer.\n\n"
        f"{_claims(numbers['contrasts'], 'times')}"
    )


def _table(numbers: Numbers) -> str:
    names = numbers["concepts"]
    rows = [
        [model, density, layer, *(f"{value:.4g}" for value in values)]
        for model, of in numbers["remaining"].items()
        for density in (GAUSSIAN, SUBSTITUTION)
        for layer, values in zip(numbers["layers"][model], of[density], strict=True)
    ]
    return markdown_table(["model", "density", "layer", *names], rows)


def _claims(records: list[Numbers], unit: str) -> str:
    claims = [claim_of(one) for one in records]
    return claims_table(claims, unit) if claims else "Could not be tested.\n"


def as_picture(numbers: Numbers) -> str:
    """r under substitution as SVG: a panel a model, a line a concept, each panel from 0 to its largest r."""
    models = list(numbers["remaining"])
    width = LEFT + len(models) * (PANEL + GAP)
    height = TOP + HEIGHT + 40 + 18 * len(numbers["concepts"])
    parts = [_text(16, 24, "What layers hold of the word beyond its concept (r by substitution, nats)", INK, 15)]
    for number, model in enumerate(models):
        values = numbers["remaining"][model][SUBSTITUTION]
        parts += _panel(model, numbers["layers"][model], values, LEFT + number * (PANEL + GAP))
    for number, concept in enumerate(numbers["concepts"]):
        y = TOP + HEIGHT + 44 + 18 * number
        parts.append(f"<line x1='{LEFT}' x2='{LEFT + 22}' y1='{y - 4}' y2='{y - 4}' {_stroke(number)}/>")
        parts.append(_text(LEFT + 30, y, concept, INK, 13))
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'><title>r by layer and concept</title>"
    )
    return "\n".join([head, f"<rect width='{width}' height='{height}' fill='#ffffff'/>", *parts, "</svg>"]) + "\n"


def _panel(model: str, layers: Sequence[int], values: Sequence[Sequence[float]], left: int) -> list[str]:
    most = max(max(row) for row in values) or 1.0
    across = PANEL / max(1, len(layers) - 1)
    xs = [left + number * across for number in range(len(layers))]
    bottom = TOP + HEIGHT
    parts = [
        _text(left, TOP - 14, f"{model} (0 to {most:,.0f})", INK, 14),
        f"<line x1='{left}' x2='{left + PANEL}' y1='{bottom}' y2='{bottom}' stroke='#a0a5ad'/>",
        *(_text(x - 4, bottom + 18, str(layer), MUTED, 12) for x, layer in zip(xs, layers, strict=True)),
    ]
    for concept, column in enumerate(zip(*values, strict=True)):
        points = [
            f"{x:.1f},{bottom - HEIGHT * max(value, 0.0) / most:.1f}" for x, value in zip(xs, column, strict=True)
        ]
        colour = COLOURS[concept % len(COLOURS)]
        parts.append(f"<polyline points='{' '.join(points)}' fill='none' {_stroke(concept)}/>")
        parts += [
            f"<circle cx='{x}' cy='{y}' r='2.5' fill='{colour}'/>" for x, y in (point.split(",") for point in points)
        ]
    return parts


def _stroke(concept: int) -> str:
    """A concept's colour and dash; no two of the first eight share both."""
    dash = DASHES[(concept + concept // len(DASHES)) % len(DASHES)]
    return f"stroke='{COLOURS[concept % len(COLOURS)]}' stroke-width='2' stroke-dasharray='{dash}'"


def _text(x: float, y: float, words: str, colour: str, size: int) -> str:
    return f"<text x='{x:.1f}' y='{y}' {FONT} font-size='{size}' fill='{colour}'>{escape(words)}</text>"
