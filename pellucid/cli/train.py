"""`pellucid train DATA`: a classifier that explains itself."""

from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.options import FormatOption, ReadOption, SkipOption, settings_from
from pellucid.cli.safe_text import say
from pellucid.training.spans_on_dev import read_spans_on_dev


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
    encoder: Annotated[
        str | None, typer.Option(help="minilm (default), a folder, a hub name; or bilstm, cnn.")
    ] = None,
    encoder_set: Annotated[
        list[str] | None, typer.Option(help="A setting of bilstm or cnn, name=value.")
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option("--from", help="A classifier to upgrade: its encoder and labels are kept."),
    ] = None,
    pooler: Annotated[
        str,
        typer.Option(
            help="span and rationale explain themselves; first_token is their plain twin; mean, maximum."
        ),
    ] = "span",
    problem: Annotated[
        str | None, typer.Option(help="single_label (default), or multi_label: labels with commas.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1)] = 3,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    learning_rate: Annotated[
        float | None, typer.Option(help="Of the encoder; 5e-5 for a pretrained one.")
    ] = None,
    penalty: Annotated[
        list[str] | None, typer.Option(help="name=weight; default for span: entropy=0.1.")
    ] = None,
    pooler_set: Annotated[list[str] | None, typer.Option(help="A setting of the pooler, name=value.")] = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="Most pieces of a text read as one, up to 4096; default: what the encoder reads."),
    ] = None,
    strip_final_full_stop: Annotated[
        bool, typer.Option("--strip-final-full-stop", help="Do not read a full stop at the end of a text.")
    ] = False,
    seed: Annotated[int, typer.Option()] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Train a classifier, by default one that explains itself, and choose its epoch on dev."""
    recipe: dict[str, Any] = {} if learning_rate is None else {"learning_rate": learning_rate}
    model = pellucid.train(
        data,
        format=format_,
        read=settings_from(read or [], "--read"),
        skip_bad_rows=skip_bad_rows,
        encoder=encoder,
        encoder_settings=settings_from(encoder_set or [], "--encoder-set"),
        start_from=start_from,
        pooler=pooler,
        out=out,
        seed=seed,
        device=device,
        problem=problem,  # type: ignore[arg-type]  # checked by train
        pooler_settings=settings_from(pooler_set or [], "--pooler-set"),
        max_length=max_length,
        penalties=None if penalty is None else settings_from(penalty, "--penalty"),
        strip_final_full_stop=strip_final_full_stop,
        epochs=epochs,
        batch_size=batch_size,
        **recipe,
    )
    say(f"Trained {model.name}: classes {', '.join(model.labels)}. Epochs: {out / 'metrics.jsonl'}")
    for caution in read_spans_on_dev(out).cautions():
        say(f"Caution: {caution}")
    if start_from is not None:
        for line in pellucid.Upgrade.read(out).in_words():
            say(line)
    say(f'Try it: pellucid explain {out} "A text of yours."')
