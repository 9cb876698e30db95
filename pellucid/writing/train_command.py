"""`pellucid train-translator DATA`: a translator that explains itself."""

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

import pellucid
from pellucid.base.json_text import Json
from pellucid.base.packages import literals
from pellucid.explaining.commands.data_options import TextFiles
from pellucid.explaining.commands.model_options import settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say

DEFAULT = SimpleNamespace(**literals("pellucid.writing.translator_plan", "TranslationRecipe"))


@with_option_records
def train_translator(
    data: Annotated[
        str,
        typer.Argument(help="A file with pairs of texts, a folder with train and dev parts, a data set's name."),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(help="The folder for the translator. After an interruption, run the same command again to go on."),
    ],
    files: TextFiles,
    pooler: Annotated[
        str, typer.Option(help="span for a translator that explains itself, none for its plain twin.")
    ] = "span",
    pooler_set: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the spans: max_width, weights, query, scale. May be repeated."),
    ] = None,
    network: Annotated[str, typer.Option(help="transformer, or lstm for LSTMs with attention.")] = "transformer",
    network_set: Annotated[
        list[str] | None,
        typer.Option(
            help="A size of a new network: layers, width, dropout; of a Transformer also heads, inner_width. May be "
            "repeated."
        ),
    ] = None,
    pieces: Annotated[int, typer.Option(help="The most joint pieces to learn.")] = 6000,
    start_from: Annotated[
        str | None,
        typer.Option("--from", help="A translator to upgrade, such as Marian's: network and pieces are kept."),
    ] = None,
    penalty: Annotated[
        list[str] | None,
        typer.Option(help="concentration or entropy of the spans: name=weight. May be repeated."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the train pairs.")] = DEFAULT.epochs,
    batch_pieces: Annotated[int, typer.Option(min=1, help="The most pieces a step.")] = DEFAULT.batch_pieces,
    learning_rate: Annotated[float, typer.Option(help="The highest learning rate.")] = DEFAULT.learning_rate,
    warmup_steps: Annotated[int, typer.Option(min=1, help="Steps in which the rate rises.")] = DEFAULT.warmup_steps,
    averaged: Annotated[
        int, typer.Option(min=1, help="The weights of so many epochs are averaged.")
    ] = DEFAULT.averaged,
    seed: Annotated[int, typer.Option(help="The seed of first weights, order and dropout.")] = DEFAULT.seed,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Train a translator from pairs of texts, by default one that says which source spans each word was written
    from.
    """
    from pellucid.models.translation.translator_folder import load_translator

    model = pellucid.train_translator(
        data,
        out=out,
        format=files.format_,
        read=settings_from(files.read or [], "--read"),
        skip_bad_rows=files.skip_bad_rows,
        pooler=pooler,  # type: ignore[arg-type]  # checked there
        pooler_settings=settings_from(pooler_set or [], "--pooler-set"),
        network=network,  # type: ignore[arg-type]  # checked there
        network_settings=settings_from(network_set or [], "--network-set"),
        pieces=pieces,
        start_from=start_from,
        device=device,
        penalties=settings_from(penalty or [], "--penalty"),  # type: ignore[arg-type]  # checked there
        epochs=epochs,
        batch_pieces=batch_pieces,
        learning_rate=learning_rate,
        warmup_steps=warmup_steps,
        averaged=averaged,
        seed=seed,
    )
    say(f"{model.name}: {_outcome(load_translator(out).trained)}")


def _outcome(trained: dict[str, Json]) -> str:
    """How well the best epoch writes the dev texts."""
    history = trained["history"]
    assert isinstance(history, list)  # training wrote it
    losses = [float(epoch["dev_loss"]) for epoch in history]  # type: ignore[index, call-overload, arg-type]
    best = min(range(len(losses)), key=losses.__getitem__)
    return (
        f"epoch {best + 1} of {len(losses)} wrote the dev texts best, {losses[best]:.3f} nats a piece; "
        f"learnt from {trained['pairs']:,} pairs."
    )
