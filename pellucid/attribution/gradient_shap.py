"""Gradient SHAP: gradients at random points between blank texts and the text, which may itself be moved at random.

Lundberg & Lee (2017), "A Unified Approach to Interpreting Model Predictions" (the shap library's GradientExplainer);
Erion et al. (2021), "Improving performance of deep learning models with axiomatic attribution priors and expected
gradients", equation 4.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.attribution.shared.jackknife import GROUPS, relative_error
from pellucid.attribution.shared.paths import Baselines, blank_texts, gap_caveats, gaps
from pellucid.attribution.smooth_gradient import Moves
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.base.memory import index_on, to_device
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.many_points import Points, sums_at
from pellucid.run.model import Scores
from pellucid.run.target import Explainable

TRUSTED_GAP = 0.05
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, fill [0, 1) evenly however many there are


@attributions.add(
    needs={"gradient"}, cost="n_samples runs of the model, with gradients", at_text=False, random=True
)
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

    n_samples: points drawn for each text, at least 1. baselines: what a blank text is made of, as for
    integrated_gradients. n_baselines: the number of blank texts of "uniform"; samples take turns through them. noise: the
    standard deviation of a random move of the text, as a share of the spread of its own embeddings; 0 for none. even:
    points are spread evenly from a random start; otherwise they are independent, which needs several times the samples.
    layer: None for word embeddings, or a layer's hidden states.

    Diagnostics `completeness_gap`: |sum of scores - rise over its own blank texts| / |rise|, and `relative_error`: the
    scores' standard error as a share of the largest score.
    """
    at_least("n_samples", n_samples, 1)
    at_least("noise", noise, 0.0)
    blanks = blank_texts(run, baselines, n_baselines, "gradient_shap")
    moves = Moves.drawn(run, "gradient_shap moves", n_samples, noise, layer=layer) if noise else None
    starts = torch.stack([run.at(blank).state(layer) for blank in blanks])
    samples = _Samples(
        starts, run.state(layer), _positions(run, n_samples, even), moves, layer, run.batch.lengths
    )
    sums, counts = _sums(run, target, samples)
    scores = sums.sum(0)[0, ..., 0] / n_samples
    diagnostics = [{"completeness_gap": gap} for gap in gaps(scores, _rise(run, target, samples)).tolist()]
    if len(counts) > 1:
        errors = relative_error(sums, counts, lambda mean: mean[0, ..., 0]).tolist()
        diagnostics = [
            {**gap, "relative_error": error} for gap, error in zip(diagnostics, errors, strict=True)
        ]
    return run.scores(
        scores,
        diagnostics=tuple(diagnostics),
        caveats=gap_caveats(
            run, [one["completeness_gap"] for one in diagnostics], TRUSTED_GAP, "n_samples", n_samples
        ),
    )


@dataclass(frozen=True)
class _Samples:
    """starts: [baseline example unit width], end: [example unit width], positions: [example sample] in [0, 1), lengths: [example], pieces."""

    starts: Tensor
    end: Tensor
    positions: Tensor
    moves: Moves | None
    layer: int | None
    lengths: tuple[int, ...]

    def ends(self, examples: list[int], samples: list[int]) -> Tensor:
        """[sample unit width]: the moved texts, without padding beyond the longest of them."""
        ends = self.end[index_on(self.end.device, examples), : self._longest(examples)]
        return ends if self.moves is None else ends + self.moves.of(examples, samples).to(ends)

    def begins(self, examples: list[int], samples: list[int]) -> Tensor:
        """[sample unit width]: the blank texts, without padding beyond the longest of them."""
        blank = index_on(self.end.device, [sample % len(self.starts) for sample in samples])
        return self.starts[blank, index_on(self.end.device, examples), : self._longest(examples)]

    def _longest(self, examples: list[int]) -> int:
        return max(self.lengths[example] for example in examples)


def _positions(run: ForwardPass, count: int, even: bool) -> Tensor:
    """[example sample] in [0, 1): where on the line from blank text to text each sample is read."""
    draws = [
        torch.rand(count, generator=generator, dtype=torch.float64)
        for generator in run.generators("gradient_shap")
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
        length, order = gradient.shape[1], [number % count for number in numbers]
        owned = [owners[number] for number in numbers]
        difference = (samples.ends(owned, order) - samples.begins(owned, order))[:, :length]
        groups = index_on(end.device, [number % GROUPS for number in order])
        examples = index_on(end.device, owned)
        shares = (difference * gradient).sum(-1).to(kind)
        sums[:, :, :length].index_put_((groups, examples), shares, accumulate=True)

    sums = sums_at(run, target, Points(owners, at, samples.layer), start, add)
    counts = torch.bincount(torch.arange(count) % GROUPS).to(sums)
    return sums[:, None, ..., None], counts


def _rise(run: ForwardPass, target: Explainable, samples: _Samples) -> Tensor:
    """[example]: mean over the samples of the target at the moved text less the target at its blank text."""
    count, everyone = samples.positions.shape[1], list(range(len(samples.end)))
    used = [number % len(samples.starts) for number in range(count)]
    below = [run.at(start, samples.layer).values(target) for start in samples.starts[: max(used) + 1]]
    lower = torch.stack([below[number] for number in used]).mean(0)
    if samples.moves is None:
        return run.values(target) - lower
    moved = [run.at(samples.ends(everyone, [n] * len(everyone)), samples.layer) for n in range(count)]
    return torch.stack([text.values(target) for text in moved]).mean(0) - lower
