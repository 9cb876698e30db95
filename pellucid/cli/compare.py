"""`pellucid compare MODEL DATA`: which explanation can be trusted for this model?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.held_out import held_out
from pellucid.cli.options import FormatOption, ReadOption, SkipOption, listed, source_from
from pellucid.cli.safe_text import say
from pellucid.core.foundation.files import check_place


def compare(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    *,
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods, with commas; default: all usual ones that the model supports."),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Metrics, with commas; default: all usual ones.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Use only the first N examples.")] = None,
    target: Annotated[
        str,
        typer.Option(help="The class to explain: predicted, gold (the label), or a class by name or number."),
    ] = "predicted",
    seed: Annotated[int, typer.Option(help="The seed of random methods and of the intervals.")] = 0,
    resamples: Annotated[
        int, typer.Option(min=10, help="How many bootstrap draws each interval is made from.")
    ] = 1000,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Save everything to this folder. After an interruption, run the same command again to go on."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the table to this JSON file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Measure how good the explanation methods are on a data set: is each faithful to the model, and better than chance?"""
    for path in filter(None, (save, html)):
        check_place(path)  # reported before the work, not after it
    source = source_from(data, split, format_=format_, read=read, skip_bad_rows=skip_bad_rows)
    examples = source.examples()
    classifier = pellucid.load(model, device=device)
    judged, _ = held_out(classifier, examples, source)
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
