"""Joined windows written out, for one text: the encoder reads every window by itself, and each piece takes the state of
the window in which it stands farthest from a cut, or the mean over those where it stands equally far."""

from statistics import mean

import torch
from torch import Tensor

from pellucid.run.batch import Row
from pellucid.run.windows import pieces_in, window_row, windows_of
from pellucid.text.units import SPECIAL


def depth(whole: Row, window: tuple[tuple[int, int], ...], position: int) -> float:
    """How many pieces lie between a position and the nearest cut of its text in this window, itself counted."""
    first, last = next(piece_range for piece_range in window if piece_range[0] <= position < piece_range[1])
    text = whole.segments[position]
    if text == SPECIAL:
        return float("inf")
    cut_before = first > 0 and whole.segments[first - 1] == text
    cut_after = last < len(whole) and whole.segments[last] == text
    before = position - first + 1 if cut_before else float("inf")
    after = last - position if cut_after else float("inf")
    return min(before, after)


def joined_states(classifier, whole: Row, edited: Row, limit: int) -> Tensor:
    """[piece width]: the states of an edited row, read in the windows of the whole one."""
    network = classifier.network
    # As the model cuts: at any piece, since an edited row no longer knows all words.
    plain = Row(whole.ids, whole.types, whole.positions, tuple(range(len(whole))), whole.segments)
    windows = windows_of(plain, limit)
    read = []
    for window in windows:
        pieces = classifier.place([window_row(edited, window)])["pieces"]
        with torch.no_grad():
            states = network.encoder(
                input_ids=pieces.input_ids,
                attention_mask=pieces.attention_mask,
                position_ids=pieces.position_ids,
                token_type_ids=pieces.token_type_ids,
            ).last_hidden_state[0][pieces.attention_mask[0].bool()]
        read.append(dict(zip(pieces_in(edited, window), states, strict=True)))
    joined = []
    for piece, position in enumerate(edited.positions):
        depths = {n: depth(whole, windows[n], position) for n, states_of in enumerate(read) if piece in states_of}
        deepest = [read[n][piece] for n, value in depths.items() if value == max(depths.values())]
        joined.append(
            torch.stack([torch.tensor([mean(value) for value in zip(*map(Tensor.tolist, deepest), strict=True)])])[0]
        )
    return torch.stack(joined)
