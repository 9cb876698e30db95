"""Figure 9 as SVG: nats a text against steps, a panel a model, a line a layer."""

from html import escape

from studies.s3_accuracy.models import TITLES
from studies.shared.curve_plot import spread
from studies.shared.units import Numbers

LEFT, TOP, WIDTH, HEIGHT, GAP, FOOT = 58, 74, 300, 220, 110, 60
INK, MUTED, RULE = "#1c1f24", "#5d6470", "#dfe1e4"
LOW, HIGH = (158, 196, 232), (16, 58, 110)  # the lowest layer's line and the highest one's: darker is deeper
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"
APART = 13  # between two names of lines


def as_picture(numbers: Numbers) -> str:
    """The means over texts and seeds; each panel has its own scale, since word vectors of two widths are compared with
    none.
    """
    models = numbers["models"]
    width, height = LEFT + len(models) * (WIDTH + GAP), TOP + HEIGHT + FOOT
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'>",
        "<title>What the layers hold while a model is trained</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        _text(16, 26, "Nats in the words of a text, by training step", INK, 15),
    ]
    for number, (name, one) in enumerate(models.items()):
        parts += _panel(TITLES[name], one, LEFT + number * (WIDTH + GAP))
    about = numbers["about"]
    foot = (
        f"means over {about['watched']} dev texts and {about['seeds']} seeds; a line a layer, darker is deeper; "
        f"each panel has its own scale"
    )
    parts.append(_text(16, height - 14, foot, MUTED, 12))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, one: Numbers, x: float) -> list[str]:
    steps, top = one["steps"], 1.05 * max(max(look) for look in one["nats"])
    parts = [_text(x, TOP - 14, title, INK, 13)]

    def across(step: float) -> float:
        return round(x + WIDTH * step / max(steps[-1], 1), 1)

    def up(nats: float) -> float:
        return round(TOP + HEIGHT * (1 - nats / top), 1)

    for mark in (0.0, top / 2, top):
        parts.append(f"<line x1='{x}' x2='{x + WIDTH}' y1='{up(mark)}' y2='{up(mark)}' stroke='{RULE}'/>")
        parts.append(_text(x - 8, up(mark) + 4, f"{mark:.0f}", MUTED, 11, "end"))
    for step in (steps[0], steps[-1]):
        parts.append(_text(across(step), TOP + HEIGHT + 18, f"step {step}", MUTED, 11, "middle"))
    lines = [[look[layer] for look in one["nats"]] for layer in range(len(one["layers"]))]
    names = spread([up(line[-1]) for line in lines], APART)
    for layer, line in enumerate(lines):
        colour = shade(layer, len(lines))
        points = " ".join(f"{across(step)},{up(nats)}" for step, nats in zip(steps, line, strict=True))
        parts.append(f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts.append(_text(x + WIDTH + 8, names[layer] + 4, f"layer {one['layers'][layer]}", colour, 11))
    return parts


def shade(layer: int, n_layers: int) -> str:
    """The colour of a layer's line."""
    share = layer / max(n_layers - 1, 1)
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in zip(LOW, HIGH, strict=True))


def _text(x: float, y: float, words: str, colour: str, size: int, anchor: str = "start") -> str:
    look = f"{FONT} font-size='{size}' fill='{colour}' text-anchor='{anchor}'"
    return f"<text x='{x}' y='{y}' {look}>{escape(words)}</text>"
