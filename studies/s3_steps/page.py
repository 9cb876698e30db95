"""The page of the study of time steps, and its picture: for one string, every step's map, layer by layer."""

from collections.abc import Sequence
from html import escape

from pellucid.results.table import Interval
from studies.s3_steps.writers_section import writers_section
from studies.shared.claims import no_verdict
from studies.shared.units import Numbers

PAPER = 81.21  # % of strings that the paper's network reverses
CLAIMS = {
    "mirrored": "of the source, the mirrored letter has most",
    "near": "of the source, the mirrored letter or one beside it has most",
    "last": "of the target so far, the last letter has most",
    "beside": "mirrored and last letter each have more than the others on average",
    "later": "largest share of a letter that was not yet read",
}
LAYERS = {"layer-1": "first LSTM", "layer-2": "second LSTM", "layer-3": "after attention"}
CLAIMED, ENOUGH = (
    "beside",
    0.9,
)  # what the paper's figure is taken to say, and in what share of steps it has to hold
CELL, LEFT, TOP, GAP = 22, 46, 78, 44
INK, MUTED, BLUE = "#1c1f24", "#5d6470", "#1f5fa8"
FONT = "font-family='system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif'"


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    size, right = numbers["size"], Interval(**numbers["accuracy"])
    names = [name for name in LAYERS if name in numbers["layers"]]
    head = f"| share of steps | {' | '.join(LAYERS[name] for name in names)} |\n|---|{'---|' * len(names)}\n"
    rows = "".join(
        f"| {words} | {' | '.join(str(Interval(**numbers['layers'][name][claim])) for name in names)} |\n"
        for claim, words in CLAIMS.items()
    )
    return (
        "# Time steps: what does the state of each step hold?\n\n"
        f"A network of two LSTM layers with attention ({size['width']} numbers a state) reverses strings of "
        f"{size['shortest']} to {size['longest']} letters; {numbers['seeds']} trainings. On {size['tested']} strings "
        f"that\nit was not trained on it is right, from the first letter to the end, in {right}; of all letters in "
        f"{numbers['letters']:.3f}.\nThe paper's network reverses {PAPER} % of its strings.\n\n"
        f"`{size['method']}` explains the state of every step of the target, over the letters of source and target, "
        f"for {size['explained']} held-out\nstrings of {size['letters']} letters. Intervals are 95 % t-intervals over "
        f"trainings, in which strings are nested.\n\n"
        f"{head}{rows}{_verdicts(numbers, names)}\n"
        "![One string's maps: a row a step, a column a letter](steps.svg)\n\n"
        f"{WHY}\n\n{writers_section(numbers.get('writers', {}))}"
    )


WHY = (
    "The state after attention is the one that the network answers from. An LSTM layer has no attention: of the source "
    "its steps know\nonly what the state at the source's end passes on, so nothing makes it hold the mirrored letter "
    "more than others at the step that\nneeds it."
)


def _verdicts(numbers: Numbers, names: Sequence[str]) -> str:
    """The row that says in which layers the claim holds often enough."""
    verdicts = [verdict(Interval(**numbers["layers"][name][CLAIMED]), numbers["seeds"]) for name in names]
    cells = " | ".join(f"**{one}**" for one in verdicts)
    return f"| *{CLAIMS[CLAIMED]}*, in {ENOUGH:.0%} of steps or more | {cells} |\n"


def verdict(share: Interval, seeds: int) -> str:
    """Whether the claim holds in enough steps: "met" when the whole interval does, "not met" when none of it does."""
    if too_few := no_verdict(seeds):
        return too_few
    if share.low >= ENOUGH:
        return "met"
    return "not met" if share.high < ENOUGH else "undecided"


def as_picture(maps: Numbers) -> str:
    """One string's maps as SVG, layer beside layer; a cell is as dark as its score is of the largest in its row."""
    names = [name for name in LAYERS if name in maps]
    pieces = 2 * len(maps[names[0]]["string"]) + 1
    across = LEFT + pieces * CELL + GAP
    width, height = 20 + across * len(names), TOP + (len(maps[names[0]]["map"]) + 1) * CELL
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img'>",
        "<title>What the state of each time step holds</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
    ]
    for number, name in enumerate(names):
        parts += _map(maps[name]["string"], maps[name]["map"], LAYERS[name], 20 + number * across)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _map(string: str, scores: Sequence[Sequence[float]], title: str, x: float) -> list[str]:
    """One layer's map: letters above, steps below one another, each named by the letter that it foretells."""
    target = string[::-1]
    heads, nexts = [*string, "→", *target], [*target, "end"]
    parts = [
        _text(x + LEFT, 26, title, INK, 15),
        _text(x + LEFT, 46, "source → target; a row foretells", MUTED, 12),
    ]
    for column, letter in enumerate(heads):
        parts.append(_text(x + LEFT + column * CELL + 7, TOP - 8, letter, MUTED, 13))
    for step, row in enumerate(scores):
        y, largest = TOP + step * CELL, max(map(abs, row)) or 1.0
        parts.append(_text(x + LEFT - 32, y + 16, nexts[step], INK, 13))
        for column, score in enumerate(row):
            shade = f"{abs(score) / largest:.3f}"
            place = f"x='{x + LEFT + column * CELL}' y='{y}' width='{CELL - 1}' height='{CELL - 1}'"
            parts.append(f"<rect {place} fill='{BLUE}' fill-opacity='{shade}' stroke='#dfe1e4' stroke-width='.5'/>")
    return parts


def _text(x: float, y: float, words: str, colour: str, size: int) -> str:
    return f"<text x='{x}' y='{y}' {FONT} font-size='{size}' fill='{colour}'>{escape(words)}</text>"
