"""Integrated gradients: along the straight line, through neighbouring words, and word by word."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.attribution.shared.paths import (
    Anchors,
    AnchorSearch,
    Baselines,
    Lines,
    Rule,
    Strategy,
    blank_texts,
    gap_caveats,
    gaps,
    lines_to,
    nodes_of,
)
from pellucid.base.checks import at_least, one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.blank import Baseline
from pellucid.run.forward_pass import ForwardPass, Points, sums_at
from pellucid.run.model import Scores
from pellucid.run.rounding import widened
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

    The gradient averaged along the straight path from a blank text to the text.

    Source: Sundararajan, Taly & Yan (2017), "Axiomatic Attribution for Deep Networks", equation 1.
    Averaged over a set of blank texts it is expected gradients: Erion et al. (2021).

    n_steps: points on the path, at least 1; doubling them about quarters the midpoint rule's error. tolerance: None, or
    the largest completeness gap to accept: a text's steps are tripled from n_steps (the old midpoints stay midpoints)
    until its gap is at most that, or tripling would pass 1,024 steps. baselines: what a blank text is made of, "pad",
    "mask", the "mean" of the vocabulary, the "zero" vector, or "uniform": n_baselines texts of random pieces, whose
    scores are averaged. Special tokens keep their own embeddings, so their scores are 0. rule: which points are read,
    "midpoint", "gauss_legendre" or "left". layer: None for word embeddings; l for the hidden states of layer l, where
    special tokens take part. Raises `BadSetting` for a tolerance with another rule than "midpoint".

    Diagnostics `completeness_gap`: |sum of scores - rise| / |rise|, and `n_steps`.
    """
    at_least("n_steps", n_steps, 1)
    if tolerance is not None:
        at_least("tolerance", tolerance, 1e-6)
        if rule != "midpoint":
            raise BadSetting(f"tolerance refines midpoints; with rule={rule!r} leave it away and choose n_steps.")
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
        diagnostics=tuple({"completeness_gap": gap, "n_steps": float(n)} for gap, n in zip(errors, steps, strict=True)),
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

    The path from blank to text passes near the embeddings of real pieces.

    Source: Sanyal & Ren (2021), "Discretized Integrated Gradients for Explaining Language Models",
    equation 4 and section 3.

    n_steps: the number of anchors. n_neighbours: the next anchor is one of so many nearest pieces. strategy: among
    these, the piece that needs least change ("greedy"), or the one with most entries that need none ("max_count").
    rule: where the gradient is read on a step of the path, at its "midpoint" or, as the authors do, at its "left" end,
        towards the blank.
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
    owners = [index for index in range(len(points)) for _ in range(steps)]

    def add(scores: Tensor, numbers: list[int], gradient: Tensor) -> None:
        length, examples = gradient.shape[1], torch.tensor([owners[index] for index in numbers])
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
    for index, (row, units) in enumerate(zip(run.batch.rows, run.batch.units, strict=True)):
        for unit in units.content:
            anchors = anchors or Anchors(table, blank[index, unit], search)
            if row.ids[unit] not in paths:
                paths[row.ids[unit]] = anchors.path(embeddings[index, unit])
            points[index, :, unit] = paths[row.ids[unit]]
    return points


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

    Each piece fades in by itself, in the otherwise whole text.

    Source: Enguehard (2023), "Sequential Integrated Gradients: a simple but effective method for
    explaining language models", equations 3 and 4.

    Since one piece moves alone, its score is the target's fall when it is replaced by the blank. Occlusion with
    operator "mask" or "pad" measures the same with one forward pass; the paper gains over it in single dimensions only.
    n_steps, rule, baselines: as for integrated_gradients; the paper takes "mask", which decoders do not have. Special
    tokens score
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
        return [(index, unit) for index, units in enumerate(self.run.batch.units) for unit in units.content]

    def points(self, examples: list[int], units: list[int], nodes: Tensor) -> Tensor:
        """[point unit width]: each example's embeddings; one unit is moved this share, [point] in [0, 1], of the way
        from its blank.
        """
        embeddings = self.run.embeddings
        moved, row = embeddings[examples].clone(), torch.arange(len(examples))
        ends = self.blank[examples, units], embeddings[examples, units]
        moved[row, units] = torch.lerp(*ends, nodes.to(embeddings)[:, None])
        return moved

    def shares(self, nodes: Tensor, weights: Tensor) -> Tensor:
        """[example unit]: each piece's difference times the gradient at it, weighted over the nodes."""
        embeddings, pieces, steps = self.run.embeddings, self.pieces, range(len(nodes))
        owners = [owner for owner, _ in pieces for _ in steps]
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
        for pack in run.scheduler.packs_of([run.batch.rows[owner] for owner, _ in pieces]):
            example, unit = [pieces[n][0] for n in pack], [pieces[n][1] for n in pack]
            blanked = embeddings[example].clone()
            blanked[torch.arange(len(pack)), unit] = self.blank[example, unit]
            below = run.of(example, blanked).values(self.target.select(example))
            falls[example, unit] = (whole[example] - below).to(falls)
        return (scores - falls).abs().sum(-1) / falls.abs().sum(-1).clamp_min(1e-6)
