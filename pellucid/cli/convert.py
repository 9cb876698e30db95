"""`pellucid convert SOURCE OUT`: data of any format as JSON lines."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options import FormatOption, ReadOption, SkipOption, source_from
from pellucid.cli.safe_text import say


def convert(
    source: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .jsonl.gz.")],
    *,
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
) -> None:
    """Write a part of a data set as JSON lines, the format that every command recognises."""
    examples = source_from(source, split, format_=format_, read=read, skip_bad_rows=skip_bad_rows).examples()
    pellucid.write_json_lines(examples, out)
    say(f"Written: {len(examples)} examples in {out}")
