"""`pellucid figure RESULTS --out FILE`: a picture of saved results for a paper or a slide."""

from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.drawing.canvas import format_of
from pellucid.explaining.commands.safe_text import say
from pellucid.explaining.read import of_one_method
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results

NAMED = 5  # ids in a message


def figure(
    results: Annotated[
        Path,
        typer.Argument(
            help="Results that `pellucid explain --save` wrote (.parquet or .json), a comparison's folder, or what "
            "`pellucid layers` or `pellucid attention` wrote with --save or --out."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The picture: a name that ends in .svg, .png or .pdf.")],
    kind: Annotated[
        str | None,
        typer.Option(
            help="words (of each class, as bars; the default) or scores (of the strongest words, a dot a text); of "
            "layers: map; of attention: units (of one text, the default) or adversary."
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            help="Draw this text with its coloured words: its id, such as reviews-12. Of layers and of "
            "attention: by its id or its number from 0; the first where none is named."
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help="The method, where the results are of several methods.")] = None,
    top: Annotated[int | None, typer.Option(help="How many words.")] = None,
    function_words: Annotated[
        bool,
        typer.Option("--function-words", help="Draw function words and punctuation among the words of classes, too."),
    ] = False,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    width: Annotated[float, typer.Option(help="In inches: 6.3 for a page of A4, 10 for a slide.")] = 6.3,
) -> None:
    """Draw saved results as a picture for a paper or a slide."""
    format_of(out)
    check_outputs([out], [results])  # reported before the work, not after it
    settings: dict[str, Any] = {"theme": theme, "width": width}
    read = pellucid.read(results)
    if not isinstance(read, Results):
        if top is not None or function_words or method is not None:
            raise BadSetting(
                f"--top, --function-words and --method are about words of classes; {results} holds a "
                f"{type(read).__name__}. Leave them away."
            )
        if text is not None:
            settings["text"] = _number_of(_ids(read), text)
        pellucid.figure(read, out, kind=kind, **settings)  # type: ignore[arg-type]
        say(f"Written: {out}", aside=True)
        return
    of_method = of_one_method(read, method)
    if text is not None:
        if top is not None:
            raise BadSetting("--top counts words of classes; leave it away with --text, which draws every word.")
        pellucid.figure(_of_text(of_method, text), out, **settings)
    else:
        of_words = {"top": top, "function_words": function_words or None}
        settings |= {name: value for name, value in of_words.items() if value is not None}
        pellucid.figure(of_method, out, kind=kind or "words", **settings)  # type: ignore[arg-type]
    say(f"Written: {out}", aside=True)


def _of_text(results: Results, id_: str) -> Explanation:
    """The explanation of the text with this id; raises `BadInput` where there is none."""
    for explanation in results:
        if explanation.example.id == id_:
            return explanation
    ids = listed([one.example.id for one in results[:NAMED]])
    raise BadInput(f"--text {quoted(id_)} is the id of no text; the {len(results):,} texts begin with: {ids}.")


def _ids(analysis: object) -> list[str]:
    """The ids of the texts that can be drawn; raises `BadSetting` where a figure shows no single text."""
    if not hasattr(analysis, "text_ids"):
        raise BadSetting(f"--text draws one text; a {type(analysis).__name__} is drawn whole. Leave --text away.")
    return list(analysis.text_ids)


def _number_of(ids: list[str], text: str) -> int:
    """The number of the text with this id, or with this number; raises `BadInput` where there is none."""
    if text in ids:
        return ids.index(text)
    if text.isascii() and text.isdigit() and int(text) < len(ids):
        return int(text)
    raise BadInput(
        f"--text {quoted(text)} is no text of this analysis; give its number, 0 to {len(ids) - 1}, or its id; the ids "
        f"begin with: {listed(ids[:NAMED])}."
    )
