"""A folder that a training run writes to: what stands in it, and the one place that reads and writes it.

config.json            the model's plan and, under "trained", its training; written last, when the run has ended
model.safetensors      the weights of the best epoch, beside the tokenizer's files
metrics.jsonl          the numbers of each epoch, a line an epoch
trained_texts.txt      a digest of every train and dev text
upgrade.json           of a model that began with a classifier: accuracy before and after; `training/door.py` writes it
watched/               what was seen of the training, where it was watched
pellucid-manifest.json digests of these files, once the run has ended; see `base/output_folder.py`
checkpoint.safetensors, best.safetensors    only until the run has ended: what an interrupted run goes on from
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from pellucid.base.checks import changes
from pellucid.base.errors import BadFile
from pellucid.base.files import check_folder, disk_errors, remove_unfinished, write_text
from pellucid.base.output_folder import OutputFolder
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.in_memory import network_digest
from pellucid.models.composed.composed import (
    CONFIG,
    TOKENIZER_FILES,
    WEIGHTS,
    is_composed,
    load_composed,
    read_trained_texts,
    save_composed,
    write_trained_texts,
)
from pellucid.models.composed.composed import FILE as TRAINED_TEXTS
from pellucid.models.composed.networks import Plan
from pellucid.models.folders.configuration import read_object
from pellucid.results.heaviest_spans import HeaviestSpans

CHECKPOINT, BEST, LOG = "checkpoint.safetensors", "best.safetensors", "metrics.jsonl"
UPGRADE, WATCHED = "upgrade.json", "watched"
ONLY_TRAINING = "has damage that only training mends; put the file back, or remove the folder to train again"
LASTING = {
    WEIGHTS: "holds other weights than were trained in it; remove it to train again",
    CONFIG: ONLY_TRAINING,
    f"{WATCHED}/*": ONLY_TRAINING,
}


class TrainingRecord(TypedDict, total=False):
    """How a model was trained, as its config.json says; files of earlier versions lack some parts.

    recipe: every setting. history: the numbers of each epoch. fingerprint: names texts, plan and recipe. examples: how
    many train texts. encoder_files, weights: digests. heaviest_spans: counts over some dev texts in the best epoch.
    layer_weights: the learnt share of each layer in what spans are built from, where there is such a mean. segments: of
    each train text, 2 for pairs, where all have as many.
    """

    recipe: dict[str, object]
    history: list[dict[str, float]]
    fingerprint: str
    examples: int
    encoder_files: str
    weights: str
    heaviest_spans: dict[str, Any]
    layer_weights: list[float]
    segments: int


@dataclass(frozen=True)
class TrainedFolder:
    """A trained model's folder, also before and while it is trained."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        """The file that an interrupted run goes on from."""
        return self.path / CHECKPOINT

    @property
    def best_weights(self) -> Path:
        """The file with the weights of the best epoch so far."""
        return self.path / BEST

    @property
    def log(self) -> Path:
        """The file with the numbers of each epoch."""
        return self.path / LOG

    @property
    def trained_texts_file(self) -> Path:
        """The file with the digests of the texts that the model was trained with."""
        return self.path / TRAINED_TEXTS

    def files(self, fingerprint: str) -> OutputFolder:
        """What the training of this name makes in the folder."""
        names = [CONFIG, WEIGHTS, LOG, TRAINED_TEXTS, UPGRADE, f"{WATCHED}/*", *TOKENIZER_FILES]
        return OutputFolder(self.path, "train", fingerprint, names, lasting=LASTING)

    @property
    def is_complete(self) -> bool:
        """Whether training has ended and the model is here."""
        return is_composed(self.path)

    @property
    def record(self) -> TrainingRecord:
        """How the model was trained; empty where that was not written down. Raises `BadFile` without a model."""
        record = read_object(self.path / CONFIG).get("trained")
        return cast(TrainingRecord, record) if isinstance(record, dict) else {}

    @property
    def fingerprint(self) -> str | None:
        """What names the run: its texts, plan and recipe; None where it was not written down."""
        return self.record.get("fingerprint")

    @property
    def history(self) -> list[dict[str, float]]:
        """The numbers of each epoch."""
        return list(self.record["history"])

    @property
    def heaviest_spans(self) -> HeaviestSpans:
        """The heaviest spans of some dev texts in the best epoch; none of an earlier version's folder, or without
        spans.
        """
        return HeaviestSpans(**self.record.get("heaviest_spans", {}))

    @property
    def trained_texts(self) -> frozenset[str]:
        """Digests of the texts that the model was trained with."""
        return read_trained_texts(self.path)

    @property
    def is_writable(self) -> bool:
        """Whether files may be written to the folder."""
        return os.access(self.path, os.W_OK)

    def load(self) -> Classifier:
        """The trained model, on the processor; raises `BadFile` where a part of it is missing or broken."""
        return load_composed(self.path)

    def load_checked(
        self, fingerprint: str, settings: Mapping[str, object], encoder: str, encoder_files: str
    ) -> Classifier:
        """The trained model, if it is of this run and still as it was trained; else raises `BadFile`.

        The arguments are those of `check_run`. Folders of earlier versions lack the weights' digest, which is not
        compared then.
        """
        self.check_run(fingerprint, settings, encoder, encoder_files)
        model, record = self.load(), self.record
        if "weights" in record and record["weights"] != network_digest(model.network, []):
            raise BadFile(f"{self.path} holds other weights than were trained in it; remove it to train again.")
        return model

    def check_run(self, fingerprint: str, settings: Mapping[str, object], encoder: str, encoder_files: str) -> None:
        """Raise `BadFile` where the model that is here is of another run.

        settings: of the run's plan and recipe. encoder_files: the digest of the files that the encoder is read from; ""
        where it is unknown. Folders of earlier versions lack that digest, which is not compared then.
        """
        record = self.record
        if record.get("fingerprint") != fingerprint:
            differ = changes(self._settings(settings), settings)
            raise BadFile(
                f"{self.path} holds a model trained otherwise "
                f"({differ or 'with other texts, labels or marks, or another model that an objective reads'}); give "
                f"another folder, or remove this one."
            )
        before = record.get("encoder_files")
        if before and encoder_files and before != encoder_files:
            raise BadFile(
                f"{self.path} holds a model trained otherwise: the files of the encoder {encoder} are not what they "
                "were; give another folder, or remove this one."
            )

    def _settings(self, wanted: Mapping[str, object]) -> dict[str, object]:
        """The plan and recipe of the model that is here, as config.json has them. wanted: those of a run, whose names
        are read.
        """
        config, recipe = read_object(self.path / CONFIG), self.record.get("recipe")
        plan = {name: config[name] for name in wanted if name in config and name != "trained"}
        return plan | (recipe if isinstance(recipe, dict) else {})

    def check_free(self, fingerprint: str) -> None:
        """Raise `BadFile` where another program's model or another run's files are, or where nothing can be written."""
        if (self.path / CONFIG).exists() or self.files(fingerprint).holds_other_work():
            raise BadFile(f"{self.path} holds another model; give another folder, so that it is not overwritten.")
        check_folder(self.path)

    def create(self) -> None:
        """Make the folder, if it is not there."""
        with disk_errors("write", self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def write_log(self, history: Sequence[Mapping[str, float]]) -> None:
        """Write the numbers of each epoch, a line an epoch."""
        write_text(self.log, written_log(history))

    def write_model(self, model: Classifier, plan: Plan) -> None:
        """Write the model, with its plan; afterwards the folder is complete."""
        save_composed(model.network, model.tokenizer, plan, self.path)

    def write_trained_texts(self, digests: Iterable[str]) -> None:
        """Write the digests of the texts that the model was trained with."""
        write_trained_texts(digests, self.path)

    def remove_working_files(self) -> None:
        """Remove what an interrupted run goes on from, once the model is saved, and what killed writes left."""
        for path in (self.checkpoint, self.best_weights):
            if path.exists():  # in a folder that may only be read, removing nothing is an error too
                path.unlink()
        remove_unfinished(self.path)


def written_log(history: Sequence[Mapping[str, float]]) -> str:
    """The numbers of each epoch, a line an epoch."""
    return "".join(json.dumps(numbers) + "\n" for numbers in history)


def remake_notes(files: OutputFolder, history: Sequence[Mapping[str, float]], digests: Collection[str]) -> list[str]:
    """Write the log of a finished run again, and the digests of its texts where some are missing.

    Returns the names of those that were there and were others.
    """
    remade = files.rewritten([LOG], lambda: write_text(files.path / LOG, written_log(history)))
    if not set(digests) <= read_trained_texts(files.path):
        remade += files.rewritten([TRAINED_TEXTS], lambda: write_trained_texts(digests, files.path))
    return remade
