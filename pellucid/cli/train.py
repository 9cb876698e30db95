"""`pellucid train DATA`: a classifier that explains itself."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options import FormatOption, ReadOption, SkipOption, settings_from
from pellucid.cli.saying import say


def train(
    data: Annotated[
        str, typer.Argument(help="A data set's name, a data file, or a folder with train and dev.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for the model; run again to go on after an interruption.")
    ],
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    encoder: Annotated[str, typer.Option(help="minilm, a folder, or a hub name.")] = "minilm",
    pooler: Annotated[
        str,
        typer.Option(help="span and rationale explain themselves; first_token is their plain twin; mean."),
    ] = "span",
    problem: Annotated[
        str, typer.Option(help="single_label, or multi_label: labels with commas.")
    ] = "single_label",
    epochs: Annotated[int, typer.Option(min=1)] = 3,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    learning_rate: Annotated[float, typer.Option(help="Of the encoder.")] = 5e-5,
    penalty: Annotated[
        list[str] | None, typer.Option(help="name=weight; default for span: concentration=1.")
    ] = None,
    pooler_set: Annotated[list[str] | None, typer.Option(help="A setting of the pooler, name=value.")] = None,
    seed: Annotated[int, typer.Option()] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Train a classifier, by default one that explains itself, and choose its epoch on dev."""
    model = pellucid.train(
        data,
        format=format_,
        read=settings_from(read or [], "--read"),
        skip_bad_rows=skip_bad_rows,
        encoder=encoder,
        pooler=pooler,
        out=out,
        seed=seed,
        device=device,
        problem=problem,  # type: ignore[arg-type]  # checked by train
        pooler_settings=settings_from(pooler_set or [], "--pooler-set"),
        penalties=None if penalty is None else settings_from(penalty, "--penalty"),
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
    )
    say(f"Trained {model.name}: classes {', '.join(model.labels)}. Epochs: {out / 'metrics.jsonl'}")
    say(f'Try it: pellucid explain {out} "A text of yours."')
