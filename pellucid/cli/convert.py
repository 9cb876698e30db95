"""`pellucid convert SOURCE OUT`: data of any format as JSON lines."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options import FormatOption, Reading, ReadOption, SkipOption
from pellucid.cli.safe_text import say


def convert(
    source: Annotated[str, typer.Argument(help="A data set's name, a data file, or a folder.")],
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .jsonl.gz.")],
    split: Annotated[str, typer.Option(help="Which part: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
) -> None:
    """Write a part of a data set as JSON lines, the form that every other command reads by itself."""
    examples = Reading(split, format_, read, skip_bad_rows).examples(source)
    pellucid.write_json_lines(examples, out)
    say(f"Written: {len(examples)} examples in {out}")
