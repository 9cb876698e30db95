"""What all figures share: colours of a theme, an empty figure, axes without clutter, and writing to a file."""

import io
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from pellucid.base.checks import one_of, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.files import whole_file
from pellucid.base.packages import optional_package
from pellucid.drawing.colours import DARK, LEVELS, LIGHT, Colour, Theme, level
from pellucid.drawing.html import plain
from pellucid.drawing.style import LINES_DARK, LINES_LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ThemeName = Literal["light", "dark"]
FORMATS = ("svg", "png", "pdf")
DPI, SCREEN_DPI = 300, 144
SMALL, NORMAL = 8.0, 9.0  # points, those of captions and of text in papers
# DejaVu Sans comes with matplotlib. The others have the scripts that it lacks, where they are installed.
FONT = "DejaVu Sans"
MORE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Thai",
    "Noto Sans Devanagari",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Tahoma",
)
_SETTINGS = Lock()  # matplotlib keeps its settings for the whole process


@dataclass(frozen=True)
class Palette:
    """The colours of a figure. lines: one a method. muted: of what only helps to read."""

    theme: Theme
    lines: tuple[str, ...]
    muted: str

    @property
    def ink(self) -> str:
        """The colour of text."""
        return hexadecimal(self.theme.ink)

    @property
    def paper(self) -> str:
        """The colour of the background."""
        return hexadecimal(self.theme.paper)

    def sign(self, score: float) -> str:
        """The full colour of what speaks for the answer, or against it."""
        return hexadecimal(self.theme.plus if score > 0 else self.theme.minus)

    def shade(self, score: float, scale: float) -> str:
        """The colour behind a word with this score; scale: the score that gets the full colour."""
        return hexadecimal(blended(level(score, scale), self.theme))


def palette(theme: ThemeName) -> Palette:
    """The colours of a theme; raises `BadSetting` for an unknown one."""
    one_of("theme", theme, ("light", "dark"))
    if theme == "light":
        return Palette(LIGHT, LINES_LIGHT, "#5d6470")
    return Palette(DARK, LINES_DARK, "#a3aab5")


@cache
def fonts() -> tuple[str, ...]:
    """The fonts to take each character from: the first of them that has it."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return (FONT, *(font for font in MORE_FONTS if font in installed))


def blended(step: int, theme: Theme = LIGHT) -> Colour:
    """The colour of a step, from -16 to 16, on the theme's paper, without opacity."""
    colour, share = (theme.plus if step > 0 else theme.minus), theme.most * abs(step) / LEVELS
    red, green, blue = (
        round(share * ink + (1 - share) * paper) for ink, paper in zip(colour, theme.paper, strict=True)
    )
    return red, green, blue


def hexadecimal(colour: Colour) -> str:
    """A colour as #rrggbb."""
    return "#" + "".join(f"{part:02x}" for part in colour)


def empty_figure(width: float, height: float, colours: Palette) -> "Figure":
    """A figure of so many inches, which belongs to no window and to no global state."""
    optional_package("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that a notebook draws though no plotting window was asked for."""

        def _repr_png_(self) -> bytes:
            with io.BytesIO() as file:
                self.savefig(file, format="png", dpi=SCREEN_DPI)
                return file.getvalue()

    figure = Picture(figsize=(width, height), facecolor=colours.paper, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def grid(n_panels: int, most_columns: int) -> tuple[int, int]:
    """How many rows and columns so many panels take."""
    n_columns = min(most_columns, n_panels)
    return -(-n_panels // n_columns), n_columns


def panels(
    figure: "Figure",
    n_panels: int,
    most_columns: int,
    colours: Palette,
    heights: Sequence[float] | None = None,
) -> "list[Axes]":
    """The panels of a figure, row by row, without frames and with small labels; heights: of the rows, as ratios."""
    n_rows, n_columns = grid(n_panels, most_columns)
    axes = list(figure.subplots(n_rows, n_columns, squeeze=False, height_ratios=heights).flat)
    for panel in axes[n_panels:]:
        panel.set_axis_off()
    for panel in axes[:n_panels]:
        panel.set_facecolor(colours.paper)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(colours.muted)
        panel.tick_params(colors=colours.muted, labelcolor=colours.ink, labelsize=SMALL, length=2.5)
        panel.set_title("", loc="left", color=colours.ink)  # titles stand at the left, and keep this colour
        panel.xaxis.label.set_color(colours.ink)
    return axes[:n_panels]


def title_of_class(panel: "Axes", label: str) -> None:
    """The name of a class above its panel, in any script, and without reading formulas into it."""
    panel.set_title(plain(label), fontsize=SMALL + 1, loc="left", parse_math=False, family=fonts())


def rows_of_words(panel: "Axes", words: Sequence[str], italic: Collection[int] = ()) -> None:
    """A word beside each row of a panel, the first at the top; italic: the numbers of words in italics."""
    panel.set_yticks(range(len(words)), [plain(word) for word in words])
    for index, tick in enumerate(panel.get_yticklabels()):
        tick.set(parse_math=False, family=fonts(), style="italic" if index in italic else "normal")
    panel.tick_params(axis="y", length=0)


def legend_above(figure: "Figure", panel: "Axes", colours: Palette) -> None:
    """The names of a panel's lines, above all panels."""
    handles, names = panel.get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="outside upper left",
        ncols=4,
        frameon=False,
        fontsize=SMALL,
        labelcolor=colours.ink,
    )


def footnotes(figure: "Figure", sentences: Sequence[str], colours: Palette) -> None:
    """Small sentences under the panels, in lines as wide as the figure."""
    letters = int(figure.get_figwidth() * 16)
    if lines := [line for sentence in sentences for line in textwrap.wrap(sentence, letters)]:
        figure.supxlabel("\n".join(lines), fontsize=SMALL - 1, color=colours.muted, x=0.02, ha="left")


def format_of(path: str | Path) -> str:
    """The format that a file name asks for; raises `BadSetting` for any other."""
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise BadSetting(
            f"{quoted(Path(path).name)} names no format of a figure; end it with "
            f"{', '.join(f'.{name}' for name in FORMATS)}."
        )
    return ending


def write_figure(figure: "Figure", path: str | Path) -> Path:
    """Write a figure as SVG, PNG (300 dots an inch) or PDF, by the ending of the path; equal figures give equal
    bytes.
    """
    import matplotlib

    ending, content = format_of(path), io.BytesIO()
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    # TrueType fonts in PDF, which publishers ask for; fixed names inside SVG.
    with (
        _SETTINGS,
        matplotlib.rc_context({"pdf.fonttype": 42, "svg.hashsalt": "pellucid", "font.family": list(fonts())}),
    ):
        figure.savefig(content, format=ending, dpi=DPI, facecolor=figure.get_facecolor(), metadata=date)
    with whole_file(path) as file:
        file.write(content.getvalue())
    return Path(path)
