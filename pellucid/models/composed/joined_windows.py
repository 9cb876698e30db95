"""Texts longer than an encoder reads: it reads them in overlapping windows, whose states are joined into one sequence.

Windows are cut as in `core/passes/windows.py`, by positions alone: an edited text is read in the windows of the whole one. A
piece's state comes from the window in which it stands farthest from a cut; what stands equally far in several (special
tokens, the short text of a pair) gets the mean of its states there. So whatever reads the states sees the whole text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import has_torch_function
from torch.utils.checkpoint import checkpoint

from pellucid.core.foundation.checks import between, of_kind
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.batch import Row
from pellucid.core.passes.scheduler import Scheduler, default_budget
from pellucid.core.passes.windows import pieces_in, windows_of
from pellucid.core.text.units import SPECIAL
from pellucid.models.classifiers.collation import first_position
from pellucid.models.classifiers.hooks import output_through

SHORTEST = 8  # pieces
LONGEST = 4096  # pieces of a joined text: spans are weighed in pairs, so memory grows with the square
GROUP = 4096  # pieces that a device other than a processor reads at once


def window_of(encoder: Any, max_length: int | None) -> int | None:
    """The pieces of a window, the most that the encoder reads at once; None where texts of max_length need no windows.

    Raises `BadSetting` for a max_length below 8 or above 4,096.
    """
    if max_length is None:
        return None
    between("max_length", of_kind("max_length", max_length, int), SHORTEST, LONGEST)
    positions = getattr(encoder.config, "max_position_embeddings", None)
    if positions is None:
        return None
    at_once = int(positions) - first_position(encoder)
    return at_once if max_length > at_once else None


def encoder_states(
    encoder: Any,
    window: int | None,
    input_ids: Tensor,
    attention_mask: Tensor,
    position_ids: Tensor,
    segments: Tensor,
    token_type_ids: Tensor | None,
) -> Tensor:
    """All [batch piece] -> [batch piece width], the encoder's last states; token types only for encoders that know them.

    Rows longer than a window are read in windows that are joined.
    """
    read = {"input_ids": input_ids, "attention_mask": attention_mask, "position_ids": position_ids}
    if token_type_ids is not None and getattr(encoder.config, "type_vocab_size", 0) > 1:
        read["token_type_ids"] = token_type_ids
    if window is not None and int(position_ids.max()) - first_position(encoder) >= window:
        return joined_states(encoder, read | {"segments": segments}, window, encoder.training)
    return encoder(**read).last_hidden_state


def check_ends(tokenizer: Any, encoder: str) -> None:
    """Raise `BadSetting` for a tokenizer that marks no end: without its last pieces a text would be cut otherwise."""
    if tokenizer("a")["input_ids"][-1] not in tokenizer.all_special_ids:
        raise BadSetting(
            f"max_length is more than {encoder} reads at once, and its tokenizer puts no special token at a text's end, "
            "which joined windows need; leave max_length away."
        )


@dataclass(frozen=True)
class _Window:
    """columns: where its pieces stand in the row. places: where they stand in the window. shares: of their joined state."""

    columns: np.ndarray
    places: np.ndarray
    shares: np.ndarray


def joined_states(encoder: Any, columns: dict[str, Tensor], limit: int, training: bool) -> Tensor:
    """[batch piece width]: the encoder's last states for columns [batch piece] of rows of any length.

    columns: what the encoder takes, and `segments`. limit: the most pieces it reads at once. training: windows are
    computed again in the backward pass, so that no more than a group of them is held. Word embeddings are looked up once
    for the whole rows, so whoever hooks into them sees the text and not its windows.
    """
    embedding = encoder.get_input_embeddings()
    words = embedding(columns["input_ids"])
    windows = _windows(columns, limit, first_position(encoder))
    shape = columns["input_ids"].shape
    read = {name: column for name, column in columns.items() if name != "segments"}

    def run(group: _Group, words: Tensor) -> Tensor:
        picked = group.pick(words)
        with output_through(embedding, lambda _: picked):
            states = encoder(**group.inputs(read, first_position(encoder))).last_hidden_state
        return states.flatten(0, 1)[group.shared] * group.shares[:, None].to(states.dtype)

    groups = _groups(windows, shape, words)
    again = training and torch.is_grad_enabled() and len(groups) > 1
    found = [
        checkpoint(run, group, words, use_reentrant=False) if again else run(group, words) for group in groups
    ]
    places = torch.cat([group.index.flatten()[group.shared] for group in groups])
    states = torch.cat(found)
    joined = states.new_zeros(shape.numel(), states.shape[-1]).index_add(0, places, states)
    return joined.view(*shape, -1)


@dataclass(frozen=True, eq=False)
class _Group:
    """Windows that run together. index: [window slot] place in [batch * piece]; there: whether a slot holds a piece.

    shared: numbers in [window * slot] of the pieces whose states are taken, and shares: how much of each.
    """

    index: Tensor
    there: Tensor
    places: Tensor
    shared: Tensor
    shares: Tensor

    def pick(self, values: Tensor) -> Tensor:
        """[batch piece ...] -> [window slot ...]"""
        return values.flatten(0, 1)[self.index]

    def inputs(self, columns: dict[str, Tensor], first: int) -> dict[str, Tensor]:
        """What the encoder takes for these windows, each read from its first position on."""
        picked = {name: self.pick(column) for name, column in columns.items()}
        picked["attention_mask"] = picked["attention_mask"] * self.there
        return picked | {"position_ids": self.places + first}


def _groups(windows: Sequence[Sequence[_Window]], shape: torch.Size, words: Tensor) -> list[_Group]:
    """The windows of all rows in groups of about a budget of pieces.

    Under a relevance policy, which tells examples by their places in the batch, they are one group of equally many a row.
    """
    flat = [(row, window) for row, found in enumerate(windows) for window in found]
    if has_torch_function((words,)):
        most = max(map(len, windows))
        even = [
            (row, found[min(n, len(found) - 1)], n < len(found))
            for row, found in enumerate(windows)
            for n in range(most)
        ]
        return [_group(even, shape[1], words.device)]
    budget = default_budget(words.device) if words.device.type == "cpu" else GROUP
    packs = Scheduler(budget).packs([len(window.columns) for _, window in flat])
    return [_group([(*flat[number], True) for number in pack], shape[1], words.device) for pack in packs]


def _group(windows: Sequence[tuple[int, _Window, bool]], n_columns: int, device: torch.device) -> _Group:
    """windows: (row, window, whether its states are taken)."""
    longest = max(len(window.columns) for _, window, _ in windows)
    index, places = (np.zeros((len(windows), longest), dtype=np.int64) for _ in range(2))
    there, shares = np.zeros(index.shape, dtype=bool), np.zeros(index.shape)
    for line, (row, window, taken) in enumerate(windows):
        count = len(window.columns)
        index[line, :count] = row * n_columns + window.columns
        places[line, :count] = window.places
        there[line, :count] = True
        shares[line, :count] = window.shares if taken else 0.0
    shared = np.flatnonzero(shares)
    tensors = (index, there, places, shared, shares.flatten()[shared])
    return _Group(*(torch.from_numpy(values).to(device) for values in tensors))


def _windows(columns: dict[str, Tensor], limit: int, first: int) -> list[list[_Window]]:
    """The windows of every row of a batch."""
    attended = columns["attention_mask"].bool().cpu().numpy()
    positions = columns["position_ids"].cpu().numpy() - first
    segments = columns["segments"].cpu().numpy()
    ends = [int(line.nonzero()[0].max(initial=0)) + 1 for line in attended]
    # Where absent pieces keep their places, a column is a position.
    spread = any(not line[:end].all() for line, end in zip(attended, ends, strict=True))
    found = []
    for row, end in enumerate(ends):
        place = np.arange(end) if spread else positions[row, :end]
        special = (segments[row, :end] == SPECIAL) & attended[row, :end]
        found.append(_windows_of(place, special, limit))
    return found


def _windows_of(positions: np.ndarray, special: np.ndarray, limit: int) -> list[_Window]:
    """The windows of one row, its columns' positions and which of them are special tokens."""
    length = int(positions[-1]) + 1
    column_at = np.full(length, -1)
    column_at[positions] = np.arange(len(positions))
    found = []
    for held, shares in _cut(length, tuple(positions[special].tolist()), limit):
        columns = column_at[held]
        kept = columns >= 0
        if kept.any():
            found.append(_Window(columns[kept], np.flatnonzero(kept), shares[kept]))
    return found


@lru_cache(maxsize=64)  # an edited text has the windows of the whole one
def _cut(length: int, specials: tuple[int, ...], limit: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each window of a text of so many positions, the positions it holds and its shares of their joined states."""
    row = _whole(length, specials)
    windows = windows_of(row, limit) or (((0, length),),)
    held = [np.array(pieces_in(row, window)) for window in windows]
    depths = np.full((len(windows), length), -1)
    for depth, window in zip(depths, windows, strict=True):
        for start, end in window:
            depth[start:end] = _depths(row, start, end)
    farthest = depths == depths.max(0)
    shares = farthest / farthest.sum(0)
    return [(pieces, shares[number, pieces]) for number, pieces in enumerate(held)]


def _whole(length: int, specials: tuple[int, ...]) -> Row:
    """A row that has every position; its texts are what stands between special tokens."""
    inside = np.isin(np.arange(length), specials, invert=True)
    text = np.cumsum(inside & ~np.r_[False, inside[:-1]]) - 1
    count = tuple(range(length))
    return Row(count, (0,) * length, count, count, tuple(np.where(inside, text, SPECIAL).tolist()))


def _depths(row: Row, start: int, end: int) -> np.ndarray:
    """How far positions [start, end) of a window stand from the nearest cut; the ends of a text are none."""
    place, far = np.arange(start, end), len(row)
    before = place - start + 1 if start and row.segments[start - 1] == row.segments[start] else far
    after = end - place if end < far and row.segments[end] == row.segments[end - 1] else far
    return np.minimum(np.minimum(before, after), far)
