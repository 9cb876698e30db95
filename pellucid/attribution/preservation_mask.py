"""Preservation mask: the least of the text that keeps the target's value, as a share in [0, 1] of each piece.

Fong & Vedaldi (2017), "Interpretable Explanations of Black Boxes by Meaningful Perturbation", equation 4, carried over
to sentences by Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP"
(corrections.md A3.9).
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions, diagnostics
from pellucid.core.passes.blank import Baseline
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.precision import widened
from pellucid.core.passes.target import Explainable

RATE, MOMENTUM, SECOND_MOMENTUM = 0.05, 0.9, 0.99
PATIENCE = 30  # steps within which the loss must fall by the tolerance
TRUSTED_GAP = 0.2
NEVER = 1e-12


@attributions.add(
    needs={"gradient"}, cost="up to n_steps runs of the model, with gradients", signed=False, usual=False
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

    penalty: the weight of the mask's mean, 0 or more. n_steps: the most steps of Adam. tolerance: a text is done when 30
    steps lowered its loss by less than this. baselines: what embeddings are mixed with, "mean" (of all word embeddings),
    "pad", "mask" or "zero"; special tokens stay and score 0.

    Diagnostics: `n_steps`, the steps of the search; `kept`, the mean of m; `preservation_gap`, how far the target still is
    from that of the text, as a share of its distance from the blank text's.
    """
    at_least("penalty", penalty, 0.0)
    at_least("n_steps", n_steps, 1)
    at_least("tolerance", tolerance, 0.0)
    search = _Search(run, target, run.blank(baselines), penalty)
    open_ = list(range(len(run.batch)))
    while open_ and search.step < n_steps:
        search.advance(open_)
        open_ = [n for n in open_ if not search.settled(n, tolerance)]
    diagnostics = tuple(search.diagnostics(n) for n in range(len(run.batch)))
    return run.scores(
        search.best,
        diagnostics=diagnostics,
        caveats=tuple(_caveats(of_text, n in open_) for n, of_text in enumerate(diagnostics)),
    )


@diagnostics.add("kept", worst="highest")
def mask_mean(share: float) -> str:
    """The mean of the mask: how much of the text must stay."""
    return ""


@diagnostics.add(worst="highest")
def preservation_gap(gap: float) -> str:
    """How far the target still is from that of the text, as a share of its distance from the blank text's."""
    return ""


@dataclass
class _Search:
    """The search by Adam, for each text of a batch on its own. mask, best: [example unit]; losses: [example] lists, a step each."""

    run: ForwardPass
    target: Explainable
    blank: Tensor
    penalty: float
    step: int = 0
    losses: list[list[float]] = field(init=False)
    gaps: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.content = self.run.content.to(widened(self.blank))
        self.mask, self.best = self.content.clone(), self.content.clone()
        self.first, self.second = torch.zeros_like(self.mask), torch.zeros_like(self.mask)
        self.whole = self.run.values(self.target)
        self.rise = (self.whole - self.run.at(self.blank).values(self.target)).abs().clamp_min(NEVER)
        self.losses, self.gaps = [[] for _ in self.whole], [0.0] * len(self.whole)

    def advance(self, open_: list[int]) -> None:
        """One step for these texts."""
        self.step += 1
        run, target = self.run, self.target.select(open_)
        length = max(run.batch.lengths[n] for n in open_)
        embeddings, blank = run.embeddings[open_, :length], self.blank[open_, :length]
        mask, content = self.mask[open_, :length], self.content[open_, :length]
        point = blank + mask[..., None] * (embeddings - blank)
        here = run.of(open_, point)
        gradient = (here.gradient(target) * (embeddings - blank)).sum(-1)  # of the target by the mask
        apart = (here.values(target) - self.whole[open_]) / self.rise[open_]
        self._remember(open_, mask, apart.abs(), content)
        gradient = 2 * (apart / self.rise[open_])[:, None] * gradient * content
        self._move(open_, gradient + self.penalty * content / content.sum(1, keepdim=True), length)

    def _remember(self, open_: list[int], mask: Tensor, apart: Tensor, content: Tensor) -> None:
        means = (mask * content).sum(1) / content.sum(1)
        losses = (apart**2 + self.penalty * means).tolist()
        for n, loss, gap, of_text in zip(open_, losses, apart.tolist(), mask, strict=True):
            if loss < min(self.losses[n], default=float("inf")):
                self.best[n, : len(of_text)], self.gaps[n] = of_text, gap
            self.losses[n].append(loss)

    def _move(self, open_: list[int], gradient: Tensor, length: int) -> None:
        """One step of Adam; the mask is clipped to [0, 1]."""
        first = MOMENTUM * self.first[open_, :length] + (1 - MOMENTUM) * gradient
        second = SECOND_MOMENTUM * self.second[open_, :length] + (1 - SECOND_MOMENTUM) * gradient**2
        self.first[open_, :length], self.second[open_, :length] = first, second
        size = (second / (1 - SECOND_MOMENTUM**self.step)).sqrt() + 1e-8
        moved = self.mask[open_, :length] - RATE * first / (1 - MOMENTUM**self.step) / size
        self.mask[open_, :length] = moved.clamp(0, 1) * self.content[open_, :length]

    def settled(self, number: int, tolerance: float) -> bool:
        """Whether the lowest loss has hardly fallen for some steps."""
        losses = self.losses[number]
        return len(losses) > PATIENCE and min(losses[:-PATIENCE]) - min(losses) < tolerance

    def diagnostics(self, number: int) -> dict[str, float]:
        """The diagnostics of one text."""
        return {
            "n_steps": float(len(self.losses[number])),
            "kept": float(self.best[number].sum() / self.content[number].sum()),
            "preservation_gap": self.gaps[number],
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
