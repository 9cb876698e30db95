"""The door `train`: from data to a classifier in a folder, by default one that explains itself."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pellucid.api import upgrading
from pellucid.api.recipes import recipe_of
from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadInput
from pellucid.core.passes.target import Problem
from pellucid.core.text.example import Example
from pellucid.datasets.load import classes_of, load_part, load_parts
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.encoder_kind import encoder_kind
from pellucid.models.composed.plan import Plan
from pellucid.reports.terminal.progress_bar import progress_bar
from pellucid.training.penalty_fit import check_fit
from pellucid.training.train import train_model


def train(
    data: str | Path,
    *,
    format: str | None = None,
    read: Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
    encoder: str | Path | None = None,
    encoder_settings: Mapping[str, Any] | None = None,
    start_from: str | Path | None = None,
    pooler: str = "span",
    out: str | Path,
    seed: int = 0,
    device: str = "cpu",
    problem: Problem | None = None,
    pooler_settings: Mapping[str, Any] | None = None,
    max_length: int | None = None,
    penalties: Mapping[str, float] | None = None,
    strip_final_full_stop: bool = False,
    progress: bool | None = None,
    **recipe: Any,
) -> Classifier:
    """Train a classifier, by default a self-explaining one, and save it to a folder that `load` reads.

    data: a data set's name, a folder with train and dev parts, or one file (split 70 / 15 / 15 %); format, read and
    skip_bad_rows say how it is read, as format, settings and skip_bad_rows of `examples`. encoder: "minilm" when not
    given, a folder, a hub name, or "bilstm" or "cnn" with their encoder_settings. start_from: a classifier to upgrade: its
    encoder, labels and tokenizer are kept, and `Upgrade.read(out)` tells its accuracy before and after. pooler: "span"
    and "rationale" explain themselves; "first_token" is their plain twin. max_length: the most pieces of a text that are read as one, up to
    4,096; above what the encoder reads, its windows are joined (None: what the encoder reads). problem: "single_label"
    when not given; "multi_label" reads labels as names with commas between them. penalties: name -> weight; entropy 0.1
    for span attention that is learned, when not given. strip_final_full_stop: the model does not read a full stop at the end of a text
    (corrections.md A0.7). recipe: see `Recipe`. The epoch is chosen on dev. An interrupted run goes on when called again;
    a finished one is loaded.
    """
    check_fit(penalties or {}, pooler, pooler_settings or {})
    parts = load_parts(data, format, skip_bad_rows, **(read or {}))
    started = None if start_from is None else upgrading.start(start_from, encoder, problem, device)
    plan = Plan(
        str(start_from or encoder or "minilm"),
        pooler,
        dict(pooler_settings or {}),
        labels=(),
        problem=problem or "single_label",
        encoder_settings=dict(encoder_settings or {}),
        max_length=max_length,
        strip_final_full_stop=strip_final_full_stop,
    )
    if started is None:
        kind = encoder_kind(plan.encoder)
        plan = replace(plan, labels=_classes(data, parts, plan.problem, format))
    else:
        kind = started.network.config.model_type
        plan = upgrading.continued(plan, started, parts)
    chosen = recipe_of(pooler, seed, penalties, kind, pooler_settings, **recipe)
    with progress_bar(progress) as told:
        model = train_model(parts, plan, chosen, Path(out), device, told)
        if started is not None:
            test = partial(load_part, data, "test", format, skip_bad_rows, **(read or {}))
            upgrading.judge(started, model, Path(out), parts["dev"], test)
    return model


def _classes(
    data: str | Path, parts: Mapping[str, list[Example]], problem: Problem, format: str | None
) -> tuple[str, ...]:
    one_of("problem", problem, ("single_label", "multi_label"))
    classes = classes_of(data, parts["train"], problem, format)
    if len(classes) < 2:
        raise BadInput(
            f"A classifier needs two classes or more; the labels of {data} are: {', '.join(classes) or 'none'}."
        )
    return classes
