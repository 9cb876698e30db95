"""The training of a translator: its loss, and the folder that it is written to while it is trained."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from pellucid.base.checks import changes, quoted
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import check_folder, disk_errors, remove_unfinished, write_text
from pellucid.base.kinds import penalties
from pellucid.base.output_folder import OutputFolder
from pellucid.models.classifiers.in_memory import network_digest
from pellucid.models.classifiers.tokens import Tokenizer
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
    span_readings,
)
from pellucid.models.writing.tokenizing import encoded_source, encoded_target, two_texts
from pellucid.text.example import Example
from pellucid.training.checkpoint import BestWeights
from pellucid.training.trained_folder import LASTING, LOG, written_log


def translation_loss(
    network: Any,  # an encoder–decoder of some family
    inputs: Mapping[str, Tensor],
    label_smoothing: float,
    weights: Mapping[str, float],
) -> Tensor:
    """The mean over the written pieces of a batch, in nats.

    weights: name of a penalty -> its weight. Penalties are means over written pieces too: each step of the decoder
    counts as one example of those that they read.
    """
    with span_readings(network) as readings:
        logits = network(**inputs, use_cache=False, return_dict=True).logits
    labels = inputs["labels"]
    loss = functional.cross_entropy(
        logits.float().flatten(0, 1),
        labels.flatten(),
        ignore_index=NOT_LEARNT,
        label_smoothing=label_smoothing,
    )
    there = labels != NOT_LEARNT
    for name, weight in weights.items():
        if weight and readings:
            loss = loss + weight * penalties.get(name).make(readings[0])[there].mean()
    return loss


@torch.no_grad()
def piece_losses(network: Any, inputs: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:  # Any: see above
    """[batch piece] each: the loss of every written piece, 0 in padding, and whether it is the likeliest one."""
    logits = network(**inputs, use_cache=False, return_dict=True).logits.float()
    labels = inputs["labels"]
    losses = functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=NOT_LEARNT, reduction="none")
    return losses, (logits.argmax(-1) == labels) & (labels != NOT_LEARNT)


# Pairs of texts as numbers of pieces, and which of them make a step.

NOT_LEARNT = -100  # the label of padding, as the library has it


@dataclass(frozen=True)
class EncodedPairs:
    """sources, targets: the ids of each pair's pieces, special tokens among them."""

    sources: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def lengths(self) -> list[int]:
        """The pieces of the longer text of each pair."""
        return [max(len(s), len(t)) for s, t in zip(self.sources, self.targets, strict=True)]

    def tensors(self, indices: Sequence[int], pad: int, device: torch.device) -> dict[str, Tensor]:
        """What the network takes: source, where it is not padding, and the target as labels."""
        ids = _padded([self.sources[index] for index in indices], pad).to(device)
        labels = _padded([self.targets[index] for index in indices], NOT_LEARNT).to(device)
        lengths = torch.tensor([len(self.sources[index]) for index in indices], device=device)
        there = torch.arange(ids.shape[1], device=device) < lengths[:, None]
        return {"input_ids": ids, "attention_mask": there.long(), "labels": labels}


def encode_pairs(tokenizer: Tokenizer, pairs: Sequence[Example], most: int, name: str) -> EncodedPairs:
    """The pairs in pieces, nothing cut.

    most: the pieces that a network reads or writes at once. name: what messages call the part. Raises `BadInput` for an
    example with one text, for one that is too long, and for no pairs.
    """
    if not pairs:
        raise BadInput(f"There is no pair of texts to learn from in the part {name}.")
    texts = [two_texts(example, f"a translator ({name})") for example in pairs]
    encoded = EncodedPairs(
        tuple(tuple(encoded_source(tokenizer, source)["input_ids"]) for source, _ in texts),
        tuple(tuple(encoded_target(tokenizer, target)["input_ids"]) for _, target in texts),
    )
    for example, length in zip(pairs, encoded.lengths, strict=True):
        if length > most:
            raise BadInput(
                f"Example {quoted(example.id)} of {name} has a text of {length} pieces, and the translator reads "
                f"{most} at once; leave such pairs out, or shorten them."
            )
    return encoded


def batches(lengths: Sequence[int], batch_pieces: int) -> list[list[int]]:
    """The indices of each batch: pairs of similar length, of which a batch has at most so many pieces with its padding.

    A pair that is longer is a batch by itself. Batches depend on the lengths alone.
    """
    cut: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda pair_index: (lengths[pair_index], pair_index)):
        if not cut or (len(cut[-1]) + 1) * lengths[index] > batch_pieces:
            cut.append([])
        cut[-1].append(index)
    return cut


def epoch_order(lengths: Sequence[int], batch_pieces: int, seed: int, epoch: int) -> list[list[int]]:
    """The batches of one epoch: pairs of equal length change places, and batches come in another order; as many each
    epoch.
    """
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    shuffled = torch.randperm(len(lengths), generator=generator).tolist()
    cut = batches([lengths[index] for index in shuffled], batch_pieces)
    return [
        [shuffled[position] for position in cut[index]]
        for index in torch.randperm(len(cut), generator=generator).tolist()
    ]


def _padded(rows: Sequence[Sequence[int]], blank: int) -> Tensor:
    longest = max(map(len, rows))
    flat = chain.from_iterable((*row, *[blank] * (longest - len(row))) for row in rows)
    return torch.tensor(list(flat)).reshape(len(rows), longest)


# The folder that a translator is written to, also before and while it is trained.


@dataclass(frozen=True)
class TranslatorOut:
    """config.json is written last, so the translator is whole when it is there; the other files are as `TrainedFolder`
    has them.
    """

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
        names = [CONFIG, WEIGHTS, LOG, TRAINED_TEXTS, *TOKENIZER_FILES]
        return OutputFolder(self.path, "train-translator", fingerprint, names, lasting=LASTING)

    @property
    def is_complete(self) -> bool:
        """Whether a translator is here."""
        return is_translator(self.path)

    def load(self, fingerprint: str, settings: Mapping[str, Mapping[str, object]]) -> TranslatorParts:
        """The translator that is here; raises `BadFile` where it is of another training, or broken. settings: of its
        plan and recipe.
        """
        self.check_run(fingerprint, settings)
        parts = load_translator(self.path)
        if parts.trained.get("weights") != network_digest(parts.network, []):
            raise BadFile(f"{self.path} holds other weights than were trained in it; remove it to train again.")
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
        """Make the folder; raises `BadFile` where another model or another run's files are, or where nothing can be
        written.
        """
        if (self.path / CONFIG).exists() or self.files(fingerprint).holds_other_work():
            raise BadFile(f"{self.path} holds another model; give another folder, so that it is not overwritten.")
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
        network.load_state_dict({name: (total / len(of_epochs)).to(kinds[name]) for name, total in sums.items()})

    def save(self, parts: TranslatorParts, digests: Iterable[str]) -> None:
        """Write the translator, and the digests of the pairs that it was made with."""
        write_trained_texts(digests, self.path)
        save_translator(parts, self.path)

    def remove_working_files(self) -> None:
        """Remove what an interrupted training goes on from, once the translator is saved, and what killed writes
        left.
        """
        for path in (self.checkpoint, *self.path.glob("epoch-*.safetensors")):
            path.unlink(missing_ok=True)
        remove_unfinished(self.path)


def history_of(parts: TranslatorParts) -> list[dict[str, float]]:
    """The numbers of each epoch, as a trained translator's config.json has them."""
    history = parts.trained["history"]
    assert isinstance(history, list)  # its weights are those that training described there
    return cast(list[dict[str, float]], history)
