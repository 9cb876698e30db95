"""What layers hold of a word beyond its concepts, in a terminal: a table of r a density."""

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.concept_analysis import ConceptAnalysis, ConceptDensity
from pellucid.reports.concepts.concept_card import (
    ABOUT,
    cells,
    nearest_concept,
    plainest_first,
    sentence,
    titles,
)
from pellucid.reports.markup.escape import plain
from pellucid.reports.terminal.rich_text import Line, caution_lines, line, printed


@renderers.add(draws="concept analysis")
def terminal_concept_analysis(
    analysis: ConceptAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The text, the word, r by layer and concept under both densities, and what to keep in mind.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    lines: list[Line | Grid] = [
        line(analysis.explanation.example.text),
        line(sentence(analysis)),
        line(nearest_concept(analysis)),
    ]
    for density in plainest_first(analysis):
        lines += [
            Text(""),
            line(f"r by {density.name} density: {ABOUT[density.name]}", style="bold"),
            _grid(analysis, density),
        ]
    return printed([*lines, Text(""), *caution_lines(analysis.caveats)], colour, width)


def _grid(analysis: ConceptAnalysis, density: ConceptDensity) -> Grid:
    """A row a concept, since their names are long; a column a layer."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column(Text("layer"), overflow="fold")
    for layer in analysis.layers:
        grid.add_column(str(layer), justify="right", no_wrap=True)
    columns = [cells(density, row) for row in range(len(analysis.layers))]
    for title, *row in zip(titles(analysis)[1:], *columns, strict=True):
        grid.add_row(Text(plain(title)), *map(Text, row))
    return grid
