"""From texts and a plan to a trained model in a folder; a finished folder is loaded, an unfinished one goes on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pellucid.core.folders.output_folder import FolderState, OutputFolder, check_as_before
from pellucid.core.foundation.errors import BadFile, PellucidError
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.wording import listed, reason
from pellucid.core.passes.batch import Batch
from pellucid.core.text.example import Example
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.digest import network_digest
from pellucid.models.composed.composed import as_classifier
from pellucid.models.composed.composing import compose
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.tokenizer_files import missing_tokenizer_files, save_tokenizer
from pellucid.models.load import on_device
from pellucid.training.loop import Run, train
from pellucid.training.objective_fit import check_objective_widths, check_objectives
from pellucid.training.penalty_fit import check_fit, check_widths
from pellucid.training.recipe import Recipe
from pellucid.training.settled_epochs import check_beginnings
from pellucid.training.span_count import check_span_count
from pellucid.training.spans_on_dev import spans_on_dev
from pellucid.training.text_lengths import check_lengths, check_units
from pellucid.training.trained_folder import TrainedFolder, TrainingRecord, remake_notes
from pellucid.training.training import SPLITS, Training
from pellucid.training.watch import FOLDER, Watch, Watched


def train_model(
    parts: Mapping[str, Sequence[Example]],
    plan: Plan,
    recipe: Recipe,
    folder: Path,
    device: str,
    *,
    progress: Progress,
    watch: Watch | None = None,
    afterwards: Callable[[Classifier], object] | None = None,
) -> Classifier:
    """Train on parts["train"], choose the epoch on parts["dev"], save to the folder and return the model.

    folder: a finished one of this training is loaded, an unfinished one goes on. device: "cpu", "cuda" or "cuda:1". watch:
    what is seen of the model in between; it changes neither the model nor what names the training. afterwards: is called with the
    model, and may write further files of a trained folder before its manifest is written.
    Raises `BadInput` for empty parts or texts that cannot be read whole, `BadSetting` for a penalty or objective that does not fit,
    `BadFile` when the folder holds another run or model.
    """
    training = Training(parts, plan, recipe, TrainedFolder(folder))
    check_fit(recipe.penalties, plan.pooler, plan.pooler_settings)
    check_objectives(recipe, plan)
    check_beginnings(recipe, plan)
    check_span_count(recipe.spans, plan)
    fingerprint = training.fingerprint()
    watched = None if watch is None else _watched(watch, training, fingerprint)
    if watched is not None and training.folder.is_complete:
        watched.begin(watched.total + 1)
    files, remade = training.folder.files(fingerprint), list[str]()
    state = files.begin()
    if training.folder.is_complete:
        model, remade = _finished_model(training, fingerprint, files, state, progress)
        model = on_device(model, device)
    else:
        model = _trained_model(training, fingerprint, device, watched, progress)
    if afterwards is not None:
        afterwards(model)
    files.end(state, remade)
    return model


def _trained_model(
    training: Training, fingerprint: str, device: str, watched: Watched | None, progress: Progress
) -> Classifier:
    """Train what is left to be trained, and write the model."""
    plan = training.plan
    training.folder.check_free(fingerprint)
    training.check_labels()  # a wrong label is reported before the work
    run = replace(_run(training, fingerprint, device, progress), watched=watched)
    record = _record(training, run, train(run))
    training.folder.write_trained_texts(training.text_digests())
    training.folder.write_model(run.classifier, replace(plan, trained=dict(record)))
    training.folder.remove_working_files()
    if watched is not None:
        watched.end()
    return on_device(training.folder.load(), device)


def _watched(watch: Watch, training: Training, fingerprint: str) -> Watched:
    """Where the looks at this training are kept."""
    steps = -(-len(training.parts["train"]) // training.recipe.batch_size) * training.recipe.epochs
    return Watched(watch, training.folder.path / FOLDER, fingerprint, steps)


def _finished_model(
    training: Training, fingerprint: str, files: OutputFolder, state: FolderState, progress: Progress
) -> tuple[Classifier, list[str]]:
    """The model of a finished folder, and the names of files that were not as they should be and are made again."""
    folder = training.folder
    run = (fingerprint, _settings(training), training.plan.encoder, training.encoder_files())
    folder.check_run(*run)
    _remake_tokenizer(training, files, state)
    model = folder.load_checked(*run)
    progress("training", 1, 1)
    remade: list[str] = []
    if folder.is_writable and not state.is_whole:
        remade = remake_notes(files, folder.history, training.text_digests())
    folder.remove_working_files()
    return replace(model, trained_texts=folder.trained_texts), remade


def _remake_tokenizer(training: Training, files: OutputFolder, state: FolderState) -> None:
    """Write the tokenizer's files again that are missing, from the encoder; raises `BadFile` where that cannot be read any more."""
    names = missing_tokenizer_files(files.path, state.damaged)
    if not names:
        return
    try:
        texts = [example.segments for example in training.parts["train"]]
        _, tokenizer = compose(training.plan, training.recipe.seed, texts)
    except PellucidError as error:
        raise BadFile(
            f"{files.path} lacks {listed(names)}, and the encoder that this is made from cannot be read ({reason(error)}); put it "
            "back, or remove the folder to train again."
        ) from None
    save_tokenizer(tokenizer, files.path, names)
    check_as_before(files, state, names)


def _run(training: Training, fingerprint: str, device: str, progress: Progress) -> Run:
    """An untrained network and its encoded texts; raises `BadInput` for texts that it cannot be trained on."""
    plan = training.plan
    texts = [example.segments for example in training.parts["train"]]
    network, tokenizer = compose(plan, training.recipe.seed, texts)
    check_widths(training.recipe.penalties, network)
    check_objective_widths(training.recipe, network)
    classifier = on_device(as_classifier(network, tokenizer, plan, str(training.folder.path)), device)
    batches: dict[str, Batch] = {split: classifier.encode(training.parts[split]) for split in SPLITS}
    check_lengths(batches["train"], classifier)
    for split, batch in batches.items():
        check_units(split, batch, classifier)
    return Run(
        classifier,
        batches["train"],
        batches["dev"],
        training.recipe,
        training.folder,
        fingerprint,
        encoder_files=training.encoder_files(),
        progress=progress,
        settings=_settings(training),
    )


def _settings(training: Training) -> dict[str, object]:
    """Every setting of the plan and the recipe."""
    return training.plan.record() | training.recipe.record()


def _record(training: Training, run: Run, history: list[dict[str, float]]) -> TrainingRecord:
    """What the model's config.json says of its training."""
    record: TrainingRecord = {
        "recipe": training.recipe.record(),
        "history": history,
        "fingerprint": run.fingerprint,
        "examples": len(training.parts["train"]),
        "encoder_files": run.encoder_files,
        "weights": network_digest(run.classifier.network, []),
    }
    segments = {len(example.segments) for example in training.parts["train"]}
    if len(segments) == 1:
        record["segments"] = segments.pop()
    heaviest = spans_on_dev(run.classifier, run.dev)
    if heaviest.texts:
        record["heaviest_spans"] = asdict(heaviest)
    if run.classifier.network.layer_mix is not None:
        record["layer_weights"] = run.classifier.network.layer_mix.weights.tolist()
    return record
