"""`pellucid bleu MODEL DATA`: how near a translator comes to references."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

import pellucid
from pellucid.base.json_text import nan_as_none
from pellucid.cli.options.data_options import Reading
from pellucid.cli.options.model_options import LanguageOptions, held_out
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.writing.search_options import Beam, MaxPieces


@with_option_records
def bleu(
    model: Annotated[str, typer.Argument(help="A folder with a translator, or a hub name.")],
    data: Annotated[
        str, typer.Argument(help="Pairs of texts: a file, a folder with parts, a data set's name.")
    ],
    *,
    reading: Reading,
    languages: LanguageOptions,
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many pairs, from the first on.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Another translator: by how much is MODEL better on the same sentences?"),
    ] = None,
    beam: Beam = 5,
    max_pieces: MaxPieces = 128,
    tokenize: Annotated[str, typer.Option(help="How words are cut: 13a, intl, char or none.")] = "13a",
    resamples: Annotated[int, typer.Option(min=100, help="Draws of sentences, for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """BLEU and chrF of a translator, with their signature, and by how much it is better than another one."""
    source = reading.source(data, split)
    examples = source.examples()[:limit]
    translator = pellucid.load(model, device=device, **asdict(languages))
    judged, _ = held_out(translator, examples, source)
    other = None if baseline is None else pellucid.load(baseline, device=device, **asdict(languages))
    scores = pellucid.bleu(
        translator,
        judged,
        baseline=other,
        beam=beam,
        max_pieces=max_pieces,
        tokenize=tokenize,
        resamples=resamples,
        seed=seed,
    )
    print(json.dumps(nan_as_none(asdict(scores))) if as_json else scores)
