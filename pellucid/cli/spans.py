"""`pellucid spans MODEL TEXT…`: can the spans of a self-explaining model be believed?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options import FormatOption, Reading, ReadOption, SkipOption, texts_from
from pellucid.cli.safe_text import say
from pellucid.core.foundation.files import check_place
from pellucid.core.results.heaviest_spans import analysed_heaviest


def spans(
    model: Annotated[str, typer.Argument(help="A folder with a self-explaining classifier.")],
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts; none or - reads standard input, one a line.")
    ] = None,
    second: Annotated[str | None, typer.Option(help="The second text of a pair.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file of texts, one a line, or a data file or folder.")
    ] = None,
    split: Annotated[str, typer.Option(help="Which part of --file: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    k: Annotated[int, typer.Option(min=1, help="How many spans a text, heaviest first.")] = 3,
    target: Annotated[str, typer.Option(help="predicted, gold, or a class name or number.")] = "predicted",
    random_spans: Annotated[int, typer.Option(min=1, help="Random spans to set each span against.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the random spans.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analyses as JSON.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Ask of each heaviest span what it says by itself, how it moves the answer, and what its words alone say."""
    if html is not None:
        check_place(html)  # before the work, not after it
    examples = texts_from(texts or [], second, file, Reading(split, format_, read, skip_bad_rows))
    classifier = pellucid.load(model, device=device)
    found = pellucid.spans(classifier, examples, k, target=target, random_spans=random_spans, seed=seed)
    if html is not None:
        pellucid.report(found, path=html, title="What the spans say")
    if as_json:
        print(json.dumps([analysis.record() for analysis in found]))
    else:
        for analysis in found:
            print(analysis)
    heaviest = analysed_heaviest(found)
    if heaviest.texts > 1:
        for line in (heaviest.in_words(), *(f"Caution: {caution}" for caution in heaviest.cautions())):
            say(line, aside=as_json)
    if html is not None:
        say(f"Written: {html}", aside=True)
