"""`pellucid compare MODEL DATA`: which explanation can be trusted for this model?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.held_out import held_out
from pellucid.cli.options import FormatOption, Reading, ReadOption, SkipOption, listed
from pellucid.cli.safe_text import say
from pellucid.core.foundation.files import check_place


def compare(
    model: Annotated[str, typer.Argument(help="A folder with a classifier, or a hub name.")],
    data: Annotated[str, typer.Argument(help="A data set's name, a data file, or a folder.")],
    split: Annotated[str, typer.Option(help="Which part: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    methods: Annotated[
        str | None, typer.Option(help="Names with commas; default: all the model supports.")
    ] = None,
    metrics: Annotated[str | None, typer.Option(help="Names with commas; default: all.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge on the first N examples only.")] = None,
    target: Annotated[str, typer.Option(help="predicted, gold, or a class name.")] = "predicted",
    seed: Annotated[int, typer.Option(help="Seed of draws and intervals.")] = 0,
    resamples: Annotated[int, typer.Option(min=10, help="Bootstrap draws behind each interval.")] = 1000,
    out: Annotated[
        Path | None, typer.Option(help="Keep all in this folder; run again to go on after an interruption.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the table as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Judge explanation methods on a data set: faithfulness, plausibility, against chance, with intervals."""
    for path in filter(None, (save, html)):
        check_place(path)  # before the work, not after it
    examples = Reading(split, format_, read, skip_bad_rows).examples(data)
    classifier = pellucid.load(model, device=device)
    judged, _ = held_out(classifier, examples, data, format_)
    table = pellucid.compare(
        classifier,
        judged[:limit],
        listed(methods),
        listed(metrics),
        target=target,
        seed=seed,
        resamples=resamples,
        folder=out,
    )
    if save is not None:
        table.save(save)
    if html is not None:
        pellucid.report([], table, path=html, title="Pellucid comparison")
    print(json.dumps(asdict(table)) if as_json else table)
    for path in filter(None, (out, save, html)):
        say(f"Written: {path}", aside=True)
