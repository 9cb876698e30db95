"""Gradient SHAP and DeepLIFT SHAP: means over baselines that are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from pellucid.attribution.gradient import Moves
from pellucid.attribution.shared.diagnostics import GROUPS
from pellucid.attribution.shared.diagnostics import jackknife_error as relative_error
from pellucid.attribution.shared.paths import Baselines, blank_texts, gap_caveats, gaps
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.base.memory import index_on, to_device
from pellucid.run.blank import Baseline, baseline_names
from pellucid.run.forward_pass import ForwardPass, Points, sums_at
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.rounding import quotient, widened
from pellucid.run.target import Explainable

TRUSTED_GAP = 0.05
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, fill [0, 1) evenly however many there are


@attributions.add(needs={"gradient"}, cost="n_samples runs of the model, with gradients", at_text=False, random=True)
def gradient_shap(
    run: ForwardPass,
    target: Explainable,
    *,
    n_samples: int = 20,
    baselines: Baselines = "pad",
    n_baselines: int = 5,
    noise: float = 0.0,
    even: bool = True,
    layer: int | None = None,
) -> Scores:
    """Mean over samples of (text - blank text) times the gradient at a random point between the two.

    Gradients at random points between blank texts and the text, which may itself be moved at random.

    Source: Lundberg & Lee (2017), "A Unified Approach to Interpreting Model Predictions" (the shap
    library's GradientExplainer); Erion et al. (2021), "Improving performance of deep learning models
    with axiomatic attribution priors and expected gradients", equation 4.

    n_samples: points drawn for each text, at least 1. baselines: what a blank text is made of, as for
    integrated_gradients. n_baselines: the number of blank texts of "uniform"; samples take turns through them. noise:
    the standard deviation of a random move of the text, as a share of the spread of its own embeddings; 0 for none.
    even: points are spread evenly from a random start; otherwise they are independent, which needs several times the
        samples.
    layer: None for word embeddings, or a layer's hidden states.

    Diagnostics `completeness_gap`: |sum of scores - rise over its own blank texts| / |rise|, and `relative_error`: the
    scores' standard error as a share of the largest score.
    """
    at_least("n_samples", n_samples, 1)
    at_least("noise", noise, 0.0)
    blanks = blank_texts(run, baselines, n_baselines, "gradient_shap")
    moves = Moves.drawn(run, "gradient_shap moves", n_samples, noise, layer=layer) if noise else None
    starts = torch.stack([run.at(blank).state(layer) for blank in blanks])
    samples = _Samples(starts, run.state(layer), _positions(run, n_samples, even), moves, layer, run.batch.lengths)
    sums, counts = _sums(run, target, samples)
    scores = sums.sum(0)[0, ..., 0] / n_samples
    diagnostics = [{"completeness_gap": gap} for gap in gaps(scores, _rise(run, target, samples)).tolist()]
    if len(counts) > 1:
        errors = relative_error(sums, counts, lambda mean: mean[0, ..., 0]).tolist()
        diagnostics = [{**gap, "relative_error": error} for gap, error in zip(diagnostics, errors, strict=True)]
    return run.scores(
        scores,
        diagnostics=tuple(diagnostics),
        caveats=gap_caveats(
            run, [diagnostic["completeness_gap"] for diagnostic in diagnostics], TRUSTED_GAP, "n_samples", n_samples
        ),
    )


@dataclass(frozen=True)
class _Samples:
    """starts: [baseline example unit width], end: [example unit width], positions: [example sample] in [0, 1), lengths:
    [example], pieces.
    """

    starts: Tensor
    end: Tensor
    positions: Tensor
    moves: Moves | None
    layer: int | None
    lengths: tuple[int, ...]

    def ends(self, examples: list[int], samples: list[int]) -> Tensor:
        """[sample unit width]: the moved texts, without padding beyond the longest of them."""
        ends = self.end[index_on(self.end.device, examples), : self._longest(examples)]
        return ends if self.moves is None else ends + self.moves.vectors(examples, samples).to(ends)

    def begins(self, examples: list[int], samples: list[int]) -> Tensor:
        """[sample unit width]: the blank texts, without padding beyond the longest of them."""
        blank = index_on(self.end.device, [sample % len(self.starts) for sample in samples])
        return self.starts[blank, index_on(self.end.device, examples), : self._longest(examples)]

    def _longest(self, examples: list[int]) -> int:
        return max(self.lengths[example] for example in examples)


def _positions(run: ForwardPass, count: int, even: bool) -> Tensor:
    """[example sample] in [0, 1): where on the line from blank text to text each sample is read."""
    draws = [
        torch.rand(count, generator=generator, dtype=torch.float64) for generator in run.generators("gradient_shap")
    ]
    positions = torch.stack(draws)
    if even:
        positions = (positions[:, :1] + GOLDEN * torch.arange(count, dtype=torch.float64)) % 1.0
    return positions


def _sums(run: ForwardPass, target: Explainable, samples: _Samples) -> tuple[Tensor, Tensor]:
    """[group 1 example unit 1] sums of difference times gradient, and [group] numbers of samples."""
    end, count = samples.end, samples.positions.shape[1]
    owners = [example for example in range(len(end)) for _ in range(count)]
    kind = torch.promote_types(end.dtype, torch.float32)

    def start() -> Tensor:
        return torch.zeros(min(GROUPS, count), *end.shape[:2], dtype=kind, device=end.device)

    def at(numbers: list[int]) -> Tensor:
        examples, order = [owners[n] for n in numbers], [n % count for n in numbers]
        begin, stop = samples.begins(examples, order), samples.ends(examples, order)
        positions = to_device(samples.positions[examples, order], end.device).to(end)
        return torch.lerp(begin, stop, positions[:, None, None])

    def add(sums: Tensor, numbers: list[int], gradient: Tensor) -> None:
        length, order = gradient.shape[1], [index % count for index in numbers]
        owned = [owners[index] for index in numbers]
        difference = (samples.ends(owned, order) - samples.begins(owned, order))[:, :length]
        groups = index_on(end.device, [sample % GROUPS for sample in order])
        examples = index_on(end.device, owned)
        shares = (difference * gradient).sum(-1).to(kind)
        sums[:, :, :length].index_put_((groups, examples), shares, accumulate=True)

    sums = sums_at(run, target, Points(owners, at, samples.layer), start, add)
    counts = torch.bincount(torch.arange(count) % GROUPS).to(sums)
    return sums[:, None, ..., None], counts


def _rise(run: ForwardPass, target: Explainable, samples: _Samples) -> Tensor:
    """[example]: mean over the samples of the target at the moved text less the target at its blank text."""
    count, everyone = samples.positions.shape[1], list(range(len(samples.end)))
    used = [index % len(samples.starts) for index in range(count)]
    below = [run.at(start, samples.layer).values(target) for start in samples.starts[: max(used) + 1]]
    lower = torch.stack([below[index] for index in used]).mean(0)
    if samples.moves is None:
        return run.values(target) - lower
    moved = [run.at(samples.ends(everyone, [n] * len(everyone)), samples.layer) for n in range(count)]
    return torch.stack([text.values(target) for text in moved]).mean(0) - lower


TRUSTED_DEEP_LIFT_GAP = 0.05
POINTS = 64  # on the line between the logits of two texts, for targets that are not linear in them


@attributions.add(
    needs={"gradient"},
    cost="1 run of the model, and 1 for each baseline with gradients",
    at_text=False,
    compares=True,
    leads="rescale",
)
def deep_lift_shap(
    run: ForwardPass, target: Explainable, *, baselines: tuple[Baseline, ...] = ("zero", "pad")
) -> Scores:
    """Share the target's rise over blanked texts among the pieces; signed, and 0 at special tokens.

    The target's rise over a baseline, shared among the pieces by differences; the mean of several
    baselines.

    Source: Shrikumar et al. (2017), "Learning Important Features Through Propagating Activation
    Differences" (rescale rule); Lundberg & Lee (2017), "A Unified Approach to Interpreting Model
    Predictions", section 4.2. Baselines zero and pad as ThermoStat runs it.

    baselines: what texts are blanked with, one or more of "zero", "pad", "mask" and "mean"; scores are the mean over
    them. Diagnostic `completeness_gap`: |sum of scores - mean rise| / |mean rise|.
    """
    scores, rise = _against(run, target, baseline_names(baselines))
    gaps = ((scores.sum(1) - rise).abs() / rise.abs().clamp_min(1e-6)).tolist()
    return run.scores(
        scores,
        diagnostics=tuple({"completeness_gap": gap} for gap in gaps),
        caveats=tuple(_caveats(gap) for gap in gaps),
    )


def _against(run: ForwardPass, target: Explainable, baselines: Sequence[Baseline]) -> tuple[Tensor, Tensor]:
    """[example unit] scores and [example] rise, the mean over baselines, from one pass over the texts and then their
    baselines.
    """
    count, embeddings = len(run.batch), run.embeddings
    blanks = [run.blank(name) for name in baselines]
    together = run.above_blanks("rescale", baselines, states=target.readout.want.hidden)
    check_parity(run.model, run.batch.examples, together.logits[:count], run.logits)
    text, *of_blanks = widened(together.origin(target.readout)).split(count)
    values = partial(together.values_from, target)
    of_pairs, rises = zip(*(_multipliers(values, text, of_blank) for of_blank in of_blanks), strict=True)
    weights = torch.cat([torch.zeros_like(text), *of_pairs])  # a pair's multipliers go back in its baseline's row
    multipliers = together.vector_jacobian_product(target.readout, weights).split(count)[1:]
    scores = [((embeddings - blank) * each).sum(-1) for blank, each in zip(blanks, multipliers, strict=True)]
    return torch.stack(scores).mean(0), torch.stack(rises).mean(0)


def _multipliers(values: Callable[[Tensor], Tensor], text: Tensor, blank_text: Tensor) -> tuple[Tensor, Tensor]:
    """[example ...] multipliers of the target by the network's own numbers, such as logits, and [example] the target's
    rise.

    Times the numbers' difference the multipliers sum to the rise. They are the mean gradient on the line between the
    numbers, which is the target's own gradient where the target is linear in them. What their sum misses is added along
    the line.
    """
    rise = values(text) - values(blank_text)
    step = (text - blank_text).masked_fill(text == blank_text, 0.0)  # a class that is ruled out is so in both
    gradient = torch.zeros_like(text)
    for index in range(POINTS):
        point = (blank_text + (index + 0.5) / POINTS * step).requires_grad_()
        gradient += torch.autograd.grad(values(point).sum(), point)[0] / POINTS
    missed = rise - (gradient * step).flatten(1).sum(-1)
    shares = quotient(missed, step.square().flatten(1).sum(-1))
    return gradient + shares.reshape(-1, *[1] * (step.ndim - 1)) * step, rise


def _caveats(gap: float) -> tuple[str, ...]:
    if gap <= TRUSTED_DEEP_LIFT_GAP:
        return ()
    return (
        f"The scores miss {gap:.1%} of the rise they should add up to: the model has a function for which there is no "
        "rescale rule, or the rise is nearly 0.",
    )
