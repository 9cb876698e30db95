"""The search for a mask in [0, 1] by Adam, for each text of a batch on its own: what must stay, against how much stays.

Fong & Vedaldi (2017), "Interpretable Explanations of Black Boxes by Meaningful Perturbation", equation 4.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pellucid.base.checks import between
from pellucid.base.errors import BadSetting
from pellucid.base.wording import quoted

RATE, MOMENTUM, SECOND_MOMENTUM = 0.05, 0.9, 0.99
PATIENCE = 30  # steps within which the loss must fall by the tolerance

# (numbers of texts [text], their mask [text unit]) -> what is lost [text], >= 0, and its gradient by the mask [text unit].
Loss = Callable[[list[int], Tensor], tuple[Tensor, Tensor]]


@dataclass
class MaskSearch:
    """The masks of a batch that minimise loss + penalty x mean of the mask.

    content: [example unit], 1 at pieces with a mask, 0 elsewhere. lengths: pieces of each text. mask, best: [example unit],
    the present one and that of the lowest sum so far. losses: of each text, a number a step. lost: of each text, the loss at
    its best mask.
    """

    content: Tensor
    lengths: tuple[int, ...]
    loss: Loss
    penalty: float
    step: int = 0
    losses: list[list[float]] = field(init=False)
    lost: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.mask, self.best = self.content.clone(), self.content.clone()
        self.first, self.second = torch.zeros_like(self.mask), torch.zeros_like(self.mask)
        self.losses, self.lost = [[] for _ in self.lengths], [0.0] * len(self.lengths)

    def run(self, n_steps: int, tolerance: float) -> list[int]:
        """At most so many steps; returns the numbers of the texts that had not settled then."""
        unsettled = list(range(len(self.lengths)))
        while unsettled and self.step < n_steps:
            self._advance(unsettled)
            unsettled = [n for n in unsettled if not self._settled(n, tolerance)]
        return unsettled

    def mean(self, number: int) -> float:
        """The mean of one text's best mask."""
        return float(self.best[number].sum() / self.content[number].sum())

    def _advance(self, texts: list[int]) -> None:
        """One step for these texts."""
        self.step += 1
        length = max(self.lengths[n] for n in texts)
        mask, content = self.mask[texts, :length], self.content[texts, :length]
        lost, gradient = self.loss(texts, mask)
        self._remember(texts, mask, lost, content)
        gradient = gradient * content + self.penalty * content / content.sum(1, keepdim=True)
        self._move(texts, gradient, length)

    def _remember(self, texts: list[int], mask: Tensor, lost: Tensor, content: Tensor) -> None:
        means = (mask * content).sum(1) / content.sum(1)
        sums = (lost + self.penalty * means).tolist()
        for n, total, loss, of_text in zip(texts, sums, lost.tolist(), mask, strict=True):
            if total < min(self.losses[n], default=float("inf")):
                self.best[n, : len(of_text)], self.lost[n] = of_text, loss
            self.losses[n].append(total)

    def _move(self, texts: list[int], gradient: Tensor, length: int) -> None:
        """One step of Adam; the mask is clipped to [0, 1]."""
        first = MOMENTUM * self.first[texts, :length] + (1 - MOMENTUM) * gradient
        second = SECOND_MOMENTUM * self.second[texts, :length] + (1 - SECOND_MOMENTUM) * gradient**2
        self.first[texts, :length], self.second[texts, :length] = first, second
        size = (second / (1 - SECOND_MOMENTUM**self.step)).sqrt() + 1e-8
        moved = self.mask[texts, :length] - RATE * first / (1 - MOMENTUM**self.step) / size
        self.mask[texts, :length] = moved.clamp(0, 1) * self.content[texts, :length]

    def _settled(self, number: int, tolerance: float) -> bool:
        """Whether the lowest loss has hardly fallen for some steps."""
        losses = self.losses[number]
        return len(losses) > PATIENCE and min(losses[:-PATIENCE]) - min(losses) < tolerance


# The layers that a setting names.


def named_layers(layer: int | str, depth: int) -> list[int]:
    """Numbers from 0 to depth: one, "late" (two thirds of the way up), or "all"; raises `BadSetting` for another."""
    if layer == "all":
        return list(range(depth + 1))
    if layer == "late":
        return [round(2 * depth / 3)]
    if isinstance(layer, str):
        raise BadSetting(
            f"layer={quoted(layer)} is not possible; give a number from 0 to {depth}, late or all."
        )
    if type(layer) is int and not 0 <= layer <= depth:
        raise BadSetting(f"layer={layer} is out of range; give a number from 0 to {depth}, late or all.")
    between("layer", layer, 0, depth)
    return [layer]
