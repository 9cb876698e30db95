"""Preservation mask: the least of the text that keeps the target's value, as a share in [0, 1] of each piece.

Fong & Vedaldi (2017), "Interpretable Explanations of Black Boxes by Meaningful Perturbation", equation 4, carried over
to sentences by Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP"
(corrections.md A3.9).
"""

from torch import Tensor

from pellucid.attribution.shared.mask_search import Loss, MaskSearch
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.blank import Baseline
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.precision import widened
from pellucid.run.target import Explainable

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

    penalty: the weight of the mask's mean, 0 or more. n_steps: the most steps of Adam. tolerance: a text is done when 30
    steps lowered its loss by less than this. baselines: what embeddings are mixed with, "mean" (of all word embeddings),
    "pad", "mask" or "zero"; special tokens stay and score 0.

    Diagnostics: `n_steps`, the steps of the search; `kept`, the mean of m; `preservation_gap`, how far the target still is
    from that of the text, as a share of its distance from the blank text's.
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
        own, length = target.select(texts), mask.shape[1]
        embeddings, without = run.embeddings[texts, :length], blank[texts, :length]
        here = run.of(texts, without + mask[..., None] * (embeddings - without))
        gradient = (here.gradient(own) * (embeddings - without)).sum(-1)  # of the target by the mask
        apart = (here.values(own) - whole[texts]) / rise[texts]
        return apart**2, 2 * (apart / rise[texts])[:, None] * gradient

    return loss


def _diagnostics(search: MaskSearch, number: int) -> dict[str, float]:
    """The diagnostics of one text."""
    return {
        "n_steps": float(len(search.losses[number])),
        "kept": search.mean(number),
        "preservation_gap": search.lost[number] ** 0.5,
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
