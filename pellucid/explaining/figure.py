"""The doors `figure` and `latex`: results as pictures and tables for papers and slides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.base.checks import listed, one_of
from pellucid.base.entry import Entry
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_place, possible_path
from pellucid.base.kinds import renderers
from pellucid.drawing.canvas import ThemeName, format_of, write_figure
from pellucid.results.class_words import ClassWords
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(
    result: object,
    path: str | Path | None = None,
    *,
    kind: str | None = None,
    theme: ThemeName = "light",
    width: float = 6.3,
    **settings: object,
) -> Figure:
    """Draw a result for a paper or a slide, and write it to a file if one is named.

    result: an explanation, results of many texts, the words of classes, a comparison, a layer analysis, an attention
        analysis, learnt concepts, or whatever else a registered figure is drawn of.
    path: where to write the figure; the ending chooses SVG, PNG (300 dots an inch) or PDF. None: nothing is written.
    kind: what is drawn. Of an explanation its "text"; of results "scores" (a dot a text, the default) or "words"
        (bars); of class words "words"; of a comparison its "table" (the default) or "curves"; of a layer analysis the
        "map" of one text; of an attention analysis the "units" of one text (the default), or the curve of its
        "adversary".
    theme: "light" or "dark"; the colours of scores are those of the pages.
    width: in inches; 6.3 is the width of a text on A4, 3.1 that of one of two columns.
    settings: of the kind: top (how many words), function_words (whether words of classes include them), methods (which
        of a comparison), scale (the score of the full colour), text (the number of an analysis's text).

    Returns matplotlib's figure. Raises `MissingPackage` without matplotlib (the extra `plot`), `BadInput` where there
    is nothing to draw, `BadSetting` for a kind or setting that does not fit, `BadFile` where the file cannot be
    written.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> result = pellucid.explain(model, "A good film.")[0]
    >>> picture = pellucid.figure(result, "text.svg", theme="dark", width=3.1)
    >>> float(picture.get_figwidth())
    3.1
    """
    subject = _subject(result)
    figures = _figures_of(subject)
    drawn = next(iter(figures)) if kind is None else kind
    one_of("kind of figure for this result", drawn, tuple(figures))
    entry = figures[drawn]
    checked = entry.settings({"theme": theme, "width": width, **settings})
    if not 1 <= width <= 40:
        raise BadSetting(f"width={width} is no width in inches; give 1 to 40.")
    if path is not None:
        path = possible_path(path)
        format_of(path)
        check_place(path)
    if drawn == "words" and isinstance(subject, Results):
        subject = subject.words()
    figure = entry.make(subject, **checked)
    if path is not None:
        write_figure(figure, path)
    return figure


def latex(result: Explanation | ClassWords | Table) -> str:
    r"""A result as LaTeX: a table for the package booktabs, or a text with coloured words for the package xcolor.

    result: an explanation, the words of classes, or a comparison.

    Returns the lines, which go into a document as they are. Raises `BadInput` for anything else.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> print(pellucid.latex(pellucid.explain(model, "A good film.")[0]))
    {\setlength{\fboxsep}{1pt}A \colorbox[HTML]{F2A358}{\strut \underline{good}} film.}
    """
    for entry in renderers.of_class("latex_of", result):
        written: str = entry.make(result)
        return written
    raise BadInput(
        f"LaTeX is made of an explanation, of class words or of a comparison; {type(result).__name__} came. Give one "
        f"of these, such as results[0] or results.words()."
    )


def _figures_of(subject: object) -> dict[str, Entry]:
    """kind of figure -> what draws it, for this kind of result; the usual one first."""
    usual = renderers.of_class("first_of", subject)
    return {entry.facts["figure"]: entry for entry in [*usual, *renderers.of_class("figure_of", subject)]}


def _subject(result: object) -> object:
    """What is drawn: a list of explanations is that of many texts. Raises `BadInput` for what no figure is drawn of."""
    if isinstance(result, Sequence) and not isinstance(result, Results | str):
        members = list(result)
        if members and all(isinstance(member, Explanation) for member in members):
            return Results(tuple(members))
    if _figures_of(result):
        return result
    entries = (renderers.get(name) for name in renderers.names())
    drawable = {name.rpartition(".")[2] for entry in entries for name in entry.facts["figure_of"]}
    raise BadInput(f"A figure is drawn of one of these: {listed(sorted(drawable))}; {type(result).__name__} came.")
