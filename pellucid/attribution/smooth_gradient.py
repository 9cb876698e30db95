"""Smooth gradient: the gradient averaged over small random moves of the embeddings.

Smilkov et al. (2017), "SmoothGrad: removing noise by adding noise"; its squares: Hooker et al. (2019), "A Benchmark for
Interpretability Methods in Deep Neural Networks"; its variance: Adebayo et al. (2018), "Local Explanation Methods for
Deep Neural Networks Lack Sensitivity to Parameter Values".
"""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.attribution.gradient import Norm, size_of
from pellucid.attribution.shared.jackknife import GROUPS, relative_error
from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.many_points import gradients_at
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable

Form = Literal["mean", "squared", "variance"]
UNSURE = 0.1
WIDE = 2**62


@attributions.add(needs={"gradient"}, cost="n_samples x (1 forward + 1 backward)", signed=False, random=True)
def smooth_gradient(
    run: ForwardPass,
    target: Explainable,
    *,
    form: Form = "mean",
    n_samples: int = 20,
    noise: float = 0.03,
    antithetic: bool | None = None,
    times_input: bool = False,
    norm: Norm = "l2",
    layer: int | None = None,
) -> Scores:
    """The target's gradient by each piece's word embedding, over n_samples texts whose embeddings were moved at random.

    form: "mean" takes the mean gradient and then its size; "squared" sums the mean of each entry's square, "variance"
    each entry's variance. noise: the standard deviation of the moves, as a share of the spread (largest less smallest
    entry) of the text's own embeddings. antithetic: moves come in opposite pairs, which cancels what is linear in
    them; None does so for "mean", since it makes the other two forms less certain. times_input: each gradient is multiplied by the text's embedding, entry by entry; "mean" is then signed. norm
    (for "mean" without times_input): "l2", "l1" or the signed "sum". layer: None for word embeddings, or a layer's hidden
    states, which are then moved. Diagnostic `standard_error`: of the scores, as a
    share of the largest (from 4 samples on).
    """
    one_of("form", form, get_args(Form))
    one_of("norm", norm, get_args(Norm))
    at_least("n_samples", n_samples, 1)
    at_least("noise", noise, 0.0)
    pairs = form == "mean" if antithetic is None else antithetic
    moves = Moves.drawn(run, "smooth_gradient", n_samples, noise, pairs, layer)
    sums = sums_of(run, target, moves, times_input, layer)
    scores = Reading(form, "sum" if times_input else norm)
    errors = _errors(sums, moves, scores)
    return run.scores(
        scores(sums.sum(0) / n_samples),
        diagnostics=tuple({"standard_error": error} for error in errors),
        caveats=tuple(_caveats(error) for error in errors) if errors else (),
    )


@dataclass(frozen=True)
class Reading:
    """From the first two moments of gradients to scores."""

    form: Form
    norm: Norm

    def __call__(self, moments: Tensor) -> Tensor:
        """[moment example unit width] -> [example unit]"""
        if self.form == "mean":
            return size_of(moments[0], self.norm)
        less = moments[0].square() if self.form == "variance" else 0.0
        return (moments[1] - less).sum(-1).clamp_min(0.0)


@dataclass(frozen=True)
class Moves:
    """Random moves of each example's embeddings, made again whenever they are asked for.

    seeds: [example move]; scales: [example], standard deviations; antithetic: samples 2k and 2k + 1 are opposite.
    """

    shape: tuple[int, int]
    lengths: tuple[int, ...]
    seeds: Tensor
    scales: Tensor
    antithetic: bool

    @staticmethod
    def drawn(
        run: ForwardPass, method: str, count: int, noise: float, antithetic: bool, layer: int | None = None
    ) -> "Moves":
        """Moves for each example; their size follows its own embeddings, special tokens included."""
        words, lengths = run.state(layer), run.batch.lengths
        spreads = [one[:n].max() - one[:n].min() for one, n in zip(words, lengths, strict=True)]
        seeds = [torch.randint(WIDE, (count,), generator=made) for made in run.generators(method)]
        return Moves(
            (words.shape[1], words.shape[2]),
            lengths,
            torch.stack(seeds),
            noise * torch.stack(spreads),
            antithetic,
        )

    def of(self, examples: list[int], samples: list[int]) -> Tensor:
        """[sample unit width]"""
        made = torch.zeros(len(samples), *self.shape)
        for place, (example, sample) in enumerate(zip(examples, samples, strict=True)):
            draw = sample // 2 if self.antithetic else sample
            generator = torch.Generator().manual_seed(int(self.seeds[example, draw]))
            sign = -1 if self.antithetic and sample % 2 else 1
            length = self.lengths[example]
            made[place, :length] = sign * torch.randn(length, self.shape[1], generator=generator)
        return made.to(self.scales) * self.scales[examples, None, None]

    def group(self, sample: int) -> int:
        """The group that a sample is counted in; opposite moves share one."""
        return (sample // 2 if self.antithetic else sample) % GROUPS


def sums_of(
    run: ForwardPass, target: Explainable, moves: Moves, times_input: bool, layer: int | None
) -> Tensor:
    """[group moment example unit width]: sums of gradients and of their squares."""
    words, count = run.state(layer), moves.seeds.shape[1]
    owners = [example for example in range(len(words)) for _ in range(count)]
    kind = torch.promote_types(words.dtype, torch.float32)
    sums = torch.zeros(min(GROUPS, count), 2, *words.shape, dtype=kind, device=words.device)

    def at(numbers: list[int]) -> Tensor:
        examples = [owners[number] for number in numbers]
        return words[examples] + moves.of(examples, [number % count for number in numbers]).to(words)

    for numbers, gradient in gradients_at(run, target, owners, at, layer):
        examples = torch.tensor([owners[number] for number in numbers], device=words.device)
        groups = torch.tensor([moves.group(number % count) for number in numbers], device=words.device)
        length = gradient.shape[1]
        parts = (gradient * words[examples, :length] if times_input else gradient).to(kind)
        held = sums[:, :, :, :length]
        for moment, values in enumerate((parts, parts.square())):
            held[:, moment].index_put_((groups, examples), values, accumulate=True)
    return sums


def _errors(sums: Tensor, moves: Moves, scores: Reading) -> list[float]:
    """[example] relative standard errors; none where there is no second group."""
    groups = torch.tensor([moves.group(sample) for sample in range(moves.seeds.shape[1])])
    counts = torch.bincount(groups, minlength=len(sums)).to(sums)
    held = counts > 0
    if int(held.sum()) < 2:
        return []
    return relative_error(sums[held], counts[held], scores).tolist()


def _caveats(error: float) -> tuple[str, ...]:
    if error <= UNSURE:
        return ()
    return (f"The scores' standard error is {error:.0%} of the largest score; raise n_samples.",)
