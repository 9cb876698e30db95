"""Figure 3 as SVG: a grid of data sets for each method, each pair with its correlation, darker where it is higher."""

from html import escape

from studies.s2_deletion.methods import PAPER
from studies.shared.curve_plot import INK, MUTED, svg_text
from studies.shared.units import Numbers

CELL, LEFT, TOP, GAP = 62, 70, 84, 34
GREEN = (0, 105, 79)


def grid_picture(numbers: Numbers) -> str:
    """The paper's four methods side by side."""
    tasks = numbers["about"]["tasks"]
    side = CELL * len(tasks)
    names = [name for name in PAPER if name in numbers["corpora"]]
    width, height = LEFT + max(1, len(names)) * (side + GAP) + 20, TOP + side + 46
    title = "Correlation of words' scores between data sets"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        svg_text(16, 26, title, size=15),
    ]
    for number, name in enumerate(names):
        parts += _grid(numbers, name, LEFT + number * (side + GAP))
    for row, task in enumerate(tasks):
        y = TOP + CELL * row + CELL / 2 + 4
        parts.append(svg_text(LEFT - 8, y, tasks[task]["title"], anchor="end"))
    foot = "each data set under its own model; mean over training seeds; colour from 0 (white) to 1"
    parts.append(svg_text(16, height - 12, foot, colour=MUTED))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _grid(numbers: Numbers, name: str, left: float) -> list[str]:
    tasks, of = list(numbers["about"]["tasks"]), numbers["corpora"][name]
    parts = [svg_text(left, TOP - 34, name, size=13)]
    for column, task in enumerate(tasks):
        title = numbers["about"]["tasks"][task]["title"]
        parts.append(svg_text(left + CELL * column + CELL / 2, TOP - 10, title, anchor="middle"))
    for row, one in enumerate(tasks):
        for column, other in enumerate(tasks):
            record = of.get(f"{one} {other}") or of.get(f"{other} {one}")
            value = 1.0 if one == other else record["value"]["mean"]
            parts += _cell(left + CELL * column, TOP + CELL * row, value)
    return parts


def _cell(x: float, y: float, value: float) -> list[str]:
    share = min(max(value, 0.0), 1.0) if value == value else 0.0
    colour = "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in GREEN)
    ink = "#ffffff" if share > 0.55 else INK
    box = f"<rect x='{x}' y='{y}' width='{CELL - 2}' height='{CELL - 2}' fill='{colour}'/>"
    return [
        box,
        svg_text(x + CELL / 2 - 1, y + CELL / 2 + 4, f"{value:.2f}", colour=ink, size=13, anchor="middle"),
    ]
