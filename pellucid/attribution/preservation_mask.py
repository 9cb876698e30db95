"""Preservation mask: the least of the text that keeps the target's value, as a share in [0, 1] of each piece.

Fong & Vedaldi (2017), "Interpretable Explanations of Black Boxes by Meaningful Perturbation", equation 4, carried over
to sentences by Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP"
(corrections.md A3.9).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pellucid.base.checks import at_least, between, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.blank import Baseline
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.rounding import widened
from pellucid.run.target import Explainable

# The search for a mask in [0, 1] by Adam, for each text of a batch on its own: what must stay, against how much
# stays.
#
# Fong & Vedaldi (2017), "Interpretable Explanations of Black Boxes by Meaningful Perturbation", equation 4.

RATE, MOMENTUM, SECOND_MOMENTUM = 0.05, 0.9, 0.99
PATIENCE = 30  # steps within which the loss must fall by the tolerance

# (numbers of texts [text], their mask [text unit]) -> what is lost [text], >= 0, and its gradient by the mask [text
# unit].
Loss = Callable[[list[int], Tensor], tuple[Tensor, Tensor]]


@dataclass
class MaskSearch:
    """The masks of a batch that minimise loss + penalty x mean of the mask.

    content: [example unit], 1 at pieces with a mask, 0 elsewhere. lengths: pieces of each text. mask, best: [example
    unit], the present one and that of the lowest sum so far. losses: of each text, a number a step. lost: of each text,
    the loss at its best mask.
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

    def mean(self, index: int) -> float:
        """The mean of one text's best mask."""
        return float(self.best[index].sum() / self.content[index].sum())

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

    def _settled(self, index: int, tolerance: float) -> bool:
        """Whether the lowest loss has hardly fallen for some steps."""
        losses = self.losses[index]
        return len(losses) > PATIENCE and min(losses[:-PATIENCE]) - min(losses) < tolerance


# The layers that a setting names.


def named_layers(layer: int | str, depth: int) -> list[int]:
    """Numbers from 0 to depth: one, "late" (two thirds of the way up), or "all"; raises `BadSetting` for another."""
    if layer == "all":
        return list(range(depth + 1))
    if layer == "late":
        return [round(2 * depth / 3)]
    if isinstance(layer, str):
        raise BadSetting(f"layer={quoted(layer)} is not possible; give a number from 0 to {depth}, late or all.")
    if type(layer) is int and not 0 <= layer <= depth:
        raise BadSetting(f"layer={layer} is out of range; give a number from 0 to {depth}, late or all.")
    between("layer", layer, 0, depth)
    return [layer]


TRUSTED_GAP = 0.2
NEVER = 1e-12


@attributions.add(
    needs={"gradient"},
    cost="up to n_steps runs of the model, with gradients",
    at_text=False,
    signed=False,
    usual=False,
)
def preservation_mask(
    run: ForwardPass,
    target: Explainable,
    *,
    penalty: float = 0.1,
    n_steps: int = 200,
    tolerance: float = 0.001,
    baselines: Baseline = "mean",
) -> Scores:
    """How much of each piece must stay for the target to keep its value, in [0, 1].

    The mask m minimises (target at m x embeddings + (1 - m) x blank - target)² / (target - target of the blank text)²
    + penalty x mean of m.

    penalty: the weight of the mask's mean, 0 or more. n_steps: the most steps of Adam. tolerance: a text is done when
    30 steps lowered its loss by less than this. baselines: what embeddings are mixed with, "mean" (of all word
    embeddings), "pad", "mask" or "zero"; special tokens stay and score 0.

    Diagnostics: `n_steps`, the steps of the search; `kept`, the mean of m; `preservation_gap`, how far the target still
    is from that of the text, as a share of its distance from the blank text's.
    """
    at_least("penalty", penalty, 0.0)
    at_least("n_steps", n_steps, 1)
    at_least("tolerance", tolerance, 0.0)
    content = run.content.to(widened(run.embeddings))
    search = MaskSearch(content, run.batch.lengths, _loss(run, target, run.blank(baselines)), penalty)
    unsettled = search.run(n_steps, tolerance)
    diagnostics = tuple(_diagnostics(search, n) for n in range(len(run.batch)))
    return run.scores(
        search.best,
        diagnostics=diagnostics,
        caveats=tuple(_caveats(of_text, n in unsettled) for n, of_text in enumerate(diagnostics)),
    )


@diagnostics.add("kept", worst="highest")
def mask_mean(share: float) -> str:
    """The mean of the mask: how much of the text must stay."""
    return ""


@diagnostics.add(worst="highest")
def preservation_gap(gap: float) -> str:
    """How far the target still is from that of the text, as a share of its distance from the blank text's."""
    return ""


def _loss(run: ForwardPass, target: Explainable, blank: Tensor) -> Loss:
    """The squared distance of the target from that of the text, as a share of the blank text's."""
    whole = run.values(target)
    rise = (whole - run.at(blank).values(target)).abs().clamp_min(NEVER)

    def loss(texts: list[int], mask: Tensor) -> tuple[Tensor, Tensor]:
        selected, length = target.select(texts), mask.shape[1]
        embeddings, without = run.embeddings[texts, :length], blank[texts, :length]
        here = run.of(texts, without + mask[..., None] * (embeddings - without))
        gradient = (here.gradient(selected) * (embeddings - without)).sum(-1)  # of the target by the mask
        apart = (here.values(selected) - whole[texts]) / rise[texts]
        return apart**2, 2 * (apart / rise[texts])[:, None] * gradient

    return loss


def _diagnostics(search: MaskSearch, index: int) -> dict[str, float]:
    """The diagnostics of one text."""
    return {
        "n_steps": float(len(search.losses[index])),
        "kept": search.mean(index),
        "preservation_gap": search.lost[index] ** 0.5,
    }


def _caveats(diagnostics: dict[str, float], unfinished: bool) -> tuple[str, ...]:
    caveats = []
    if unfinished:
        caveats.append(f"The mask had not settled after {diagnostics['n_steps']:.0f} steps; raise n_steps.")
    if diagnostics["preservation_gap"] > TRUSTED_GAP:
        caveats.append(
            f"What the mask keeps misses {diagnostics['preservation_gap']:.0%} of the target's rise; lower the penalty."
        )
    return tuple(caveats)
