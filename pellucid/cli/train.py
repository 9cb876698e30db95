"""`pellucid train DATA`: a classifier that explains itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.options.data_options import Reading
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.options.settings import settings_by_name, settings_from
from pellucid.cli.printing.safe_text import say
from pellucid.cli.printing.training_outcome import outcome
from pellucid.core.foundation.checks import known
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.wording import listed
from pellucid.training.recipe import Recipe
from pellucid.training.trained_folder import TrainedFolder

# Fields of the recipe with an option of their own.
OPTIONS = (
    "epochs",
    "batch_size",
    "learning_rate",
    "penalties",
    "objectives",
    "objective_settings",
    "seed",
    "spans",
)


@with_option_records
def train(
    data: Annotated[
        str, typer.Argument(help="The name of a data set, a data file, or a folder with train and dev parts.")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            help="The folder for the model. After an interruption, run the same command again to go on."
        ),
    ],
    reading: Reading,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="minilm (default), a folder, a name on the Hugging Face Hub, or a registered encoder such as bilstm, cnn or transformer."
        ),
    ] = None,
    encoder_set: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of a registered encoder such as bilstm or cnn: name=value. May be repeated."
        ),
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option("--from", help="A trained classifier to upgrade: its encoder and labels are kept."),
    ] = None,
    pooler: Annotated[
        str,
        typer.Option(
            help="span or rationale for a model that explains itself, additive or dot for attention over words; first_token, mean or maximum for a plain one."
        ),
    ] = "span",
    problem: Annotated[
        str | None,
        typer.Option(
            help="single_label (default), or multi_label: a text can have several labels, with commas between them."
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How many times to go through the train texts.")] = 3,
    batch_size: Annotated[int, typer.Option(min=1, help="How many texts a training step uses.")] = 32,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            help="The learning rate of the encoder; default: 5e-5, or a registered encoder's own, such as 1e-3 for bilstm."
        ),
    ] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            help="A recipe by name, for span: believable (what is usual) or sun2020 (the paper's); or another setting of the training: name=value, such as layer_decay=0.65. May be repeated."
        ),
    ] = None,
    spans: Annotated[
        float | None,
        typer.Option(
            help="For span: how many spans shall share a text's weight, such as 2; the usual recipe is then not taken."
        ),
    ] = None,
    penalty: Annotated[
        list[str] | None,
        typer.Option(
            help="A penalty and its weight: name=weight, such as entropy=0.1; for span the usual recipe is then not taken. May be repeated."
        ),
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="What is learnt besides the labels and its weight: name=weight, such as masked_words=1. May be repeated."
        ),
    ] = None,
    objective_set: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of an objective: objective.name=value, such as imitation.model=runs/base. May be repeated."
        ),
    ] = None,
    pooler_set: Annotated[
        list[str] | None, typer.Option(help="A setting of the pooler: name=value. May be repeated.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            help="The longest text to read as one, in pieces, up to 4096; default: what the encoder reads."
        ),
    ] = None,
    strip_final_full_stop: Annotated[
        bool, typer.Option("--strip-final-full-stop", help="Ignore a full stop at the end of a text.")
    ] = False,
    form: Annotated[
        str | None,
        typer.Option(
            help="For a plain pooler: b_cos, an encoder without constants, whose answer is exactly a sum over the pieces of a text."
        ),
    ] = None,
    watch: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Steps between looks at what the layers keep of some dev texts; they stand in OUT/watched.",
        ),
    ] = None,
    watch_set: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of --watch: n_texts=8, method=NAME, layers=[0, 3], positions=pooled. May be repeated."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(help="The seed of the new parts' first weights, of the order of texts and of dropout."),
    ] = 0,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Train a classifier, by default one that explains itself; the best epoch on the dev part is kept."""
    source = reading.source(data, "train", label_map=reading.meanings())
    named, changes = _recipe(recipe or [])
    own = {
        "learning_rate": learning_rate,
        "spans": spans,
        "objectives": None if objective is None else settings_from(objective, "--objective"),
        "objective_settings": settings_by_name(objective_set or [], "--objective-set") or None,
    }
    changes |= {name: value for name, value in own.items() if value is not None}
    model = pellucid.train(
        data,
        format=source.format,
        read=source.settings,
        skip_bad_rows=source.skip_bad_rows,
        label_map=source.label_map,
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
        form=form,
        watch=watch,
        watch_settings=settings_from(watch_set or [], "--watch-set"),
        epochs=epochs,
        batch_size=batch_size,
        recipe=named,
        **changes,
    )
    folder = TrainedFolder(out)
    say(f"Trained {model.name}: classes {', '.join(model.labels)}. Epochs: {folder.log}")
    for caution in folder.heaviest_spans.cautions():
        say(f"Caution: {caution}")
    if start_from is not None:
        for line in pellucid.Upgrade.read(out).in_words():
            say(line)
    for line in outcome(model, folder, source, reading.as_written()):
        say(line)
    say(f'Try it: pellucid explain {out} "A text of yours."')


def _recipe(values: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """The name of a recipe, and settings that have no option of their own; raises `UnknownName` for others."""
    names = [value for value in values if "=" not in value]
    if len(names) > 1:
        raise BadSetting(f"--recipe has {len(names)} names, {listed(names)}; give one of them.")
    changes = settings_from([value for value in values if "=" in value], "--recipe")
    for name in changes:
        known(
            "setting of --recipe", name, [each for each in Recipe.__dataclass_fields__ if each not in OPTIONS]
        )
    return (names[0] if names else None), changes
