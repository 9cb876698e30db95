"""Variants as other people published them, a function each, to compare with."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from pellucid.attribution.gradient import (
    CANCELLED,
    ORTHOGONAL,
    Moves,
    cancels,
    gradient_x_input,
    orthogonal,
    sums_of,
)
from pellucid.attribution.gradient_shap import gradient_shap
from pellucid.attribution.integrated_gradients import integrated_gradients
from pellucid.attribution.occlusion import occlusion
from pellucid.attribution.shapley_sampling import shapley_sampling
from pellucid.attribution.shared.coalition_game import Question, Sample, fitted, games, surrogate
from pellucid.attribution.shared.paths import lines_to, nodes_of
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.rounding import quotient, widened
from pellucid.run.target import Explainable, ResolvedTarget

NO_LOSS = "A contrast, a regression or a hidden state has no loss; the target itself is explained."


def loss_of(target: Explainable) -> Explainable:
    """The loss of the explained class; the target itself where it has no loss."""
    return replace(target, output="loss") if isinstance(target, ResolvedTarget) and _has_loss(target) else target


def normalised_sizes(
    run: ForwardPass, target: Explainable, scores: Tensor, caveats: Sequence[tuple[str, ...]] = ()
) -> Scores:
    """The sizes of scores [example unit], each divided by their sum over the text; special tokens take part.

    caveats: one tuple an example (empty: none).
    """
    sizes = widened(scores).abs()
    of_target = () if _has_loss(target) else (NO_LOSS,)
    every = tuple((*of_target, *of_example) for of_example in caveats or ((),) * len(run.batch))
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

    n_steps: equal steps, each read at its left end. So the first point is the text of zeros, and the text itself is
    never read. 10 as in the library.
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
def allennlp_smooth(run: ForwardPass, target: Explainable, *, n_samples: int = 10, layer: int | None = None) -> Scores:
    """Size of the sum over the embedding of the loss's mean gradient, under noise of 1 % of the spread; sums to 1.

    The loss's mean gradient under noise, summed over the embedding, as a share of the text's.

    Source: Wallace et al. (2019), "AllenNLP Interpret"; as compared in Hou & Castañón (2023)
    (corrections.md A1.12).

    n_samples: 10 as in the library's last release; 25 in 2019. The gradient is not multiplied by the embedding. layer:
    None for word embeddings. A LayerNorm follows those in all of BERT's family. The sum is then 0 by construction, and
    a share of it would be rounding: all scores are 0, and a caveat says so; layer=0 reads behind the LayerNorm.
    """
    at_least("n_samples", n_samples, 1)
    moves = Moves.drawn(run, "smooth_gradient", n_samples, NOISE, layer=layer)
    mean = sums_of(run, loss_of(target), moves, False, layer).sum(0)[0] / n_samples
    empty = [cancels(gradient, run.number_type) for gradient in mean]
    shown = mean.sum(-1) * ~torch.tensor(empty, device=mean.device)[:, None]
    return normalised_sizes(run, target, shown, [(CANCELLED,) if is_empty else () for is_empty in empty])


# Methods as the Thermostat data sets have them, a function each.


@attributions.add(needs={"gradient", "hidden_states"}, cost="1 run of the model, with gradients", usual=False)
def thermostat_gradient_x_activation(run: ForwardPass, target: Explainable) -> Scores:
    """`gradient_x_input` with layer=0.

    Gradient x activation as Thermostat runs it: at the embedding layer's output.

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023)
    (corrections.md A1.14).
    """
    return gradient_x_input(run, target, layer=0)


@attributions.add(needs={"gradient", "hidden_states"}, cost="25 runs of the model, with gradients", usual=False)
def thermostat_integrated_gradients(run: ForwardPass, target: Explainable) -> Scores:
    """`integrated_gradients` with n_steps=25, rule="gauss_legendre", baselines="pad", layer=0.

    Integrated gradients as Thermostat runs them: 25 Gauss-Legendre points, at the embedding layer's
    output, from padding.

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023)
    (corrections.md A1.14).
    """
    return integrated_gradients(run, target, n_steps=25, rule="gauss_legendre", baselines="pad", layer=0)


@attributions.add(
    needs={"gradient", "hidden_states"}, cost="5 runs of the model, with gradients", random=True, usual=False
)
def thermostat_gradient_shap(run: ForwardPass, target: Explainable) -> Scores:
    """`gradient_shap` with n_samples=5, even=False, baselines="pad", noise=0, layer=0.

    5 independent points, at the embedding layer's output, from padding, no noise.

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023)
    (corrections.md A1.14).
    """
    return gradient_shap(run, target, n_samples=5, even=False, baselines="pad", noise=0.0, layer=0)


MASK_PROBABILITY = 0.3
ALPHA = 1.0


@attributions.add(needs=frozenset(), cost="n_samples runs of the model", random=True, usual=False)
def thermostat_lime(run: ForwardPass, target: Explainable, *, n_samples: int = 25) -> Scores:
    """Ridge coefficients that predict the target from which pieces are present, by n_samples random texts; see `lime`.

    25 texts in which each piece is [PAD] with probability 0.3, and a ridge regression.

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat: A Large Collection of NLP Model
    Explanations and Analysis Tools"; the sample weight is the share of unchanged pieces (corrections.md
    A1.14).

    Unlike theirs, special tokens are never replaced. For the diagnostics see
    `pellucid.attribution.shared.coalition_game`.
    """
    at_least("n_samples", n_samples, 8)
    game = games(run, target, "piece", "pad")

    def question(text: int, count: int) -> Question:
        sample = _sample(game.sizes[text], count, run.generator_of(text, "thermostat_lime"))
        return sample.present, lambda values: surrogate(sample, values, ALPHA)

    return fitted(game, n_samples, None, n_samples, question)


def _sample(players: int, n_samples: int, generator: torch.Generator) -> Sample:
    drawn = torch.rand(n_samples, players, generator=generator, dtype=torch.float64)
    present = (drawn >= MASK_PROBABILITY).numpy()
    return Sample(present, present.mean(1), 0)


@attributions.add(
    needs=frozenset(),
    cost="n_permutations runs of the model a piece",
    complete=True,
    random=True,
    usual=False,
)
def thermostat_shapley_sampling(run: ForwardPass, target: Explainable, *, n_permutations: int = 25) -> Scores:
    """`shapley_sampling` with unit "piece", operator "pad" and independent draws; special tokens are never replaced.

    25 independent orders of the pieces, absent ones being [PAD].

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat: A Large Collection of NLP Model
    Explanations and Analysis Tools".
    """
    return shapley_sampling(
        run, target, unit="piece", operator="pad", draws="independent", n_permutations=n_permutations
    )


@attributions.add(needs=frozenset(), cost="1 run of the model a piece", usual=False)
def thermostat_occlusion(run: ForwardPass, target: Explainable) -> Scores:
    """`occlusion` with unit "piece", window 3 and operator "pad"; unlike theirs, special tokens are never replaced.

    Windows of three pieces become [PAD].

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat: A Large Collection of NLP Model
    Explanations and Analysis Tools".
    """
    return occlusion(run, target, unit="piece", window=3, operator="pad")


# LRP on BERT as Wu & Ong's released code computes it, to compare with their numbers; not the rule of their paper.

RELEASED = (
    "These are the rules of a released code, which its author says are not LRP: signs are lost, residuals count twice, "
    "and denominators can come near 0. Use relevance to explain."
)


@attributions.add(
    needs={"gradient", "hidden_states", "bert_layers"},
    cost="2 runs of the model, with gradients, one text at a time",
    at_text=False,
    compares=True,
    signed=False,
    usual=False,
)
def wu_ong_lrp(run: ForwardPass, target: Explainable) -> Scores:
    """Sum of the sizes of the relevance that their rules hand down to each piece's embedding, behind its norm; >= 0.

    Source: Wu & Ong (2021), "On Explaining Your Explanations of BERT"; corrections.md A2.3 to A2.7 say
    what the code does and why `relevance` does not.

    Texts run one by one: neighbours change the rounding, and denominators near 0 would magnify it. A contrast of two
    classes starts with relevance that sums to 0, and so does the probability or loss of one class of several. These
    rules shrink such relevance to nothing: all scores are then about 0.
    """
    relevances = []
    for index in range(len(run.batch)):
        alone = run.under("wu_ong").alone(index)
        check_parity(run.model, alone.batch.examples, alone.logits, run.logits[[index]])
        relevance = alone.gradients(target.select([index])).hidden[0]
        relevances.append(relevance.abs().sum(-1)[0])
    scores = torch.nn.utils.rnn.pad_sequence(relevances, batch_first=True)
    return run.scores(scores, caveats=((RELEASED,),) * len(relevances))
