"""Gradients at the text itself, and their mean over noisy copies."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.attribution.shared.diagnostics import GROUPS
from pellucid.attribution.shared.diagnostics import jackknife_error as relative_error
from pellucid.base.checks import at_least, one_of
from pellucid.base.kinds import attributions
from pellucid.base.memory import index_on, to_device, zeros_for
from pellucid.run.forward_pass import ForwardPass, Points, sums_at
from pellucid.run.model import Scores
from pellucid.run.rounding import resolution, widened
from pellucid.run.target import Explainable

Norm = Literal["l2", "l1", "sum"]
CANCELS = 1e-4
CANCELLED = (
    "The model normalises what is read here, so the entries of each gradient add up to 0 by construction and what is "
    "shown is rounding; use norm='l2'."
)


@attributions.add(needs={"gradient"}, cost="1 run of the model, with gradients", signed=False)
def gradient(run: ForwardPass, target: Explainable, *, norm: Norm = "l2", layer: int | None = None) -> Scores:
    """The size of the target's gradient by each piece's word embedding.

    How steeply the target changes with each piece's embedding.

    Source: Simonyan, Vedaldi & Zisserman (2014), "Deep Inside Convolutional Networks"; on BERT as GS of
    Wu & Ong (2021), "On Explaining Your Explanations of BERT" (their code squares the norm,
    corrections.md A2.2: same ranking).

    norm: "l2" (default) or "l1" over the embedding's dimensions, both >= 0; "sum" adds the entries with their signs.
    That sum is 0 where a LayerNorm follows, as in all of BERT's family at the word embeddings (a caveat says so).
    layer: None for word embeddings; l = 0 to the number of blocks for hidden states, 0 being the first block's input.
    """
    one_of("norm", norm, get_args(Norm))
    gradient = run.gradient(target, layer)
    caveats = (
        tuple((CANCELLED,) if cancels(of_example, run.number_type) else () for of_example in gradient)
        if norm == "sum"
        else ()
    )
    return run.scores(size_of(gradient, norm), caveats=caveats)


def size_of(gradient: Tensor, norm: Norm) -> Tensor:
    """[..., width] -> [...]: one number for each gradient."""
    if norm == "sum":
        return gradient.sum(-1)
    return gradient.norm(dim=-1) if norm == "l2" else gradient.abs().sum(-1)


def cancels(gradient: Tensor, dtype: torch.dtype) -> bool:
    """Whether the entries of every gradient [unit width] add up to no more than the rounding of this number type."""
    sizes = gradient.abs().sum(-1)
    allowed = (
        resolution(dtype, CANCELS) * sizes
        + gradient.shape[-1] * torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    )
    return bool((sizes > 0).any()) and bool((gradient.sum(-1).abs() <= allowed).all())


RIGHT_ANGLE = 1e-3
ORTHOGONAL = (
    "The model normalises what is read here before it adds anything to it, so these scores are 0 by construction and "
    "what is shown is rounding; use integrated_gradients or occlusion."
)


Combination = Literal["sum", "l2"]


@attributions.add(
    needs={"gradient"},
    cost="1 run of the model, with gradients, shared with gradient",
    later={"norm"},
    usual=False,  # where a norm follows the embeddings it is no better than random scores, or says the opposite
)
def gradient_x_input(
    run: ForwardPass, target: Explainable, *, norm: Combination = "sum", layer: int | None = None
) -> Scores:
    """Inner product of each piece's word embedding with the target's gradient there; signed.

    The first-order guess of what each piece adds to the target.

    Source: Shrikumar et al. (2016), "Not Just a Black Box"; on BERT as GI of Wu & Ong (2021). They read
    the embedding layer's output after LayerNorm, where the scores sum to about 0 (LayerNorm ignores
    scale): layer=0; by default we read the word embeddings.

    norm: "sum" adds the products of all dimensions, which is the inner product; "l2" takes the length of their vector,
    at least 0, as Wu & Ong do (GI): it says how much a piece matters, and not in which direction.
    layer: None for word embeddings; l = 0 to the number of blocks for hidden states, 0 being the first block's input.
    Exactly 0 in exact arithmetic where a norm follows the word embeddings at once (ModernBERT, DeBERTa-v3), which
    a caveat says.
    """
    one_of("norm", norm, get_args(Combination))
    gradient, state = run.gradient(target, layer), run.state(layer)
    if norm == "l2":
        return run.scores((gradient * state).norm(dim=-1))
    products = gradient * widened(state)
    scores = products.sum(-1).detach().cpu()
    # A sum that cancels is as uncertain as its terms are large.
    sizes_of_terms = products.double().norm(dim=-1).where(run.content, 0.0).amax(-1)
    lost = run.rounding.gradients * sizes_of_terms
    sizes = (gradient.norm(dim=-1) * widened(state).norm(dim=-1)).detach().cpu()
    return run.scores(
        scores,
        diagnostics=tuple({"resolution": float(f"{size:.2g}")} for size in lost.tolist()),
        caveats=tuple(
            (ORTHOGONAL,) if orthogonal(*example, run.number_type) else ()
            for example in zip(scores, sizes, strict=True)
        ),
    )


def orthogonal(scores: Tensor, sizes: Tensor, dtype: torch.dtype) -> bool:
    """Whether inner products [unit] are no more than this type's rounding, given the most they could be [unit]."""
    seen = bool((sizes > 0).any())
    return seen and bool((scores.abs() <= resolution(dtype, RIGHT_ANGLE) * sizes).all())


Form = Literal["mean", "squared", "variance"]
UNSURE = 0.1
WIDE = 2**62


@attributions.add(
    needs={"gradient"},
    cost="n_samples runs of the model, with gradients",
    at_text=False,
    signed=False,
    random=True,
)
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

    The gradient averaged over small random moves of the embeddings.

    Source: Smilkov et al. (2017), "SmoothGrad: removing noise by adding noise"; its squares: Hooker et
    al. (2019), "A Benchmark for Interpretability Methods in Deep Neural Networks"; its variance:
    Adebayo et al. (2018), "Local Explanation Methods for Deep Neural Networks Lack Sensitivity to
    Parameter Values".

    form: "mean" is the size of the mean gradient; "squared" sums the mean of each entry's square, "variance" each
    entry's variance. n_samples: moved texts, at least 1. noise: the standard deviation of the moves, as a share of the
    spread (largest less smallest entry) of the text's own embeddings. antithetic: moves come in opposite pairs, which
    cancels what is linear in them; None means True for "mean" and False for the other two forms, which pairs make less
    certain. times_input: each gradient is multiplied by the text's embedding, entry by entry; "mean" is then signed.
    norm (for "mean" without times_input): "l2", "l1" or the signed "sum". layer: None for word embeddings, or a layer's
    hidden states, which are then moved.

    Diagnostic `relative_error`: the scores' standard error as a share of the largest score (from 4 samples on).
    """
    one_of("form", form, get_args(Form))
    one_of("norm", norm, get_args(Norm))
    at_least("n_samples", n_samples, 1)
    at_least("noise", noise, 0.0)
    pairs = form == "mean" if antithetic is None else antithetic
    moves = Moves.drawn(run, "smooth_gradient", n_samples, noise, antithetic=pairs, layer=layer)
    sums = sums_of(run, target, moves, times_input, layer)
    score_of = MomentsToScores(form, "sum" if times_input else norm)
    errors = _errors(sums, moves, score_of)
    return run.scores(
        score_of(sums.sum(0) / n_samples),
        diagnostics=tuple({"relative_error": error} for error in errors),
        caveats=tuple(_caveats(error) for error in errors) if errors else (),
    )


@dataclass(frozen=True)
class MomentsToScores:
    """From the first two moments of gradients (means of entries and of their squares) to scores."""

    form: Form
    norm: Norm

    def __call__(self, moments: Tensor) -> Tensor:
        """[moment example unit width] -> [example unit]"""
        if self.form == "mean":
            return size_of(moments[0], self.norm)
        subtracted = moments[0].square() if self.form == "variance" else 0.0
        return (moments[1] - subtracted).sum(-1).clamp_min(0.0)


@dataclass(frozen=True)
class Moves:
    """Random moves of each example's embeddings: drawn anew from their seeds at each use, so that none is stored.

    width: of what is moved; lengths: [example], pieces; seeds: [example move]; scales: [example], standard deviations.
    antithetic: samples 2k and 2k + 1 are opposite.
    """

    width: int
    lengths: tuple[int, ...]
    seeds: Tensor
    scales: Tensor
    antithetic: bool

    @staticmethod
    def drawn(
        run: ForwardPass,
        method: str,
        count: int,
        noise: float,
        *,
        antithetic: bool = False,
        layer: int | None = None,
    ) -> "Moves":
        """Moves for each example; their size follows its own embeddings, special tokens included."""
        states, lengths = run.state(layer), run.batch.lengths
        spreads = [state[:n].max() - state[:n].min() for state, n in zip(states, lengths, strict=True)]
        seeds = [torch.randint(WIDE, (count,), generator=generator) for generator in run.generators(method)]
        return Moves(
            states.shape[2],
            lengths,
            torch.stack(seeds),
            noise * torch.stack(spreads),
            antithetic,
        )

    def vectors(self, examples: list[int], samples: list[int]) -> Tensor:
        """[sample unit width], padded to the longest of these examples; what two opposite moves share is drawn once."""
        device, count = self.scales.device, 2 if self.antithetic else 1
        draws = [(example, sample // count) for example, sample in zip(examples, samples, strict=True)]
        place = {draw: index for index, draw in enumerate(dict.fromkeys(draws))}
        drawn = self._drawn(list(place))[index_on(device, [place[draw] for draw in draws])]
        signs = torch.tensor([-1.0 if sample % count else 1.0 for sample in samples])
        sizes = to_device(signs, device).to(self.scales) * self.scales[index_on(device, examples)]
        return drawn * sizes[:, None, None]

    def _drawn(self, draws: list[tuple[int, int]]) -> Tensor:
        """[draw unit width], standard normal, where the scales are; draws: (example, its sample)."""
        longest = max(self.lengths[example] for example, _ in draws)
        drawn = zeros_for(self.scales.device, len(draws), longest, self.width)
        for line, (example, sample) in zip(drawn, draws, strict=True):
            generator = torch.Generator().manual_seed(int(self.seeds[example, sample]))
            line[: self.lengths[example]].normal_(generator=generator)
        return to_device(drawn, self.scales.device).to(self.scales.dtype)

    def group(self, sample: int) -> int:
        """The group that a sample is counted in; opposite moves share one."""
        return (sample // 2 if self.antithetic else sample) % GROUPS


def sums_of(run: ForwardPass, target: Explainable, moves: Moves, times_input: bool, layer: int | None) -> Tensor:
    """[group moment example unit width]: sums of gradients and of their squares."""
    states, count = run.state(layer), moves.seeds.shape[1]
    owners = [example for example in range(len(states)) for _ in range(count)]
    kind = torch.promote_types(states.dtype, torch.float32)

    def start() -> Tensor:
        return torch.zeros(min(GROUPS, count), 2, *states.shape, dtype=kind, device=states.device)

    def at(numbers: list[int]) -> Tensor:
        examples = [owners[index] for index in numbers]
        moved = moves.vectors(examples, [index % count for index in numbers]).to(states)
        return states[index_on(states.device, examples), : moved.shape[1]] + moved

    def add(sums: Tensor, numbers: list[int], gradient: Tensor) -> None:
        examples = index_on(states.device, [owners[index] for index in numbers])
        groups = index_on(states.device, [moves.group(index % count) for index in numbers])
        length = gradient.shape[1]
        parts = (gradient * states[examples, :length] if times_input else gradient).to(kind)
        cropped = sums[:, :, :, :length]  # a view: sums changes
        for moment, values in enumerate((parts, parts.square())):
            cropped[:, moment].index_put_((groups, examples), values, accumulate=True)

    return sums_at(run, target, Points(owners, at, layer), start, add)


def _errors(sums: Tensor, moves: Moves, score_of: MomentsToScores) -> list[float]:
    """[example] relative standard errors; none where there is no second group."""
    groups = torch.tensor([moves.group(sample) for sample in range(moves.seeds.shape[1])])
    counts = torch.bincount(groups, minlength=len(sums)).to(sums)
    drawn = counts > 0
    if int(drawn.sum()) < 2:
        return []
    return relative_error(sums[drawn], counts[drawn], score_of).tolist()


def _caveats(error: float) -> tuple[str, ...]:
    if error <= UNSURE:
        return ()
    return (f"The scores' standard error is {error:.0%} of the largest score; raise n_samples.",)
