"""What a model's language head would write in the place of each word, from the states of the text with that word masked."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from pellucid.attacks.shared.attack_case import Place
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.windows import in_windows
from pellucid.core.text.example import Example
from pellucid.core.text.pieces_at import pieces_at
from pellucid.models.word_neighbours import word_neighbours

MOST, AT_ONCE = 50, 16


def masked_fillers(model: Model, example: Example, places: Sequence[Place]) -> list[list[str]]:
    """For each place the fifty likeliest words of one piece, likeliest first; none where no window has the place.

    All pieces of a word are masked, and the head is asked at the first. Raises `ModelCannot` for a model without a mask token.
    """
    head, mask, table = model.language_head, model.blank_ids()["mask"], word_neighbours(model)
    if head is None or mask is None or table is None:
        raise ModelCannot(f"{model.name} has no mask token or no language head; use the candidates synonyms.")
    words, ids = table.words
    blank = model.embed(torch.tensor(mask, device=model.device)).detach()
    fillers: list[list[str]] = [[] for _ in places]
    windows, _ = in_windows(model.encode([example]))
    for window in range(len(windows)):
        run = ForwardPass(model, windows.select([window]), scheduler_for(model))
        pieces = {unit: pieces_at(run.batch.units[0], place) for unit, place in enumerate(places)}
        open_units = [unit for unit, of_unit in pieces.items() if of_unit and not fillers[unit]]
        for first in range(0, len(open_units), AT_ONCE):
            some = open_units[first : first + AT_ONCE]
            points = run.embeddings.repeat(len(some), 1, 1)
            for line, unit in zip(points, some, strict=True):
                line[pieces[unit]] = blank
            states = run.of([0] * len(some), points).state(model.n_layers)
            at = torch.stack([line[pieces[unit][0]] for line, unit in zip(states, some, strict=True)])
            chances = head.log_probabilities(at, model.n_layers, ids)
            for unit, best in zip(some, chances.topk(min(MOST, len(ids))).indices.tolist(), strict=True):
                fillers[unit] = [words[number] for number in best]
    return fillers
