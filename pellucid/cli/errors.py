"""`pellucid errors MODEL DATA`: what do the texts look like that a self-explaining model gets wrong?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.held_out import held_out
from pellucid.cli.options import FormatOption, Reading, ReadOption, SkipOption
from pellucid.cli.safe_text import say
from pellucid.core.foundation.files import check_place


def errors(
    model: Annotated[str, typer.Argument(help="A folder with a self-explaining classifier.")],
    data: Annotated[str, typer.Argument(help="A data set's name, a data file, or a folder.")],
    split: Annotated[str, typer.Option(help="Whose errors: train, dev, test or all.")] = "test",
    train: Annotated[
        str | None, typer.Option(help="Data to learn cue words from; default: the data's own train part.")
    ] = None,
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Look at the first N examples only.")] = None,
    min_count: Annotated[
        int, typer.Option(min=1, help="In how many of a class's train texts a cue word has to be.")
    ] = 5,
    html: Annotated[Path | None, typer.Option(help="Write a report to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Group what a self-explaining model gets wrong by what its evidence looks like, against what it gets right."""
    if html is not None:
        check_place(html)  # before the work, not after it
    examples = Reading(split, format_, read, skip_bad_rows).examples(data)
    learnt_from = Reading("train", format_, read, skip_bad_rows).examples(train or data)
    classifier = pellucid.load(model, device=device)
    judged, left_out = held_out(classifier, examples, data, format_)
    if train is None and left_out:
        learnt_from = left_out
    found = pellucid.error_analysis(classifier, judged[:limit], train=learnt_from, min_count=min_count)
    if html is not None:
        pellucid.report(found, path=html, title="What errors look like")
    print(json.dumps(found.record()) if as_json else found)
    if html is not None:
        say(f"Written: {html}", aside=True)
