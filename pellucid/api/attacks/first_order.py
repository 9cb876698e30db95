"""What a replacement should gain by the gradient alone: the first-order change of the answer when one word's vector becomes another's.

Ebrahimi et al. (2018), "HotFlip", section 3, for words: the gradient at the word's pieces times the difference of both vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from pellucid.attacks.shared.attack_case import Place
from pellucid.attacks.shared.dictionaries import Dictionaries
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import ResolvedTarget
from pellucid.core.passes.windows import in_windows
from pellucid.core.text.example import Example
from pellucid.core.text.pieces_at import pieces_at


def first_order_gains(
    model: Model, example: Example, label: str, places: Sequence[Place], dictionaries: Dictionaries
) -> Callable[[int, str], float]:
    """(unit, replacement) -> the rise of a class's logit to first order; minus infinity where no vector is known.

    label: the class. A run of the model with gradients for each window of the text; a unit's gradient is the sum over them.
    """
    number = model.labels.index(label)
    target = ResolvedTarget((number,), None, "logit", model.problem)
    sums: dict[int, Tensor] = {}
    own: dict[int, Tensor] = {}
    windows, _ = in_windows(model.encode([example]))
    for window in range(len(windows)):
        run = ForwardPass(model, windows.select([window]), scheduler_for(model))
        gradient, vectors, units = run.gradient(target)[0], run.embeddings[0], run.batch.units[0]
        for unit, place in enumerate(places):
            pieces = pieces_at(units, place)
            if pieces:
                sums[unit] = sums.get(unit, 0.0) + gradient[pieces].float().sum(0)
                own[unit] = vectors[pieces].float().mean(0)

    def gain(unit: int, replacement: str) -> float:
        vector = dictionaries.vector(replacement)
        if vector is None or unit not in own:
            return float("-inf")
        return float((vector - own[unit]) @ sums[unit])

    return gain
