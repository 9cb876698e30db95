"""The layers of a lens in a terminal: what it names from each, with its translators and without."""

from rich.table import Table as Grid
from rich.text import Text

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.lens_table import LensTable
from pellucid.reports.terminal.rich_text import Line, line, printed

TITLES = ("layer", "named first", "KL", "by the bare head", "KL", "translated")


@renderers.add(draws="lens table")
def terminal_lens_table(table: LensTable, *, colour: bool | None = None, width: int | None = None) -> str:
    """A row for each layer: the share of pieces that the lens names first, and that the bare head does.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in TITLES:
        grid.add_column(title, justify="right", no_wrap=True)
    for one in table.layers:
        bare = "–" if one.bare_recovery is None else str(one.bare_recovery)
        translated = "yes" if one.translated else "no"
        grid.add_row(str(one.layer), str(one.recovery), _nats(one.kl), bare, _nats(one.bare_kl), translated)
    lines: list[Line | Grid] = [grid, Text(""), *_notes(table)]
    return printed(lines, colour, width)


def _nats(value: float | None) -> str:
    return "–" if value is None else f"{max(value, 0.0):.3f}"


def _notes(table: LensTable) -> list[Line]:
    """What the columns are, and how translators were chosen."""
    return [
        line(
            f"Named first: the share of {table.n_pieces:,} pieces of {table.n_rows:,} dev texts (or parts of long ones) whose "
            "own id is the most likely one, with its 95 % interval over texts. KL: nats from what the head says of the last layer."
        ),
        line(
            "A translator that these texts do not show to be better than the bare head is left out, so none is below it; "
            "the same texts chose, so new ones may come out a little lower."
        ),
    ]
