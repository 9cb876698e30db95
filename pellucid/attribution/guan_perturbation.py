"""Guan et al.'s perturbation baseline: the least of the text that keeps a hidden state, as a share in [0, 1] of each
piece.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4, after Fong &
Vedaldi (2017), "Interpretable Explanations of Black Boxes by Meaningful Perturbation", equation 4 (corrections.md
A3.9).
"""

import torch
from torch import Tensor

from pellucid.attribution.guan_gradient import OfLayer, in_layer_rows
from pellucid.attribution.preservation_mask import Loss, MaskSearch
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import Scores
from pellucid.run.rounding import widened
from pellucid.run.state_scale import StateFunction, state_function, state_scale
from pellucid.run.target import Explainable

NAME = "guan_perturbation"
TRUSTED_GAP = 0.5  # of a deviation


@attributions.add(
    needs={"gradient", "hidden_states"},
    cost="up to n_steps runs of the blocks below the state, with gradients",
    signed=False,
    usual=False,
    shares=False,
    reads="state_vector",
)
def guan_perturbation(
    run: ForwardPass,
    target: Explainable,
    *,
    penalty: float = 0.1,
    n_steps: int = 200,
    tolerance: float = 0.001,
    reference: str | tuple[str, ...] = "pocket",
) -> Scores:
    """How much of each piece must stay for a hidden state to stay, in [0, 1].

    The mask m minimises the mean over the state's d entries of (Phi(m x + (1 - m) x0) - s)² / sigma_S² + penalty x mean
    of m. The paper's norm is the sum; with the mean one penalty fits states of every width and texts of every length.
    x0 is the mean embedding of the reference texts' pieces without special tokens, which stay and score 0.

    penalty: the weight of the mask's mean, 0 or more. n_steps: the most steps of Adam. tolerance: a text is done when
    30 steps lowered its loss by less than this. reference: the data set (its train texts), or a list of texts, for x0
    and sigma_S. The target is a hidden state; with layer="all" there is a row for each. Raises `BadSetting` for a
    class.

    Diagnostics: `n_steps`, the steps of the search; `kept`, the mean of m; `state_gap`.

    >>> state = pellucid.HiddenState(1)
    >>> explanation = pellucid.explain("my-classifier", "A good film.", "guan_perturbation", target=state)[0]
    >>> bool((explanation.scores >= 0).all()), bool((explanation.scores <= 1).all())
    (True, True)
    """
    at_least("penalty", penalty, 0.0)
    at_least("n_steps", n_steps, 1)
    at_least("tolerance", tolerance, 0.0)

    def of_layer(state: ResolvedState) -> OfLayer:
        search = MaskSearch(
            run.content.to(widened(run.embeddings)), run.batch.lengths, _loss(run, state, reference), penalty
        )
        unsettled = search.run(n_steps, tolerance)
        diagnostics = tuple(_diagnostics(search, n) for n in range(len(run.batch)))
        caveats = tuple(_caveats(of_text, n in unsettled) for n, of_text in enumerate(diagnostics))
        return search.best, diagnostics, caveats

    return in_layer_rows(run, target, NAME, of_layer)


@diagnostics.add(worst="highest")
def state_gap(gap: float) -> str:
    """How far the state of the masked text is from that of the text: root mean square over its entries, in sigma_S."""
    return ""


def _loss(run: ForwardPass, target: ResolvedState, reference: str | tuple[str, ...]) -> Loss:
    """The mean squared change of the explained states, in sigma_S, and its gradient by the mask."""
    phi, scale = state_function(run, target), state_scale(run.model, target, reference)
    blank = scale.word_mean.to(phi.points)
    sizes = phi.real.sum(1) * phi.states.shape[-1]

    def loss(texts: list[int], mask: Tensor) -> tuple[Tensor, Tensor]:
        ours = phi.points[texts, : mask.shape[1]]
        # Outside the text's own pieces, at special tokens and padding, everything stays.
        inside = run.content[texts, : mask.shape[1]]
        free = torch.where(inside, mask, 1.0).detach().requires_grad_()
        with torch.enable_grad():
            moved = _moved(phi, texts, blank + free[..., None].to(ours) * (ours - blank))
            apart = (moved / scale.deviations.to(moved)).square().sum((1, 2)) / sizes[texts].to(moved)
        (gradient,) = torch.autograd.grad(apart.sum(), free)
        return apart.detach(), gradient

    return loss


def _moved(phi: StateFunction, texts: list[int], points: Tensor) -> Tensor:
    """[text place width']: how far the states at these points are from those of the texts."""
    moved = phi(texts, points)
    return widened(moved - phi.states[texts, : moved.shape[1]])


def _diagnostics(search: MaskSearch, index: int) -> dict[str, float]:
    return {
        "n_steps": float(len(search.losses[index])),
        "kept": search.mean(index),
        "state_gap": search.lost[index] ** 0.5,
    }


def _caveats(diagnostics: dict[str, float], unfinished: bool) -> tuple[str, ...]:
    caveats = []
    if unfinished:
        caveats.append(f"The mask had not settled after {diagnostics['n_steps']:.0f} steps; raise n_steps.")
    if diagnostics["state_gap"] > TRUSTED_GAP:
        caveats.append(
            f"What the mask keeps misses the state by {diagnostics['state_gap']:.1f} of its deviation; lower the "
            f"penalty."
        )
    return tuple(caveats)
