"""Discretised integrated gradients: the path from blank to text passes near the embeddings of real pieces.

Sanyal & Ren (2021), "Discretized Integrated Gradients for Explaining Language Models", equation 4 and section 3.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.attribution.shared.paths import Anchors, AnchorSearch, Strategy, gap_caveats, gaps
from pellucid.base.checks import at_least, one_of
from pellucid.base.kinds import attributions
from pellucid.run.blank import Baseline
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.many_points import Points, sums_at
from pellucid.run.model import Scores
from pellucid.run.target import Explainable

TRUSTED_GAP = 0.05
StepRule = Literal["midpoint", "left"]


@attributions.add(
    needs={"gradient"},
    cost="n_steps + 1 runs of the model, with gradients, and searches of the vocabulary",
    at_text=False,
    usual=False,
)
def discretised_integrated_gradients(
    run: ForwardPass,
    target: Explainable,
    *,
    n_steps: int = 30,
    baselines: Baseline = "pad",
    strategy: Strategy = "greedy",
    n_neighbours: int = 500,
    rule: StepRule = "midpoint",
) -> Scores:
    """Share the target's rise along a path of n_steps anchors, changed so that no entry of an embedding turns back.

    n_steps: the number of anchors. n_neighbours: the next anchor is one of so many nearest pieces. strategy: among these, the
    piece that needs least change ("greedy"), or the one with most entries that need none ("max_count"). rule: where the
    gradient is read on a step of the path, at its "midpoint" or, as the authors do, at its "left" end, towards the blank.
    baselines: as for integrated_gradients. Special tokens score 0.
    Diagnostic `completeness_gap`: |sum of scores - rise| / |rise|.
    """
    at_least("n_steps", n_steps, 1)
    at_least("n_neighbours", n_neighbours, 1)
    one_of("strategy", strategy, get_args(Strategy))
    one_of("rule", rule, get_args(StepRule))
    points = _points(run, baselines, AnchorSearch(n_steps, n_neighbours, strategy))
    difference = points.diff(dim=1)
    nodes = points[:, :-1] + difference / 2 if rule == "midpoint" else points[:, :-1]
    steps = difference.shape[1]
    owners = [number for number in range(len(points)) for _ in range(steps)]

    def add(scores: Tensor, numbers: list[int], gradient: Tensor) -> None:
        length, examples = gradient.shape[1], torch.tensor([owners[number] for number in numbers])
        shares = (difference.flatten(0, 1)[numbers][:, :length] * gradient).sum(-1)
        scores[:, :length].index_add_(0, examples.to(scores.device), shares.to(scores))

    along = Points(owners, lambda numbers: nodes.flatten(0, 1)[numbers])
    scores = sums_at(run, target, along, torch.zeros_like(run.embeddings[..., 0]).clone, add)
    rise = run.values(target) - run.at(points[:, 0]).values(target)
    errors = gaps(scores, rise).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"completeness_gap": gap} for gap in errors),
        caveats=gap_caveats(run, errors, TRUSTED_GAP, "n_steps", n_steps),
    )


def _points(run: ForwardPass, baselines: Baseline, search: AnchorSearch) -> Tensor:
    """[example point unit width] from the blank text to the text; a special token stays where it is."""
    embeddings, blank = run.embeddings, run.blank(baselines)
    points = embeddings[:, None].repeat(1, search.n_steps + 2, 1, 1)
    table = run.model.embed(run.model.vocabulary.to(embeddings.device))
    paths: dict[int, Tensor] = {}
    anchors: Anchors | None = None
    for number, (row, units) in enumerate(zip(run.batch.rows, run.batch.units, strict=True)):
        for unit in units.content:
            anchors = anchors or Anchors(table, blank[number, unit], search)
            if row.ids[unit] not in paths:
                paths[row.ids[unit]] = anchors.path(embeddings[number, unit])
            points[number, :, unit] = paths[row.ids[unit]]
    return points
