"""Integrated gradients: the gradient averaged along the straight path from a blank text to the text.

Sundararajan, Taly & Yan (2017), "Axiomatic Attribution for Deep Networks", equation 1. Averaged over a set of
blank texts it is expected gradients: Erion et al. (2021).
"""

import torch
from torch import Tensor

from pellucid.attribution.shared.paths import (
    Baselines,
    Lines,
    Rule,
    blank_texts,
    gap_caveats,
    gaps,
    lines_to,
    nodes_of,
)
from pellucid.base.checks import at_least
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable

MOST_STEPS = 1024
TRUSTED_GAP = 0.05


@attributions.add(
    complete=True,
    needs={"gradient"},
    cost="n_steps runs of the model, with gradients",
    at_text=False,
    aliases={"ig"},
)
def integrated_gradients(
    run: ForwardPass,
    target: Explainable,
    *,
    n_steps: int = 32,
    tolerance: float | None = None,
    baselines: Baselines = "pad",
    n_baselines: int = 5,
    rule: Rule = "midpoint",
    layer: int | None = None,
) -> Scores:
    """Share the target's rise, from the blanked text to the text, among the pieces.

    n_steps: points on the path, at least 1; doubling them about quarters the midpoint rule's error. tolerance: None, or the
    largest completeness gap to accept: a text's steps are tripled from n_steps (the old midpoints stay midpoints) until
    its gap is at most that, or tripling would pass 1,024 steps. baselines: what a blank text is made of, "pad", "mask", the
    "mean" of the vocabulary, the "zero" vector, or "uniform": n_baselines texts of random pieces, whose scores are
    averaged. Special tokens keep their own embeddings, so their scores are 0. rule: which points are read, "midpoint",
    "gauss_legendre" or "left". layer: None for word embeddings; l for the hidden states of layer l, where special tokens
    take part. Raises `BadSetting` for a tolerance with another rule than "midpoint".

    Diagnostics `completeness_gap`: |sum of scores - rise| / |rise|, and `n_steps`.
    """
    at_least("n_steps", n_steps, 1)
    if tolerance is not None:
        at_least("tolerance", tolerance, 1e-6)
        if rule != "midpoint":
            raise BadSetting(
                f"tolerance refines midpoints; with rule={rule!r} leave it away and choose n_steps."
            )
    lines = lines_to(run, target, blank_texts(run, baselines, n_baselines, "integrated_gradients"), layer)
    rise = lines.rise()
    scores = lines.shares(*nodes_of(rule, n_steps))
    steps = torch.full((len(scores),), n_steps)
    if tolerance is not None:
        _refine(lines, scores, steps, rise, tolerance)
    errors = gaps(scores, rise).tolist()
    allowed = TRUSTED_GAP if tolerance is None else tolerance
    return run.scores(
        scores,
        diagnostics=tuple(
            {"completeness_gap": gap, "n_steps": float(n)} for gap, n in zip(errors, steps, strict=True)
        ),
        caveats=gap_caveats(run, errors, allowed, "n_steps", n_steps),
    )


def _refine(lines: Lines, scores: Tensor, steps: Tensor, rise: Tensor, tolerance: float) -> None:
    """Triple the steps of unfinished texts, in place, until none is left."""
    while unfinished := _unfinished(gaps(scores, rise), steps, tolerance):
        tripled = 3 * int(steps[unfinished[0]])  # all unfinished texts have equally many steps
        nodes, weights = nodes_of("midpoint", tripled)
        is_new = torch.arange(tripled) % 3 != 1  # the middle third of a step has the step's midpoint
        more = lines.shares(nodes[is_new], weights[is_new], unfinished)
        scores[unfinished] = scores[unfinished] / 3 + more[unfinished]
        steps[unfinished] = tripled


def _unfinished(errors: Tensor, steps: Tensor, tolerance: float) -> list[int]:
    """The texts whose gap is too large, and whose steps can still be tripled."""
    open_ = (errors.cpu() > tolerance) & (3 * steps <= MOST_STEPS)
    return open_.nonzero()[:, 0].tolist()
