"""Sequential integrated gradients: each piece fades in by itself, in the otherwise whole text.

Enguehard (2023), "Sequential Integrated Gradients: a simple but effective method for explaining language models",
equations 3 and 4.
"""

import torch
from torch import Tensor

from pellucid.attribution.shared.paths import Rule, gap_caveats, places_of
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.blank import Baseline
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.many_points import gradients_at
from pellucid.core.passes.model import Scores
from pellucid.core.passes.precision import widened
from pellucid.core.passes.target import Explainable

TRUSTED_GAP = 0.05


@attributions.add(needs={"gradient"}, cost="n_steps x pieces x (1 forward + 1 backward)", usual=False)
def sequential_integrated_gradients(
    run: ForwardPass,
    target: Explainable,
    *,
    n_steps: int = 5,
    baselines: Baseline = "pad",
    rule: Rule = "gauss_legendre",
) -> Scores:
    """For each piece the rise of the target while it alone goes from blank to itself, by the gradient along the way.

    Since one piece moves alone, its score is the target's fall when it is replaced by the blank: what occlusion with
    operator "mask" or "pad" measures with one forward pass; the paper's gain over it lies in single dimensions.
    n_steps, rule, baselines: as for integrated_gradients; the paper takes "mask", which decoders do not have. Special
    tokens score 0. Diagnostic `completeness_gap`: how far scores miss these falls, summed over the pieces, relative to
    the falls' sum of sizes.
    """
    at_least("n_steps", n_steps, 1)
    places, weights = places_of(rule, n_steps)
    blank, words = run.blank(baselines), run.embeddings
    moving = [(number, unit) for number, units in enumerate(run.batch.units) for unit in units.content]
    owners = [number for number, _ in moving for _ in range(n_steps)]
    units = [unit for _, unit in moving for _ in range(n_steps)]

    def point(numbers: list[int], place: Tensor) -> Tensor:
        of, at = [owners[n] for n in numbers], [units[n] for n in numbers]
        moved, row = words[of].clone(), torch.arange(len(numbers))
        moved[row, at] = torch.lerp(blank[of, at], words[of, at], place.to(words)[:, None])
        return moved

    scores = torch.zeros_like(widened(words[..., 0]))
    along = places.repeat(len(moving))
    weight = weights.repeat(len(moving)).to(scores)
    for numbers, gradient in gradients_at(
        run, target, owners, lambda numbers: point(numbers, along[numbers])
    ):
        of, at = [owners[n] for n in numbers], [units[n] for n in numbers]
        difference = words[of, at] - blank[of, at]
        share = (difference * gradient[torch.arange(len(numbers)), at]).sum(-1) * weight[numbers]
        scores.index_put_((torch.tensor(of), torch.tensor(at)), share.to(scores), accumulate=True)
    gaps = _gaps(run, target, scores, blank, moving).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"completeness_gap": gap} for gap in gaps),
        caveats=tuple(gap_caveats(gap, TRUSTED_GAP, "n_steps") for gap in gaps),
    )


def _gaps(
    run: ForwardPass, target: Explainable, scores: Tensor, blank: Tensor, moving: list[tuple[int, int]]
) -> Tensor:
    """[example]: the falls' sum of sizes that the scores miss."""
    whole, words = run.values(target), run.embeddings
    falls = torch.zeros_like(scores)
    for pack in run.scheduler.packs_of([run.batch.rows[number] for number, _ in moving]):
        of, at = [moving[n][0] for n in pack], [moving[n][1] for n in pack]
        moved = words[of].clone()
        moved[torch.arange(len(pack)), at] = blank[of, at]
        falls[of, at] = (whole[of] - run.of(of, moved).values(target.select(of))).to(falls)
    return (scores - falls).abs().sum(-1) / falls.abs().sum(-1).clamp_min(1e-6)
