"""`pellucid convert SOURCE OUT`: data of any format as JSON lines."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.api.selecting import some_of
from pellucid.base.files import check_outputs
from pellucid.cli.options.data_options import Amount, Part, Reading
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.options.safe_text import say


@with_option_records
def convert(
    source: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .jsonl.gz.")],
    *,
    part: Part,
    reading: Reading,
    amount: Amount,
    seed: Annotated[int, typer.Option(help="The seed of --sample.")] = 0,
) -> None:
    """Write a part of a data set as JSON lines, the format that every command recognises."""
    check_outputs([out], [source])
    whole = reading.source(source, part.split, label_map=reading.meanings()).examples()
    examples = some_of(whole, limit=amount.limit, sample=amount.sample, seed=seed)
    pellucid.write_json_lines(examples, out)
    say(f"Written: {len(examples)} examples in {out}")
