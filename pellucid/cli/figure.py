"""`pellucid figure RESULTS --out FILE`: a picture of saved results for a paper or a slide."""

from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.safe_text import say
from pellucid.cli.words import of_one_method
from pellucid.core.corpus.results import Results
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.files import check_place
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.results.explanation import Explanation
from pellucid.reports.figures.canvas import format_of

NAMED = 5  # ids in a message


def figure(
    results: Annotated[
        Path,
        typer.Argument(
            help="Results that `pellucid explain --save` wrote (.parquet or .json), or a comparison's folder."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The picture: a name that ends in .svg, .png or .pdf.")],
    kind: Annotated[
        str,
        typer.Option(help="words (of each class, as bars) or scores (of the strongest words, a dot a text)."),
    ] = "words",
    text: Annotated[
        str | None, typer.Option(help="Draw this text with its coloured words: its id, such as reviews-12.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="The method, where the results are of several methods.")
    ] = None,
    top: Annotated[int | None, typer.Option(help="How many words.")] = None,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    width: Annotated[float, typer.Option(help="In inches: 6.3 for a page of A4, 10 for a slide.")] = 6.3,
) -> None:
    """Draw saved results as a picture for a paper or a slide."""
    format_of(out)
    check_place(out)  # reported before the work, not after it
    of_method = of_one_method(pellucid.read(results), method)
    settings: dict[str, Any] = {"theme": theme, "width": width}
    if text is not None:
        if top is not None:
            raise BadSetting(
                "--top counts words of classes; leave it away with --text, which draws every word."
            )
        pellucid.figure(_of_text(of_method, text), out, **settings)
    else:
        pellucid.figure(of_method, out, kind=kind, **settings, **({} if top is None else {"top": top}))  # type: ignore[arg-type]
    say(f"Written: {out}", aside=True)


def _of_text(results: Results, id_: str) -> Explanation:
    """The explanation of the text with this id; raises `BadInput` where there is none."""
    for explanation in results:
        if explanation.example.id == id_:
            return explanation
    ids = listed([one.example.id for one in results[:NAMED]])
    raise BadInput(
        f"--text {quoted(id_)} is the id of no text; the {len(results):,} texts begin with: {ids}."
    )
