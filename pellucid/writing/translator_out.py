"""The folder that a translator is written to, also before and while it is trained."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import load_file
from torch import nn

from pellucid.base.errors import BadFile
from pellucid.base.files import check_folder, disk_errors, remove_unfinished, write_text
from pellucid.base.output_folder import OutputFolder
from pellucid.base.wording import changes
from pellucid.models.classifiers.digest import network_digest
from pellucid.models.composed.composed import FILE as TRAINED_TEXTS
from pellucid.models.composed.composed import TOKENIZER_FILES, write_trained_texts
from pellucid.models.folders.configuration import read_object
from pellucid.models.translation.translator_folder import (
    CONFIG,
    WEIGHTS,
    TranslatorParts,
    is_translator,
    load_translator,
    save_translator,
)
from pellucid.training.checkpoint import BestWeights
from pellucid.training.trained_folder import LASTING, LOG, written_log


@dataclass(frozen=True)
class TranslatorOut:
    """config.json is written last, so the translator is whole when it is there; the other files are as `TrainedFolder` has them."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        """The file that an interrupted training goes on from."""
        return self.path / "checkpoint.safetensors"

    def epoch_weights(self, epoch: int, seal: str) -> BestWeights:
        """The weights at the end of an epoch, on disk until training has ended."""
        return BestWeights(self.path / f"epoch-{epoch}.safetensors", seal)

    def files(self, fingerprint: str) -> OutputFolder:
        """What the training of this name makes in the folder."""
        own = [CONFIG, WEIGHTS, LOG, TRAINED_TEXTS, *TOKENIZER_FILES]
        return OutputFolder(self.path, "train-translator", fingerprint, own, lasting=LASTING)

    @property
    def is_complete(self) -> bool:
        """Whether a translator is here."""
        return is_translator(self.path)

    def load(self, fingerprint: str, settings: Mapping[str, Mapping[str, object]]) -> TranslatorParts:
        """The translator that is here; raises `BadFile` where it is of another training, or broken. settings: of its plan and recipe."""
        self.check_run(fingerprint, settings)
        parts = load_translator(self.path)
        if parts.trained.get("weights") != network_digest(parts.network, []):
            raise BadFile(
                f"{self.path} holds other weights than were trained in it; remove it to train again."
            )
        return parts

    def check_run(self, fingerprint: str, settings: Mapping[str, Mapping[str, object]]) -> None:
        """Raise `BadFile` where the translator that is here is of another training."""
        record = read_object(self.path / CONFIG).get("trained")
        trained = record if isinstance(record, dict) else {}
        if trained.get("fingerprint") != fingerprint:
            before = {name: trained.get(name, {}) for name in settings}
            differ = changes(before, settings) or "with other pairs"
            raise BadFile(
                f"{self.path} holds a translator trained otherwise ({differ}); give another folder, or remove this one."
            )

    @property
    def is_writable(self) -> bool:
        """Whether files may be written to the folder."""
        return os.access(self.path, os.W_OK)

    def create(self, fingerprint: str) -> None:
        """Make the folder; raises `BadFile` where another model or another run's files are, or where nothing can be written."""
        if (self.path / CONFIG).exists() or self.files(fingerprint).holds_other_work():
            raise BadFile(
                f"{self.path} holds another model; give another folder, so that it is not overwritten."
            )
        check_folder(self.path)
        with disk_errors("write", self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def write_log(self, history: Sequence[Mapping[str, float]]) -> None:
        """Write the numbers of each epoch, a line an epoch."""
        write_text(self.path / LOG, written_log(history))

    def load_mean(self, network: nn.Module, epochs: Iterable[int], seal: str) -> None:
        """Put the mean of the weights at the ends of these epochs into a network."""
        sums: dict[str, torch.Tensor] = {}
        of_epochs = [self.epoch_weights(epoch, seal) for epoch in epochs]
        for epoch, weights in zip(epochs, of_epochs, strict=True):
            weights.check({epoch})
            for name, tensor in load_file(weights.path).items():
                sums[name] = sums.get(name, 0.0) + tensor.double()
        kinds = {name: tensor.dtype for name, tensor in network.state_dict().items()}
        network.load_state_dict(
            {name: (total / len(of_epochs)).to(kinds[name]) for name, total in sums.items()}
        )

    def save(self, parts: TranslatorParts, digests: Iterable[str]) -> None:
        """Write the translator, and the digests of the pairs that it was made with."""
        write_trained_texts(digests, self.path)
        save_translator(parts, self.path)

    def remove_working_files(self) -> None:
        """Remove what an interrupted training goes on from, once the translator is saved, and what killed writes left."""
        for path in (self.checkpoint, *self.path.glob("epoch-*.safetensors")):
            path.unlink(missing_ok=True)
        remove_unfinished(self.path)


def history_of(parts: TranslatorParts) -> list[dict[str, float]]:
    """The numbers of each epoch, as a trained translator's config.json has them."""
    history = parts.trained["history"]
    assert isinstance(history, list)  # its weights are those that training described there
    return cast(list[dict[str, float]], history)
