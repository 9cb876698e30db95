"""The door `train`: from data to a classifier in a folder, by default one that explains itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from pellucid.base.checks import mapping
from pellucid.base.errors import BadSetting
from pellucid.base.files import possible_path
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.data_source import DataSource, columns_as_settings, with_labels
from pellucid.explaining.inputs.loading import load, remember, route_to_load
from pellucid.explaining.inputs.readings import Data
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import encoder_kind
from pellucid.models.composed.lower_layers import check_form
from pellucid.models.composed.networks import Plan
from pellucid.run.target import Problem
from pellucid.text.label_map import LabelMap
from pellucid.training import upgrading
from pellucid.training.objective import check_fit, check_objective_poolers
from pellucid.training.recipes import TrainingTexts, training_settings, training_texts
from pellucid.training.train import train_model
from pellucid.training.watch import watch_of


def train(
    data: Data,
    *,
    format: str | None = None,
    read: Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
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
    form: str | None = None,
    watch: int | None = None,
    watch_settings: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    recipe: str | None = None,
    **changes: Any,
) -> Classifier:
    """Train a classifier, by default one that explains itself, and save it to a folder that `load` reads.

    The epoch is chosen on the dev part. An interrupted run goes on when it is called again; a finished one is loaded,
    and files beside its weights that are missing or were changed are made again.

    data: a data set's name, a folder with train and dev parts, or one file, which is split 70 / 15 / 15 %; a data
        frame, a `datasets.Dataset` or labelled examples, which are split likewise; or a mapping of parts, "train" and
        "dev" (or "validation"), to any of these.
    format: how the data are read, a name of `formats`; None: known from the file's name.
    read: settings of the format; format and read are of files.
    skip_bad_rows: leave out rows that cannot be read or have no label, with a warning that counts them.
    text, label: columns, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label of the data -> the label that is meant, such as {"1": "negative", "5": "positive"}; None: as they
        are.
    encoder: "minilm" (None means it too), a folder, a hub name, or "bilstm", "cnn" or "transformer", which are trained
        from word vectors.
    encoder_settings: settings of these three.
    start_from: a classifier to upgrade, a folder or hub name. Its encoder, labels and tokenizer are kept, so `encoder`
        and `problem` are not given then; `Upgrade.read(out)` has the accuracy before and after.
    pooler: "span" and "rationale" explain themselves; "additive" and "dot" have weights of words, which need not
        explain anything; "first_token", "mean" and "maximum" are plain.
    out: the folder for the model.
    seed: a whole number; the seed of new parts, of the order of texts and of dropout.
    device: "cpu", "cuda" or "cuda:1".
    problem: "single_label" (None means it too), or "multi_label": labels are names with commas between them.
    pooler_settings: settings of the pooler.
    max_length: the most pieces of a text that are read as one, 8 to 4,096; above what the encoder reads, its windows
        are joined. None: what the encoder reads.
    penalties: name -> weight, 0 or more; {}: no penalty. None: the recipe's; without a recipe entropy 0.1 for span
        weights that are learned, unless `spans` says how sharp they become.
    strip_final_full_stop: do not read a full stop at the end of a text (corrections.md A0.7).
    form: of pooler="first_token", "mean" or "maximum": "b_cos", an encoder without constants, so that the answer is
        exactly a sum over the pieces of a text, which the method `b_cos` shows. None: the encoder's layers as they are.
    watch: steps between looks at the model while it is trained: what each layer keeps of the words of some dev texts,
        which `read(out)` reads. The model stays the same, byte by byte. None: it is not watched.
    watch_settings: fields of `Watch`: n_texts (8), method ("retained_information"), settings of the method, layers and
        positions ("all").
    progress: draw a progress bar; None: when a terminal is watching.
    recipe: of pooler="span", settings that belong together: "believable", two short spans that are all that the answer
        uses and enough by themselves; "sun2020", the paper's. Other arguments come before it. None: "believable" for
        learned weights on a pretrained encoder, unless penalties, objectives, `spans`, `sharp_from` or the pooler's
        `n_heaviest` say how weights become sharp.
    changes: the other settings of `Recipe`: epochs, batch_size, learning_rate, objectives, spans and so on.

    Returns the trained classifier. Raises `BadSetting` for settings that do not go together, `UnknownName` for names
    that do not exist, `BadInput` for data without labels, with fewer than two classes or with texts that are too long,
    `BadFile` for data that cannot be read and for a folder that holds another model or run, `ModelCannot` for a model
    that cannot be upgraded.

    >>> model = pellucid.train("reviews.csv", start_from="my-classifier", out="my-new-classifier", epochs=1)
    >>> model
    <Classifier my-new-classifier: negative, neutral, positive>
    >>> pellucid.explain(model, "A good film.")[0].method
    'span_attention'
    """
    watching = watch_of(watch, watch_settings if watch_settings is None else mapping("watch_settings", watch_settings))
    penalties = None if penalties is None else mapping("penalties", penalties)
    pooler_options = {} if pooler_settings is None else mapping("pooler_settings", pooler_settings)
    old = None if start_from is None else upgrading.start(start_from, encoder, problem, device)
    encoder_source = str(start_from or ("minilm" if encoder is None else encoder))
    kind = encoder_kind(encoder_source) if old is None else old.network.config.model_type
    settings = training_settings(
        pooler, kind, seed=seed, penalties=penalties, pooler_settings=pooler_options, recipe=recipe, **changes
    )
    check_fit(penalties or {}, pooler, settings.pooler_settings)
    check_objective_poolers(settings.recipe.objectives, pooler, settings.pooler_settings)
    options = {"format": format, "settings": read, "skip_bad_rows": skip_bad_rows}
    source = _source(data, options, text=text, label=label, label_map=label_map)
    parts = source.training_parts()
    if skip_bad_rows:
        parts = {part: with_labels(part, examples) for part, examples in parts.items()}
    plan = Plan(
        encoder_source,
        pooler,
        settings.pooler_settings,
        labels=(),
        problem=problem or "single_label",
        encoder_settings={} if encoder_settings is None else mapping("encoder_settings", encoder_settings),
        max_length=max_length,
        strip_final_full_stop=strip_final_full_stop,
        layer_form="" if form is None else form,
    )
    check_form(plan.layer_form, pooler)
    if old is None:
        plan = replace(plan, labels=source.classes(parts["train"], plan.problem))
    else:
        plan = upgrading.plan_from(plan, old, parts)

    def judge(model: Classifier) -> None:
        if old is not None:
            upgrading.judge(old, model, parts["dev"], source.with_split("test")).save(out)

    with progress_bar(progress) as show_progress:
        model = train_model(
            parts,
            plan,
            settings.recipe,
            possible_path(out),
            device,
            progress=show_progress,
            watch=watching,
            afterwards=judge,
        )
    model = replace(model, route=route_to_load(None))  # as `load` of its folder would have it
    remember(model, partial(load, possible_path(out), device=device))
    return model


def _source(
    data: Data,
    options: Mapping[str, Any],
    *,
    text: str | Sequence[str] | None,
    label: str | None,
    label_map: LabelMap | None,
) -> DataSource | TrainingTexts:
    """Where the train texts come from: files and data sets by name, anything else from memory.

    options: format and settings, which only files have, and skip_bad_rows.
    """
    if isinstance(data, str | PurePath):
        columns = columns_as_settings(text, label)
        settings = mapping("read", {} if options["settings"] is None else options["settings"]) | columns
        return DataSource(str(data), "train", options["format"], settings, options["skip_bad_rows"], label_map)
    for name in ("format", "settings"):
        if options[name] is not None:
            raise BadSetting(
                f"{'read' if name == 'settings' else name}= says how files are read; {type(data).__name__} is none. "
                f"Leave it away."
            )
    return training_texts(data, text, label, label_map, options["skip_bad_rows"])
