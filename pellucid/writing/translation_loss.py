"""The loss of a translator: smoothed cross-entropy of each piece after those before it, and penalties of span weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from pellucid.base.errors import BadInput
from pellucid.base.kinds import penalties
from pellucid.base.wording import quoted
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.translation.translator_folder import span_readings
from pellucid.models.writing.tokenizing import encoded_source, encoded_target, two_texts
from pellucid.text.example import Example


def translation_loss(
    network: Any,  # an encoder–decoder of some family
    inputs: Mapping[str, Tensor],
    label_smoothing: float,
    weights: Mapping[str, float],
) -> Tensor:
    """The mean over the written pieces of a batch, in nats.

    weights: name of a penalty -> its weight. Penalties are means over written pieces too: each step of the decoder counts as
    one example of those that they read.
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
    losses = functional.cross_entropy(
        logits.transpose(1, 2), labels, ignore_index=NOT_LEARNT, reduction="none"
    )
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

    most: the pieces that a network reads or writes at once. name: what messages call the part. Raises `BadInput` for an example
    with one text, for one that is too long, and for no pairs.
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
                f"Example {quoted(example.id)} of {name} has a text of {length} pieces, and the translator reads {most} at "
                "once; leave such pairs out, or shorten them."
            )
    return encoded


def batches(lengths: Sequence[int], batch_pieces: int) -> list[list[int]]:
    """The indices of each batch: pairs of similar length, of which a batch has at most so many pieces with its padding.

    A pair that is longer is a batch by itself. Batches depend on the lengths alone.
    """
    cut: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda number: (lengths[number], number)):
        if not cut or (len(cut[-1]) + 1) * lengths[index] > batch_pieces:
            cut.append([])
        cut[-1].append(index)
    return cut


def epoch_order(lengths: Sequence[int], batch_pieces: int, seed: int, epoch: int) -> list[list[int]]:
    """The batches of one epoch: pairs of equal length change places, and batches come in another order; as many each epoch."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    shuffled = torch.randperm(len(lengths), generator=generator).tolist()
    cut = batches([lengths[index] for index in shuffled], batch_pieces)
    return [
        [shuffled[number] for number in cut[index]]
        for index in torch.randperm(len(cut), generator=generator).tolist()
    ]


def _padded(rows: Sequence[Sequence[int]], blank: int) -> Tensor:
    longest = max(map(len, rows))
    flat = chain.from_iterable((*row, *[blank] * (longest - len(row))) for row in rows)
    return torch.tensor(list(flat)).reshape(len(rows), longest)
