"""`pellucid train DATA`: a classifier that explains itself."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pellucid
from pellucid.base.checks import known, listed
from pellucid.base.errors import BadSetting, PellucidError
from pellucid.explaining.commands.data_options import Reading
from pellucid.explaining.commands.model_options import settings_by_name, settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say
from pellucid.text.example import Example
from pellucid.text.label_map import label_names

if TYPE_CHECKING:
    from pellucid.explaining.inputs.data_source import DataSource
    from pellucid.models.classifiers.classifier import Classifier
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
    "keep_best_by",
)


@with_option_records
def train(
    data: Annotated[
        str, typer.Argument(help="The name of a data set, a data file, or a folder with train and dev parts.")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(help="The folder for the model. After an interruption, run the same command again to go on."),
    ],
    reading: Reading,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="minilm (default), a folder, a name on the Hugging Face Hub, or a registered encoder such as bilstm, "
            "cnn or transformer."
        ),
    ] = None,
    encoder_set: Annotated[
        list[str] | None,
        typer.Option(help="A setting of a registered encoder such as bilstm or cnn: name=value. May be repeated."),
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option("--from", help="A trained classifier to upgrade: its encoder and labels are kept."),
    ] = None,
    pooler: Annotated[
        str,
        typer.Option(
            help="span or rationale for a model that explains itself, additive or dot for attention over words; "
            "first_token, mean or maximum for a plain one."
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
            help="The learning rate of the encoder; default: 5e-5, or a registered encoder's own, such as 1e-3 for "
            "bilstm."
        ),
    ] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            help="A recipe by name, for span: believable (what is usual) or sun2020 (the paper's); or another setting "
            "of the training: name=value, such as layer_decay=0.65. May be repeated."
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
            help="A penalty and its weight: name=weight, such as entropy=0.1; for span the usual recipe is then not "
            "taken. May be repeated."
        ),
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="What is learnt besides the labels and its weight: name=weight, such as masked_words=1. May be "
            "repeated."
        ),
    ] = None,
    objective_set: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of an objective: objective.name=value, such as imitation.model=runs/base. May be repeated."
        ),
    ] = None,
    keep_best_by: Annotated[
        str | None,
        typer.Option(help="What on dev chooses the epoch that is kept: accuracy (default), f1, mcc or loss."),
    ] = None,
    pooler_set: Annotated[
        list[str] | None, typer.Option(help="A setting of the pooler: name=value. May be repeated.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="The longest text to read as one, in pieces, up to 4096; default: what the encoder reads."),
    ] = None,
    strip_final_full_stop: Annotated[
        bool, typer.Option("--strip-final-full-stop", help="Ignore a full stop at the end of a text.")
    ] = False,
    form: Annotated[
        str | None,
        typer.Option(
            help="For a plain pooler: b_cos, an encoder without constants, whose answer is exactly a sum over the "
            "pieces of a text."
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
    from pellucid.training.trained_folder import TrainedFolder

    source = reading.source(data, "train", label_map=reading.meanings())
    named, changes = _recipe(recipe or [])
    options = {
        "learning_rate": learning_rate,
        "spans": spans,
        "keep_best_by": keep_best_by,
        "objectives": None if objective is None else settings_from(objective, "--objective"),
        "objective_settings": settings_by_name(objective_set or [], "--objective-set") or None,
    }
    changes |= {name: value for name, value in options.items() if value is not None}
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
    from pellucid.training.recipe import Recipe

    names = [value for value in values if "=" not in value]
    if len(names) > 1:
        raise BadSetting(f"--recipe has {len(names)} names, {listed(names)}; give one of them.")
    changes = settings_from([value for value in values if "=" in value], "--recipe")
    for name in changes:
        known("setting of --recipe", name, [each for each in Recipe.__dataclass_fields__ if each not in OPTIONS])
    return (names[0] if names else None), changes


# What `train` says at its end: how often the model is right, and what to try next.

FEW = 50  # texts, of which one right answer more is two per cent
AT_ONCE = 128  # texts between two steps of the bar
CLOSE = 0.05  # so near to the most frequent label's share the model has learnt little


def outcome(model: Classifier, folder: TrainedFolder, source: DataSource, options: str) -> list[str]:
    """The accuracy on the dev part, and on the test part where there is one, and what to try next.

    options: how the data are read, as the command line writes it.
    """
    from pellucid.training.checkpoint import best_epoch

    history = folder.history
    best = best_epoch(history)
    dev = f"{_percent(history[best]['dev_accuracy'])} of the dev texts (epoch {best + 1} of {len(history)}, the best)"
    test = labelled_test_part(model, source)
    if not test:
        return [f"Accuracy: right in {dev}.", *_next(best == len(history) - 1, None, "")]
    share = right_share(model, test)
    label, often = Counter(example.label for example in test).most_common(1)[0]
    common = often / len(test)
    few = f" Of {len(test)} texts this is a rough number." if len(test) < FEW else ""
    return [
        f"Accuracy: right in {dev} and {_percent(share)} of {len(test):,} test texts; always {label} would be right in "
        f"{_percent(common)} of these.{few}",
        *_next(best == len(history) - 1, share - common, f"pellucid errors {folder.path} {source.data}{options}"),
    ]


def right_share(model: Classifier, test: Sequence[Example]) -> float:
    """The share of the texts that the model gets right; a bar shows how many are judged."""
    from pellucid.drawing.terminal import progress_bar
    from pellucid.training.upgrading import right

    n_right = 0
    with progress_bar() as report:
        for first in range(0, len(test), AT_ONCE):
            n_right += sum(right(model, test[first : first + AT_ONCE]))
            report("judging the test part", min(first + AT_ONCE, len(test)), len(test))
    return n_right / len(test)


def labelled_test_part(model: Classifier, source: DataSource) -> Sequence[Example]:
    """The labelled test texts; none where the data have none or they cannot be read."""
    from pellucid.data.shared.rows import SkippedRows

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkippedRows)  # they were counted when the train part was read
            examples = source.with_split("test").training_part()
    except PellucidError:
        return ()
    names = [label_names(example.label, model.problem == "multi_label") for example in examples]
    return examples if all(name and {*name} <= {*model.labels} for name in names) else ()


def _next(last_is_best: bool, over_common: float | None, command: str) -> list[str]:
    """What to do about the accuracy, and the command that shows mistakes, where there are texts to show."""
    advice = []
    if over_common is not None and over_common < CLOSE:
        advice = [
            "It is not more often right than the most frequent label would be: try more texts, or more epochs "
            "(--epochs)."
            if over_common < 0
            else "It has learnt little more than the most frequent label: try more texts, or more epochs (--epochs)."
        ]
    elif last_is_best:
        advice = ["Its last epoch was the best: more of them may do better (--epochs, with a new --out)."]
    return [*advice, *([f"See its mistakes: {command} --html mistakes.html"] if command else [])]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
