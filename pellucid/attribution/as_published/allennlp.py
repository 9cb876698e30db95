"""Methods as AllenNLP Interpret has them: shares of the sum of sizes, and gradients of the loss."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from pellucid.attribution.gradient import CANCELLED, ORTHOGONAL, cancels, orthogonal
from pellucid.attribution.shared.paths import lines_to, nodes_of
from pellucid.attribution.smooth_gradient import Moves, sums_of
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.precision import quotient, widened
from pellucid.run.target import Explainable, ResolvedTarget

NO_LOSS = "A contrast, a regression or a hidden state has no loss; the target itself is explained."


def loss_of(target: Explainable) -> Explainable:
    """The loss of the explained class; the target itself where it has no loss."""
    return (
        replace(target, output="loss") if isinstance(target, ResolvedTarget) and _has_loss(target) else target
    )


def normalised_sizes(
    run: ForwardPass, target: Explainable, scores: Tensor, caveats: Sequence[tuple[str, ...]] = ()
) -> Scores:
    """The sizes of scores [example unit], each divided by their sum over the text; special tokens take part.

    caveats: one tuple an example (empty: none).
    """
    sizes = widened(scores).abs()
    own = () if _has_loss(target) else (NO_LOSS,)
    every = tuple((*own, *of_example) for of_example in caveats or ((),) * len(run.batch))
    return run.scores(quotient(sizes, sizes.sum(-1, keepdim=True)), caveats=every)


def _has_loss(target: Explainable) -> bool:
    return isinstance(target, ResolvedTarget) and target.against is None and target.problem != "regression"


@attributions.add(needs={"gradient"}, cost="1 run of the model, with gradients", signed=False, usual=False)
def allennlp_simple(run: ForwardPass, target: Explainable) -> Scores:
    """Size of the inner product of each piece's word embedding with the loss's gradient; sums to 1.

    Gradient x input of the loss, its size, as a share of the text's.

    Source: Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023)
    (corrections.md A1.12).

    Where a norm follows the word embeddings at once, the products are 0 by construction and a share of them is
    rounding: all scores are then 0, and a caveat says so.
    """
    gradient, embeddings = run.gradient(loss_of(target)), widened(run.embeddings)
    scores, sizes = (gradient * embeddings).sum(-1), gradient.norm(dim=-1) * embeddings.norm(dim=-1)
    empty = [orthogonal(*example, run.number_type) for example in zip(scores, sizes, strict=True)]
    shown = scores * ~torch.tensor(empty, device=scores.device)[:, None]
    return normalised_sizes(run, target, shown, [(ORTHOGONAL,) if is_empty else () for is_empty in empty])


@attributions.add(
    needs={"gradient"},
    cost="n_steps runs of the model, with gradients",
    at_text=False,
    signed=False,
    usual=False,
)
def allennlp_integrated(run: ForwardPass, target: Explainable, *, n_steps: int = 10) -> Scores:
    """Size of integrated gradients of the loss, from zero embeddings of all pieces, special tokens too; sums to 1.

    AllenNLP's integrated gradients of the loss: ten points from zero, the left ends of equal steps;
    sizes as shares.

    Source: Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023)
    (corrections.md A1.12).

    n_steps: equal steps, each read at its left end. So the first point is the text of zeros, and the text itself is never
    read. 10 as in the library.
    """
    at_least("n_steps", n_steps, 1)
    lines = lines_to(run, loss_of(target), torch.zeros_like(run.embeddings)[None])
    return normalised_sizes(run, target, lines.shares(*nodes_of("left", n_steps)))


NOISE = 0.01


@attributions.add(
    needs={"gradient"},
    cost="n_samples runs of the model, with gradients",
    at_text=False,
    signed=False,
    random=True,
    usual=False,
)
def allennlp_smooth(
    run: ForwardPass, target: Explainable, *, n_samples: int = 10, layer: int | None = None
) -> Scores:
    """Size of the sum over the embedding of the loss's mean gradient, under noise of 1 % of the spread; sums to 1.

    The loss's mean gradient under noise, summed over the embedding, as a share of the text's.

    Source: Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023)
    (corrections.md A1.12).

    n_samples: 10 as in the library's last release; 25 in 2019. The gradient is not multiplied by the embedding. layer: None
    for word embeddings. A LayerNorm follows those in all of BERT's family. The sum is then 0 by construction, and a share
    of it would be rounding: all scores are 0, and a caveat says so; layer=0 reads behind the LayerNorm.
    """
    at_least("n_samples", n_samples, 1)
    moves = Moves.drawn(run, "smooth_gradient", n_samples, NOISE, layer=layer)
    mean = sums_of(run, loss_of(target), moves, False, layer).sum(0)[0] / n_samples
    empty = [cancels(one, run.number_type) for one in mean]
    shown = mean.sum(-1) * ~torch.tensor(empty, device=mean.device)[:, None]
    return normalised_sizes(run, target, shown, [(CANCELLED,) if is_empty else () for is_empty in empty])
