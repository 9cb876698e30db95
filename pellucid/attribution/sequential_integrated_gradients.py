"""Sequential integrated gradients: each piece fades in by itself, in the otherwise whole text.

Enguehard (2023), "Sequential Integrated Gradients: a simple but effective method for explaining language models",
equations 3 and 4.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.attribution.shared.paths import Rule, gap_caveats, nodes_of
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.blank import Baseline
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.many_points import Points, sums_at
from pellucid.run.model import Scores
from pellucid.run.precision import widened
from pellucid.run.target import Explainable

TRUSTED_GAP = 0.05


@attributions.add(
    needs={"gradient"}, cost="n_steps runs of the model a piece, with gradients", at_text=False, usual=False
)
def sequential_integrated_gradients(
    run: ForwardPass,
    target: Explainable,
    *,
    n_steps: int = 5,
    baselines: Baseline = "pad",
    rule: Rule = "gauss_legendre",
) -> Scores:
    """For each piece the rise of the target while it alone goes from blank to itself, by the gradient along the path.

    Since one piece moves alone, its score is the target's fall when it is replaced by the blank. Occlusion with operator
    "mask" or "pad" measures the same with one forward pass; the paper gains over it in single dimensions only. n_steps,
    rule, baselines: as for integrated_gradients; the paper takes "mask", which decoders do not have. Special tokens score
    0. Diagnostic `completeness_gap`: how far scores miss these falls, summed over the pieces, relative to
    the falls' sum of sizes.
    """
    at_least("n_steps", n_steps, 1)
    fading = _Fading(run, target, run.blank(baselines))
    scores = fading.shares(*nodes_of(rule, n_steps))
    errors = fading.gaps(scores).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"completeness_gap": gap} for gap in errors),
        caveats=gap_caveats(run, errors, TRUSTED_GAP, "n_steps", n_steps),
    )


@dataclass(frozen=True)
class _Fading:
    """Texts in which one piece at a time goes from blank to itself. blank: [example unit width]."""

    run: ForwardPass
    target: Explainable
    blank: Tensor

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """(example, unit) of every piece that is scored."""
        return [(number, unit) for number, units in enumerate(self.run.batch.units) for unit in units.content]

    def points(self, examples: list[int], units: list[int], nodes: Tensor) -> Tensor:
        """[point unit width]: each example's embeddings; one unit is moved this share, [point] in [0, 1], of the way from its blank."""
        embeddings = self.run.embeddings
        moved, row = embeddings[examples].clone(), torch.arange(len(examples))
        ends = self.blank[examples, units], embeddings[examples, units]
        moved[row, units] = torch.lerp(*ends, nodes.to(embeddings)[:, None])
        return moved

    def shares(self, nodes: Tensor, weights: Tensor) -> Tensor:
        """[example unit]: each piece's difference times the gradient at it, weighted over the nodes."""
        embeddings, pieces, steps = self.run.embeddings, self.pieces, range(len(nodes))
        owners = [number for number, _ in pieces for _ in steps]
        units = [unit for _, unit in pieces for _ in steps]
        nothing = torch.zeros_like(widened(embeddings[..., 0]))
        node, weight = nodes.repeat(len(pieces)), weights.repeat(len(pieces)).to(nothing)

        def at(numbers: list[int]) -> Tensor:
            return self.points([owners[n] for n in numbers], [units[n] for n in numbers], node[numbers])

        def add(scores: Tensor, numbers: list[int], gradient: Tensor) -> None:
            example, unit = [owners[n] for n in numbers], [units[n] for n in numbers]
            difference = embeddings[example, unit] - self.blank[example, unit]
            share = (difference * gradient[torch.arange(len(numbers)), unit]).sum(-1) * weight[numbers]
            index = torch.tensor(example), torch.tensor(unit)
            scores.index_put_(index, share.to(scores), accumulate=True)

        return sums_at(self.run, self.target, Points(owners, at), nothing.clone, add)

    def gaps(self, scores: Tensor) -> Tensor:
        """[example]: how far scores miss the falls, summed over the pieces, relative to the falls' sum of sizes."""
        run, pieces = self.run, self.pieces
        whole, embeddings = run.values(self.target), run.embeddings
        falls = torch.zeros_like(scores)
        for pack in run.scheduler.packs_of([run.batch.rows[number] for number, _ in pieces]):
            example, unit = [pieces[n][0] for n in pack], [pieces[n][1] for n in pack]
            blanked = embeddings[example].clone()
            blanked[torch.arange(len(pack)), unit] = self.blank[example, unit]
            below = run.of(example, blanked).values(self.target.select(example))
            falls[example, unit] = (whole[example] - below).to(falls)
        return (scores - falls).abs().sum(-1) / falls.abs().sum(-1).clamp_min(1e-6)
