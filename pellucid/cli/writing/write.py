"""`pellucid write MODEL TEXT…`: what a translator or a language model writes after texts."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options.data_options import Reading, TextOptions, Texts
from pellucid.cli.options.model_options import LanguageOptions
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.writing.search_options import Beam, MaxPieces, say_endings
from pellucid.reports.markup.html import plain


@with_option_records
def write(
    model: Annotated[
        str, typer.Argument(help="A folder with a model that writes, or the name of one on the hub.")
    ],
    texts: Texts = None,
    *,
    source: TextOptions,
    reading: Reading,
    languages: LanguageOptions,
    beam: Beam = 1,
    max_pieces: MaxPieces = 128,
    as_json: Annotated[bool, typer.Option("--json", help="Print the texts as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Write what a translator or a language model writes after texts: each alone, nothing drawn at random."""
    examples = source.examples(texts or [], reading)
    written = pellucid.write(
        pellucid.load(model, device=device, **asdict(languages)), examples, beam=beam, max_pieces=max_pieces
    )
    if as_json:
        print(json.dumps([asdict(one) for one in written]))
        return
    for one in written:
        print(plain(one.text.strip()))
    say_endings(written)
