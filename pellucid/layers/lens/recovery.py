"""What a lens names from each layer of dev texts, with translators and without; and which translators are better than none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from pellucid.base.progress import Progress
from pellucid.layers.lens.translators import FrozenStates, divergence
from pellucid.models.language_heads.lens import Translators
from pellucid.models.language_heads.lens_table import LayerRecovery, LensTable
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.results.table import Interval
from pellucid.run.batch import Row
from pellucid.training.objectives.masked_words import content_of

RESAMPLES = 1000
Reading = Callable[[Tensor], Tensor]  # states of a layer as the head reads them


@dataclass(frozen=True)
class LayerCounts:
    """One way to read one layer.

    right: [row], how many pieces are named first. kl: [row], the sum of their divergences in nats.
    """

    right: np.ndarray
    kl: np.ndarray

    def is_better_than(self, other: "LayerCounts") -> bool:
        """Whether it diverges less and names no fewer pieces."""
        return bool(self.kl.sum() < other.kl.sum() and self.right.sum() >= other.right.sum())


def lens_table(
    head: MaskedHead, translators: Translators, states: FrozenStates, rows: Sequence[Row], progress: Progress
) -> LensTable:
    """Each layer as the head alone and as the translated head reads it, on the pieces of text of dev rows.

    A translator is better than none where its divergence is lower and it names no fewer pieces first; else the layer is
    read by the head alone, so no layer is worse with a lens than with the head.
    """
    n_layers, width = states.model.n_layers, head.dense.in_features
    ways: dict[tuple[int, bool], list[tuple[int, float]]] = {
        (layer, translated): [] for layer in range(n_layers + 1) for translated in (False, True)
    }
    readings = _readings(translators, n_layers, width)
    for number, row in enumerate(rows):
        for way, counts in _counts(head, readings, states, row).items():
            ways[way].append(counts)
        progress("judging", number + 1, len(rows))
    sizes = np.array([len(content_of(row)) for row in rows])
    counted = {way: _joined(counts) for way, counts in ways.items() if counts}
    return LensTable(
        tuple(_layer(layer, counted, sizes) for layer in range(n_layers + 1)), len(rows), int(sizes.sum())
    )


def _readings(translators: Translators, n_layers: int, width: int) -> dict[tuple[int, bool], Reading]:
    """(layer, whether it is translated) -> how its states are read; bare ones only where the head can read them."""
    readings: dict[tuple[int, bool], Reading] = {}
    for layer in range(n_layers + 1):
        if layer == n_layers or translators.of_layer[layer].in_features == width:
            readings[layer, False] = lambda states: states
        if layer < n_layers:
            readings[layer, True] = translators.of_layer[layer]
    return readings


@torch.no_grad()
def _counts(
    head: MaskedHead, readings: dict[tuple[int, bool], Reading], states: FrozenStates, row: Row
) -> dict[tuple[int, bool], tuple[int, float]]:
    """(layer, whether it is translated) -> pieces that are named first, and the sum of divergences, of one row."""
    content = content_of(row)
    hidden = states.of([row], [content], range(states.model.n_layers + 1))
    ids = torch.tensor([row.ids[number] for number in content], device=hidden[-1].device)
    counts = dict.fromkeys(readings, (0, 0.0))
    for part in head.slices_of_places(len(ids)):
        teacher = log_softmax(head(hidden[-1][part]), -1)
        for way, reading in readings.items():
            logits = head(reading(hidden[way[0]][part]))
            right = int((logits.argmax(-1) == ids[part]).sum())
            kl = float(divergence(teacher, logits).double().sum())
            counts[way] = counts[way][0] + right, counts[way][1] + kl
    return counts


def _joined(counts: Sequence[tuple[int, float]]) -> LayerCounts:
    return LayerCounts(np.array([right for right, _ in counts]), np.array([kl for _, kl in counts]))


def _layer(layer: int, counted: dict[tuple[int, bool], LayerCounts], sizes: np.ndarray) -> LayerRecovery:
    bare, own = counted.get((layer, False)), counted.get((layer, True))
    translated = own is not None and (bare is None or own.is_better_than(bare))
    reading = own if translated else bare
    assert reading is not None  # each layer can be read in one way at least
    return LayerRecovery(
        layer,
        share_over_rows(reading.right, sizes),
        float(reading.kl.sum() / sizes.sum()),
        None if bare is None else share_over_rows(bare.right, sizes),
        None if bare is None else float(bare.kl.sum() / sizes.sum()),
        translated,
    )


def share_over_rows(right: np.ndarray, sizes: np.ndarray) -> Interval:
    """The share of all pieces, with a 95 % interval: whole rows are drawn again, since pieces of one text go together.

    Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13: percentiles of resamples.
    """
    drawn = np.random.default_rng(0).integers(len(sizes), size=(RESAMPLES, len(sizes)))
    shares = right[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.percentile(shares, (2.5, 97.5))
    return Interval(float(right.sum() / sizes.sum()), float(low), float(high))
