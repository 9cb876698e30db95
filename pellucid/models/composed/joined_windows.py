"""Texts longer than an encoder reads: it reads them in overlapping windows, whose states are joined into one sequence.

Windows are cut as in `run/windows.py`, by positions alone: an edited text is read in the windows of the whole one. A
piece's state comes from the window in which it stands farthest from a cut; what stands equally far in several (special
tokens, the short text of a pair) gets the mean of its states there. So whatever reads the states sees the whole text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.overrides import has_torch_function
from torch.utils.checkpoint import checkpoint

from pellucid.base.checks import between, of_kind
from pellucid.base.errors import BadSetting
from pellucid.models.classifiers.hooks import output_through
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.lower_layers import last_states
from pellucid.models.families.encoder import Encoder
from pellucid.models.families.probes import first_position, knows_token_types, most_positions
from pellucid.models.pooling.pooler import PieceTensors
from pellucid.run.batch import Row
from pellucid.run.scheduler import Scheduler, default_budget
from pellucid.run.windows import pieces_in, windows_of
from pellucid.text.units import SPECIAL

ReadStates = Callable[[Encoder, Mapping[str, Tensor]], Tensor]  # an encoder and its columns [batch piece] -> states
SHORTEST = 8  # pieces
LONGEST = 4096  # pieces of a joined text: spans are weighed in pairs, so memory grows with the square
GROUP = 4096  # pieces that a device other than a processor reads at once


def window_of(encoder: Encoder, max_length: int | None) -> int | None:
    """The pieces of a window, the most that the encoder reads at once; None where texts of max_length need no windows.

    Raises `BadSetting` for a max_length below 8 or above 4,096.
    """
    if max_length is None:
        return None
    between("max_length", of_kind("max_length", max_length, int), SHORTEST, LONGEST)
    positions = most_positions(encoder.config)
    if positions is None:
        return None
    at_once = positions - first_position(encoder)
    return at_once if max_length > at_once else None


def encoder_states(
    encoder: Encoder, window: int | None, pieces: PieceTensors, read: ReadStates = last_states
) -> Tensor:
    """[batch piece width]: the states that `read` takes from the encoder; token types only for encoders that know them.

    window: the most pieces that the encoder reads at once; longer rows are read in windows that are joined. None: all
    are read at once.
    """
    columns = pieces.of_encoder()
    if pieces.token_type_ids is not None and knows_token_types(encoder.config):
        columns["token_type_ids"] = pieces.token_type_ids
    if window is not None and int(pieces.position_ids.max()) - first_position(encoder) >= window:
        return joined_states(encoder, columns, pieces.segments, limit=window, recompute=encoder.training, read=read)
    return read(encoder, columns)


def check_ends(tokenizer: Tokenizer, encoder: str) -> None:
    """Raise `BadSetting` for a tokenizer that marks no end: without its last pieces a text would get other windows."""
    if tokenizer("a")["input_ids"][-1] not in tokenizer.all_special_ids:
        raise BadSetting(
            f"max_length is more than {encoder} reads at once, and its tokenizer puts no special token at a text's "
            f"end, which joined windows need; leave max_length away."
        )


@dataclass(frozen=True)
class _Window:
    """One window of one row, arrays [piece].

    columns: where its pieces stand in the row. offsets: where they stand in the window. shares: how much of each
    piece's joined state comes from this window.
    """

    columns: np.ndarray
    offsets: np.ndarray
    shares: np.ndarray


def joined_states(
    encoder: Encoder,
    columns: dict[str, Tensor],
    segments: Tensor,
    *,
    limit: int,
    recompute: bool,
    read: ReadStates = last_states,
) -> Tensor:
    """[batch piece width]: the states that `read` takes from the encoder, the last ones or others, for rows of any
    length.

    columns: what the encoder takes, [batch piece] each. segments: [batch piece], the number of each piece's text.
    limit: the most pieces that the encoder reads at once. recompute: windows run again in the backward pass, so that
    memory is needed for one group of them and not for all. Word embeddings are looked up once for the whole rows, so a
    hook on them sees whole texts and no windows.
    """
    embedding = encoder.get_input_embeddings()
    embeddings = embedding(columns["input_ids"])
    first = first_position(encoder)
    windows = _windows(columns, segments, limit, first)
    shape = columns["input_ids"].shape

    def run(group: _WindowGroup, embeddings: Tensor) -> Tensor:
        picked = group.pick(embeddings)
        with output_through(embedding, lambda _: picked):
            states = read(encoder, group.inputs(columns, first))
        return states.flatten(0, 1)[group.shared] * group.shares[:, None].to(states.dtype)

    groups = _groups(windows, shape, embeddings)
    again = recompute and torch.is_grad_enabled() and len(groups) > 1
    parts = [
        checkpoint(run, group, embeddings, use_reentrant=False) if again else run(group, embeddings) for group in groups
    ]
    pieces = torch.cat([group.index.flatten()[group.shared] for group in groups])
    states = torch.cat(parts)
    joined = states.new_zeros(shape.numel(), states.shape[-1]).index_add(0, pieces, states)
    return joined.view(*shape, -1)


@dataclass(frozen=True, eq=False)
class _WindowGroup:
    """Windows that run together, padded to slots; tensors [window slot].

    index: the slot's piece, counted in [batch * piece]. real: whether a slot has a piece. offsets: where its piece
    stands in the window. shared: [n], numbers in [window * slot] of the pieces whose states are used; shares: [n], how
    much of each.
    """

    index: Tensor
    real: Tensor
    offsets: Tensor
    shared: Tensor
    shares: Tensor

    def pick(self, values: Tensor) -> Tensor:
        """[batch piece ...] -> [window slot ...]"""
        return values.flatten(0, 1)[self.index]

    def inputs(self, columns: dict[str, Tensor], first: int) -> dict[str, Tensor]:
        """What the encoder takes for these windows; in each, positions count from the first one on."""
        picked = {name: self.pick(column) for name, column in columns.items()}
        picked["attention_mask"] = picked["attention_mask"] * self.real
        return picked | {"position_ids": self.offsets + first}


def _groups(windows: Sequence[Sequence[_Window]], shape: torch.Size, embeddings: Tensor) -> list[_WindowGroup]:
    """The windows of all rows in groups of about a budget of pieces.

    A relevance policy knows examples by their positions in the batch, so under one there is a single group with equally
    many windows a row.
    """
    n_columns, device = shape[1], embeddings.device
    if has_torch_function((embeddings,)):
        most = max(map(len, windows))
        even = [
            (row, row_windows[min(n, len(row_windows) - 1)], n < len(row_windows))
            for row, row_windows in enumerate(windows)
            for n in range(most)
        ]
        return [_group(even, n_columns, device)]
    flat = [(row, window, True) for row, row_windows in enumerate(windows) for window in row_windows]
    budget = default_budget(device) if device.type == "cpu" else GROUP
    packs = Scheduler(budget).packs([len(window.columns) for _, window, _ in flat])
    return [_group([flat[index] for index in pack], n_columns, device) for pack in packs]


def _group(windows: Sequence[tuple[int, _Window, bool]], n_columns: int, device: torch.device) -> _WindowGroup:
    """windows: (row, window, whether its states are used)."""
    longest = max(len(window.columns) for _, window, _ in windows)
    index, offsets = (np.zeros((len(windows), longest), dtype=np.int64) for _ in range(2))
    real, shares = np.zeros(index.shape, dtype=bool), np.zeros(index.shape)
    for line, (row, window, used) in enumerate(windows):
        count = len(window.columns)
        index[line, :count] = row * n_columns + window.columns
        offsets[line, :count] = window.offsets
        real[line, :count] = True
        shares[line, :count] = window.shares if used else 0.0
    shared = np.flatnonzero(shares)
    tensors = (index, real, offsets, shared, shares.flatten()[shared])
    return _WindowGroup(*(torch.from_numpy(values).to(device) for values in tensors))


def _windows(columns: dict[str, Tensor], segments: Tensor, limit: int, first: int) -> list[list[_Window]]:
    """The windows of every row of a batch."""
    attended = columns["attention_mask"].bool().cpu().numpy()
    positions = columns["position_ids"].cpu().numpy() - first
    texts = segments.cpu().numpy()
    ends = [int(line.nonzero()[0].max(initial=0)) + 1 for line in attended]
    # Where absent pieces keep their positions, a column is a position.
    spread = any(not line[:end].all() for line, end in zip(attended, ends, strict=True))
    windows = []
    for row, end in enumerate(ends):
        places = np.arange(end) if spread else positions[row, :end]
        special = (texts[row, :end] == SPECIAL) & attended[row, :end]
        windows.append(_windows_of(places, special, limit))
    return windows


def _windows_of(positions: np.ndarray, special: np.ndarray, limit: int) -> list[_Window]:
    """The windows of one row. positions: of its columns, rising. special: which columns are special tokens."""
    length = int(positions[-1]) + 1
    column_at = np.full(length, -1)
    column_at[positions] = np.arange(len(positions))
    windows = []
    for inside, shares in _cut(length, tuple(positions[special].tolist()), limit):
        columns = column_at[inside]
        present = columns >= 0
        if present.any():
            windows.append(_Window(columns[present], np.flatnonzero(present), shares[present]))
    return windows


@lru_cache(maxsize=64)  # an edited text has the windows of the whole one
def _cut(length: int, specials: tuple[int, ...], limit: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each window of a text of `length` positions: its positions, and its share of each one's joined state."""
    row = _whole(length, specials)
    windows = windows_of(row, limit) or (((0, length),),)
    inside = [np.array(pieces_in(row, window)) for window in windows]
    depths = np.full((len(windows), length), -1)
    for depth, window in zip(depths, windows, strict=True):
        for start, end in window:
            depth[start:end] = _depths(row, start, end)
    farthest = depths == depths.max(0)
    shares = farthest / farthest.sum(0)
    return [(pieces, shares[index, pieces]) for index, pieces in enumerate(inside)]


def _whole(length: int, specials: tuple[int, ...]) -> Row:
    """A row that has every position; its texts are what stands between special tokens."""
    inside = np.isin(np.arange(length), specials, invert=True)
    text = np.cumsum(inside & ~np.r_[False, inside[:-1]]) - 1
    count = tuple(range(length))
    return Row(count, (0,) * length, count, count, tuple(np.where(inside, text, SPECIAL).tolist()))


def _depths(row: Row, start: int, end: int) -> np.ndarray:
    """How far positions [start, end) of a window stand from the nearest cut; a text's own ends are no cuts."""
    position, far = np.arange(start, end), len(row)
    before = position - start + 1 if start and row.segments[start - 1] == row.segments[start] else far
    after = end - position if end < far and row.segments[end] == row.segments[end - 1] else far
    return np.minimum(np.minimum(before, after), far)
