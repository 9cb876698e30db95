"""`pellucid links DATA`: which words of texts and their translations belong together."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.cli.options.data_options import Reading
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.options.safe_text import say


@with_option_records
def links(
    data: Annotated[
        str, typer.Argument(help="Pairs of texts: a file, a folder with parts, a data set's name.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="The file for the links, a line a pair.")],
    reading: Reading,
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many pairs, from the first on.")] = None,
    beside: Annotated[
        str | None,
        typer.Option(help="Another part that the aligner learns from too, such as train."),
    ] = None,
    program: Annotated[str, typer.Option(help="eflomal's program, by name or path.")] = "eflomal-align",
    seconds: Annotated[float, typer.Option(help="After so many the program is ended.")] = 600.0,
) -> None:
    """Links of words by the aligner eflomal, which you install yourself: silver ones, to hold explanations against."""
    check_outputs([out], [data])
    source = reading.source(data, split)
    if beside is not None and source.is_one_file:
        raise BadSetting(
            f"{data} is one file, which has no part {beside}; leave --beside away, or give a folder with parts."
        )
    lines = pellucid.links(
        source.examples()[:limit],
        beside=None if beside is None else reading.source(data, beside).examples(),
        out=out,
        program=program,
        seconds=seconds,
    )
    say(f"{out}: {sum(len(line.split()) for line in lines):,} links of {len(lines):,} pairs.")
