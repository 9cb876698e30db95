"""From texts and a plan to a trained model in a folder; a finished folder is loaded, an unfinished one goes on."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import blake2b
from pathlib import Path

from pellucid.base.checks import listed, reason
from pellucid.base.errors import BadFile, BadInput, PellucidError
from pellucid.base.kinds import objectives
from pellucid.base.output_folder import FolderState, OutputFolder, check_as_before
from pellucid.base.processes import Progress
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import source_digest
from pellucid.models.classifiers.in_memory import network_digest
from pellucid.models.composed.composed import (
    as_classifier,
    compose,
    missing_tokenizer_files,
    read_trained_texts,
    save_tokenizer,
)
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.composed.networks import Plan
from pellucid.models.composed.vector_file import vector_file, vector_file_digest
from pellucid.models.load import on_device
from pellucid.models.pooling.pooler import n_units
from pellucid.run.batch import Batch
from pellucid.run.windows import rows_of
from pellucid.text.example import Example, text_digest
from pellucid.training.loop import TrainingRun, check_beginnings, train
from pellucid.training.objective import check_fit, check_objective_widths, check_objectives, check_widths
from pellucid.training.recipe import Recipe
from pellucid.training.span_count import check_span_count, spans_on_dev
from pellucid.training.trained_folder import TrainedFolder, TrainingRecord, remake_notes
from pellucid.training.training_loss import check_measure, gold_numbers
from pellucid.training.watch import FOLDER, Watch, Watched

# What a training run is: labelled texts, the plan of a model and a recipe; and what names it.

SPLITS = ("train", "dev")  # the parts that training sees


@dataclass(frozen=True)
class Training:
    """A training as its caller describes it.

    parts: "train" to learn from, "dev" to choose the epoch. folder: where the run and its model are written.
    """

    parts: Mapping[str, Sequence[Example]]
    plan: Plan
    recipe: Recipe
    folder: TrainedFolder

    def fingerprint(self) -> str:
        """Sixteen bytes, in hexadecimal, that name the run: its texts, plan and recipe."""
        texts = [[(example.segments, example.label) for example in self.parts[split]] for split in SPLITS]
        names = [texts, self.plan.record(), self.recipe.record(), *self._read_by_objectives()]
        record = json.dumps(names, ensure_ascii=False, sort_keys=True)
        return blake2b(record.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _read_by_objectives(self) -> list[object]:
        """What objectives read besides texts and labels: people's marks, and the files of other models; [] of none."""
        entries = [objectives.get(name) for name, weight in self.recipe.objectives.items() if weight]
        read: list[object] = []
        if any(entry.facts["marks"] for entry in entries):
            read.append([[astuple(mark) for mark in example.rationales] for example in self.parts["train"]])
        for entry in (entry for entry in entries if entry.facts["model"]):
            settings = self.recipe.objective_settings.get(entry.name, {})
            read.append(source_digest(str(settings.get(entry.facts["model"], ""))))
        return read

    def encoder_files(self) -> str:
        """A digest of the encoder's files; "" where the plan names it by another digest, or the files are not here."""
        if vector_file(self.plan.encoder_settings) is not None:
            return vector_file_digest(self.plan.encoder_settings)
        return "" if self.plan.started_from else source_digest(self.plan.encoder)

    def text_digests(self) -> set[str]:
        """Digests of the train and dev texts, and of those that the encoder was trained with before."""
        digests = {text_digest(example) for split in SPLITS for example in self.parts[split]}
        return digests | read_trained_texts(self.plan.encoder)

    def check_labels(self) -> None:
        """Raise `BadInput` for an empty part, or a label that is not among the classes."""
        for split in SPLITS:
            if not self.parts[split]:
                raise BadInput(
                    f"The {split} part has no examples; give more texts, of which 15 % are for dev where they come "
                    f"from one file, or a folder with train and dev."
                )
            gold_numbers(self.parts[split], self.plan.labels, self.plan.problem, split)


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

    folder: a finished one of this training is loaded, an unfinished one goes on. device: "cpu", "cuda" or "cuda:1".
    watch: what is seen of the model in between; it changes neither the model nor what names the training. afterwards:
    is called with the model, and may write further files of a trained folder before its manifest is written.
    Raises `BadInput` for empty parts or texts that cannot be read whole, `BadSetting` for a penalty or objective that
    does not fit, `BadFile` when the folder holds another run or model.
    """
    training = Training(parts, plan, recipe, TrainedFolder(folder))
    check_fit(recipe.penalties, plan.pooler, plan.pooler_settings)
    check_objectives(recipe, plan)
    check_beginnings(recipe, plan)
    check_span_count(recipe.spans, plan)
    check_measure(recipe, plan.problem)
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
    """Write the tokenizer's files again that are missing, from the encoder; raises `BadFile` where that cannot be read
    any more.
    """
    names = missing_tokenizer_files(files.path, state.damaged)
    if not names:
        return
    try:
        texts = [example.segments for example in training.parts["train"]]
        _, tokenizer = compose(training.plan, training.recipe.seed, texts)
    except PellucidError as error:
        raise BadFile(
            f"{files.path} lacks {listed(names)}, and the encoder that this is made from cannot be read "
            f"({reason(error)}); put it back, or remove the folder to train again."
        ) from None
    save_tokenizer(tokenizer, files.path, names)
    check_as_before(files, state, names)


def _run(training: Training, fingerprint: str, device: str, progress: Progress) -> TrainingRun:
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
    return TrainingRun(
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


def _record(training: Training, run: TrainingRun, history: list[dict[str, float]]) -> TrainingRecord:
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


# Whether texts are short enough to be trained on, checked before training begins.


def check_lengths(train: Batch, classifier: Classifier) -> None:
    """Raise `BadInput` for texts of several windows: training reads each text as one; means over windows are for
    explaining.
    """
    long = [example.id for example, row in zip(train.examples, train.rows, strict=True) if row.windows]
    if long:
        raise BadInput(
            f"{len(long):,} of the training texts are longer than the {classifier.max_length} pieces that "
            f"{classifier.name} reads as one (first: {long[0]!r}); {_way_out(classifier)}split them or leave them out."
        )


def check_units(split: str, batch: Batch, classifier: Classifier) -> None:
    """Raise `BadInput` for texts of more units than the pooler takes: some poolers need all span vectors in memory."""
    pooler = classifier.network.pooler
    most = pooler.most_units
    if most is None:
        return
    counts = [max(n_units(read, pooler.unit) for read in rows_of(row)) for row in batch.rows]
    long = [index for index, count in enumerate(counts) if count > most]
    if long:
        raise BadInput(
            f"{len(long)} {split} texts have more than {most} {pooler.unit}s (first: {batch.examples[long[0]].id!r} "
            f"with {counts[long[0]]}); with interaction={pooler.interaction!r} every span vector is held at once. Give "
            "interaction='factored' (--pooler-set interaction=factored), split the texts or leave them out."
        )


def _way_out(classifier: Classifier) -> str:
    """How this classifier could read longer texts; nothing for one that reads the most there is."""
    if classifier.max_length >= LONGEST:
        return ""
    return f"give max_length (--max-length), at most {LONGEST}, to read longer texts in windows that are joined, or "
