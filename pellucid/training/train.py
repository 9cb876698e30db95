"""From data and a plan to a trained model in a folder; a finished folder is loaded, an unfinished one goes on."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path

from pellucid.core.foundation.errors import BadFile, BadInput
from pellucid.core.foundation.files import check_folder
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.seals import json_digest
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.windows import rows_of
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import text_digest
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.digest import network_digest
from pellucid.models.composed.composed import as_classifier, is_composed, load_composed, save_composed
from pellucid.models.composed.composing import compose
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.trained_texts_file import FILE as TRAINED_TEXTS
from pellucid.models.composed.trained_texts_file import read_trained_texts, write_trained_texts
from pellucid.models.load import on_device
from pellucid.models.pooling.unit_vectors import n_units
from pellucid.training.finished import encoder_files, finished_history, finished_model
from pellucid.training.loop import LOG, Run, tidy, train, write_log
from pellucid.training.objective import gold_numbers
from pellucid.training.penalty_fit import check_fit
from pellucid.training.recipe import Recipe
from pellucid.training.spans_on_dev import RECORD, spans_on_dev


def train_model(
    parts: Mapping[str, Sequence[Example]],
    plan: Plan,
    recipe: Recipe,
    folder: Path,
    device: str,
    progress: Progress,
) -> Classifier:
    """Train on parts["train"], choose the epoch on parts["dev"], save to the folder and return the model.

    Raises `BadInput` for empty parts or texts that cannot be read whole, `BadSetting` for a penalty that does not fit,
    `BadFile` when the folder holds another run or model.
    """
    check_fit(recipe.penalties, plan.pooler, plan.pooler_settings)
    fingerprint = _fingerprint(parts, plan, recipe)
    if is_composed(folder):
        model = finished_model(folder, fingerprint, plan)
        progress("training", 1, 1)
        if os.access(folder, os.W_OK):
            _complete(folder, parts, plan)
        tidy(folder)
        return on_device(replace(model, trained_texts=read_trained_texts(folder)), device)
    if (folder / "config.json").exists():
        raise BadFile(f"{folder} holds another model; give another folder, so that it is not overwritten.")
    check_folder(folder)
    for name in ("train", "dev"):
        if not parts[name]:
            raise BadInput(f"The {name} part has no examples.")
        gold_numbers(parts[name], plan.labels, plan.problem)  # a wrong label is told before the work
    network, tokenizer = compose(plan, recipe.seed)
    classifier = on_device(as_classifier(network, tokenizer, plan, str(folder)), device)
    batches = {name: classifier.encode(parts[name]) for name in ("train", "dev")}
    _check_lengths(batches["train"], classifier)
    for name, batch in batches.items():
        _check_units(name, batch, classifier)
    encoder = encoder_files(plan)
    begun = json_digest([fingerprint, encoder])  # what a checkpoint goes on from
    history = train(Run(classifier, batches["train"], batches["dev"], recipe, folder, begun, progress))
    trained = {
        "recipe": recipe.record(),
        "history": history,
        "fingerprint": fingerprint,
        "examples": len(parts["train"]),
        "encoder_files": encoder,
        "weights": network_digest(network, []),
    }
    heaviest = spans_on_dev(classifier, batches["dev"])
    if heaviest.texts:
        trained[RECORD] = asdict(heaviest)
    _write_seen(folder, parts, plan)
    save_composed(network, tokenizer, replace(plan, trained=trained), folder)
    tidy(folder)
    return on_device(load_composed(folder), device)


def _complete(folder: Path, parts: Mapping[str, Sequence[Example]], plan: Plan) -> None:
    """Write again what a finished folder lacks beside its model."""
    if not (folder / LOG).exists():
        write_log(folder, finished_history(folder))
    if not (folder / TRAINED_TEXTS).exists():
        _write_seen(folder, parts, plan)


def _write_seen(folder: Path, parts: Mapping[str, Sequence[Example]], plan: Plan) -> None:
    """Write which texts the model was made with; what its encoder's own training saw stays seen."""
    seen = {text_digest(example) for name in ("train", "dev") for example in parts[name]}
    write_trained_texts(seen | read_trained_texts(plan.encoder), folder)


def _check_lengths(train: Batch, classifier: Classifier) -> None:
    """Training reads every text as one; the mean over windows is for explaining and judging."""
    long = [example.id for example, row in zip(train.examples, train.rows, strict=True) if row.windows]
    if long:
        raise BadInput(
            f"{len(long)} training texts are longer than the {classifier.max_length} pieces that {classifier.name} reads "
            f"as one (first: {long[0]!r}); {_way_out(classifier)}split them or leave them out."
        )


def _check_units(part: str, batch: Batch, classifier: Classifier) -> None:
    """Forms that hold all span vectors of a text at once take so many units and no more; dev is read too."""
    pooler = classifier.network.pooler
    most = getattr(pooler, "most_units", None)
    if most is None:
        return
    counts = [max(n_units(read, pooler.unit) for read in rows_of(row)) for row in batch.rows]
    long = [number for number, count in enumerate(counts) if count > most]
    if long:
        raise BadInput(
            f"{len(long)} {part} texts have more than {most} {pooler.unit}s (first: {batch.examples[long[0]].id!r} with "
            f"{counts[long[0]]}); with interaction={pooler.interaction!r} every span vector is held at once. Give "
            "interaction='factored' (--pooler-set interaction=factored), split the texts or leave them out."
        )


def _way_out(classifier: Classifier) -> str:
    """How this classifier could read longer texts; nothing for one that reads the most there is."""
    if classifier.max_length >= LONGEST:
        return ""
    return f"give max_length (--max-length), at most {LONGEST}, to read longer texts in windows that are joined, or "


def _fingerprint(parts: Mapping[str, Sequence[Example]], plan: Plan, recipe: Recipe) -> str:
    """Sixteen bytes, in hexadecimal, that name a run: its data, its plan and its recipe."""
    data = [[(example.segments, example.label) for example in parts[name]] for name in ("train", "dev")]
    told = json.dumps([data, plan.record(), recipe.record()], ensure_ascii=False, sort_keys=True)
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
