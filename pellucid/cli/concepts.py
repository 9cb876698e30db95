"""`pellucid concepts MODEL TEXT --word W --concepts FILE`: what does each layer hold of a word besides its concept?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.wording import quoted
from pellucid.cli.options.safe_text import say


def concepts(
    model: Annotated[str, typer.Argument(help="A folder or hub name with a classifier.")],
    text: Annotated[str, typer.Argument(help="One text.")],
    *,
    word: Annotated[str, typer.Option(help="A word of the text, as it stands there.")],
    start: Annotated[
        int | None, typer.Option(help="The character that it starts at, where it is there several times.")
    ] = None,
    concepts: Annotated[
        str, typer.Option(help="everyday (a small set of ours), or a file or folder of concepts.")
    ] = "everyday",
    name: Annotated[
        list[str] | None,
        typer.Option(help="A concept to read, again for more; needed for large knowledge bases."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="The most words of a concept.")] = 100,
    reader: Annotated[
        str | None, typer.Option(help="How to read the file: word_lists, concept_graph, dbpedia or wordnet.")
    ] = None,
    layer: Annotated[str, typer.Option(help="The number of a layer, or all.")] = "all",
    positions: Annotated[str, typer.Option(help="Which pieces' states: all, pooled, first or last.")] = "all",
    random_words: Annotated[
        int, typer.Option(min=2, help="How many random pieces stand for all words.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="The seed of the random pieces and of the noise.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Ask each layer what it holds of a word beyond concepts such as positive emotion: r = A of the word - A of the concept."""
    check_outputs([html], [concepts])  # reported before the work, not after it
    if layer != "all" and not layer.isdecimal():
        raise BadSetting(f"--layer {quoted(layer)} is not possible; give a whole number, or all.")
    analysis = pellucid.concepts(
        pellucid.load(model, device=device),
        text,
        word,
        concepts,
        start=start,
        layer="all" if layer == "all" else int(layer),
        positions=positions,
        names=name or (),
        most=most,
        reader=reader,
        n_random=random_words,
        seed=seed,
    )
    if html is not None:
        pellucid.report(analysis, path=html)
    print(json.dumps(analysis.record()) if as_json else str(analysis).rstrip())
    if html is not None:
        say(f"Written: {html}", aside=True)
