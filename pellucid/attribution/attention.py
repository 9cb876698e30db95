"""Attention as scores: the weights of the last layer, of single heads, with norms and with gradients."""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.rounding import quotient
from pellucid.run.target import Explainable
from pellucid.run.trace import every_block, last_block

Flow = Literal["last_layer", "mean", "rollout", "tracing"]
Heads = Literal["mean", "chain"]
NO_CLASS = "Attention weights belong to no class: they show where the model looks, not for or against what."


@attributions.add(
    needs={"attention", "gradient"},
    cost="2 runs of the model, with attention weights",
    signed=False,
    of_class=False,
    at_text=False,
    compares=True,
)
def attention(
    run: ForwardPass,
    target: Explainable,
    *,
    flow: Flow = "last_layer",
    heads: Heads = "mean",
    residual: bool = False,
) -> Scores:
    """Weight of each piece in the row that the classifier reads; a text's weights, special tokens included, sum to 1.

    What the classifier's position attends to, in the last block, in all blocks or traced through them.

    Source: Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers" (rollout); Wu & Ong
    (2021), equation 10 (tracing, LAT; corrections.md A2.8). Which position the classification head
    reads is measured on the model (`ForwardPass.head_positions`), or known of a written word. The
    weights are not tied to any class.

    That is the row of the first piece for BERT and of the last piece for decoders, and the mean of all rows where the
    head pools the mean. flow: "last_layer"; "mean" of that row in all blocks; "rollout" multiplies all blocks' weights,
    each mixed half and half with the residual; "tracing" multiplies them without the residual. heads (tracing only):
    "mean" averages the heads of a block; "chain" follows each head through all blocks and averages at the end. residual
    (tracing only): True mixes the residual in, so that "mean" gives rollout. Not tied to a class: the same for every
    target.
    """
    one_of("flow", flow, get_args(Flow))
    one_of("heads", heads, get_args(Heads))
    if flow != "tracing" and (heads == "chain" or residual):
        raise BadSetting(
            f"heads='chain' and residual=True belong to flow='tracing'; with flow={flow!r} the heads are averaged."
        )
    keep = {"last_layer": _last_mean, "mean": _sum_of_means}.get(flow, _means if heads == "mean" else every_block)
    weights = [layer.float() for layer in run.attention_of(keep)]
    if flow == "mean":
        weights = [weights[0] / run.model.n_layers]
    scores = _traced(run.read_positions(target), weights, residual or flow == "rollout")
    return run.scores(scores, caveats=((NO_CLASS,),) * len(run.batch))


# Readings of the blocks' weights that are made while the network runs, so that no block's heads stay in memory.


def _mean(weights: Tensor) -> Tensor:
    return weights.float().mean(1, keepdim=True)


def _means(below: Sequence[Tensor], weights: Tensor) -> Sequence[Tensor]:
    return (*below, _mean(weights))


def _last_mean(_: Sequence[Tensor], weights: Tensor) -> Sequence[Tensor]:
    return (_mean(weights),)


def _sum_of_means(below: Sequence[Tensor], weights: Tensor) -> Sequence[Tensor]:
    return (sum(below, _mean(weights)),)


def _traced(positions: Tensor, weights: list[Tensor], residual: bool) -> Tensor:
    """positions . product over blocks, top to bottom, of weights or (weights + identity) / 2 a head; mean of heads."""
    row = positions.to(weights[0])[:, None, None, :]
    for layer in reversed(weights):
        row = (row @ layer + row) / 2 if residual else row @ layer
    return row.mean(1)[:, 0]


@attributions.add(
    needs={"attention", "gradient"},
    cost="2 runs of the model, with attention weights",
    signed=False,
    of_class=False,
    at_text=False,
    compares=True,
    usual=False,
)
def attention_heads(run: ForwardPass, target: Explainable) -> Scores:
    """One row of weights a head, called "block.head" from 1.1 up, in the row that the classifier reads; rows sum to 1.

    What each attends to from the position that the classifier reads.

    Source: Clark, Khandelwal, Levy & Manning (2019), "What Does BERT Look At? An Analysis of BERT's
    Attention".

    For looking at heads one by one; `attention` is their mean in the last block.
    """
    positions = run.read_positions(target)[:, None, None, :]
    rows = [(positions.to(weights) @ weights)[:, :, 0] for weights in run.attention]  # [example head unit] each
    names = tuple(f"{block}.{head}" for block, weights in enumerate(rows, 1) for head in range(1, weights.shape[1] + 1))
    return run.scores(torch.cat(rows, 1).float(), rows=(("head", names),), caveats=((NO_CLASS,),) * len(run.batch))


NormFlow = Literal["last_layer", "rollout"]
NORMS_OF_NO_CLASS = (
    "Norms belong to no class: they show what is carried to where the model reads, not for or against what."
)


@attributions.add(
    needs={"attention", "gradient"},
    cost="2 runs of the model, with attention weights",
    signed=False,
    of_class=False,
    at_text=False,
    compares=True,
)
def attention_norm(run: ForwardPass, target: Explainable, *, flow: NormFlow = "last_layer") -> Scores:
    """Size of the vector that each piece sends, over all heads, to the position that the classifier reads; >= 0.

    The size of the vector that a piece sends, not only the weight that it is given.

    Source: Kobayashi, Kuribayashi, Yokoi & Inui (2020), "Attention is Not Only a Weight: Analyzing
    Transformers with Vector Norms", equation 4 and its sum over heads: || sum_h alpha_h f_h(x) ||,
    where f_h is a head's value through the output projection.

    flow: "last_layer"; "rollout" divides every block's norms by their sum in a row, mixes each block half and half with
    the residual and multiplies all blocks, so a text's scores sum to 1. Not tied to a class. Raises `ModelCannot` where
    a block's heads do not end in one linear map.
    """
    one_of("flow", flow, get_args(NormFlow))
    blocks, values = run.head_values_of(last_block if flow == "last_layer" else every_block)
    row = run.read_positions(target).float()
    if flow == "last_layer":
        row = _carried(row, _norms(blocks[-1], values[-1]))
    else:
        for weights, value in zip(reversed(blocks), reversed(values), strict=True):
            norms = _norms(weights, value)
            shares = quotient(norms, norms.sum(-1, keepdim=True))
            row = (_carried(row, shares) + row) / 2
    return run.scores(row, caveats=((NORMS_OF_NO_CLASS,),) * len(run.batch))


def _carried(row: Tensor, matrix: Tensor) -> Tensor:
    """[example query] x [example query key] -> [example key]"""
    return (row[:, None, :] @ matrix)[:, 0]


def _norms(weights: Tensor, values: Tensor) -> Tensor:
    """[example query key]: || sum over heads of weights [.. head query key] x values [.. head key width] ||.

    Computed from the inner products of a key's head values, so that no tensor has size query x key x width.
    """
    inner = torch.einsum("bhkw,bgkw->bkhg", values.double(), values.double())
    shares = weights.double().permute(0, 3, 2, 1)  # [example key query head]
    squares = ((shares @ inner) * shares).sum(-1)
    return squares.clamp_min(0.0).sqrt().transpose(1, 2).float()


GradientFlow = Literal["mean", "last_layer", "rollout"]


@attributions.add(needs={"attention", "gradient"}, cost="1 run of the model, with attention weights and gradients")
def attention_gradient(
    run: ForwardPass, target: Explainable, *, flow: GradientFlow = "mean", positive: bool = False
) -> Scores:
    """Attention times the target's gradient by it, summed over the positions that look at a piece; mean of the heads.

    What the target would lose, to first order, without an attention weight.

    Source: Barkan et al. (2021), "Grad-SAM: Explaining Transformers via Gradient Self-Attention Maps";
    Chefer, Gur & Wolf (2021), "Generic Attention-model Explainability", equations 5 and 6 (rollout).

    flow: "mean" of all blocks, "last_layer" alone, or "rollout": the product over blocks of the identity plus the mean
    of the heads' positive parts, in the row that the classifier reads. positive: only weights that speak for the target
    count; each head's negative parts become 0. "rollout" needs positive=True, since products of negative parts mean
    nothing.
    """
    one_of("flow", flow, get_args(GradientFlow))
    if flow == "rollout" and not positive:
        raise BadSetting("flow='rollout' multiplies positive parts only; give positive=True with it.")
    blocks = [
        (weights * gradient).clamp_min(0.0) if positive else weights * gradient
        for weights, gradient in zip(run.attention, run.attention_gradient(target), strict=True)
    ]
    means = [block.mean(1) for block in blocks]
    if flow == "rollout":
        return run.scores(_rolled(run.read_positions(target), means))
    sums = [block.sum(1) for block in (means if flow == "mean" else means[-1:])]
    return run.scores(sum(sums[1:], sums[0]) / len(sums))


def _rolled(positions: Tensor, blocks: list[Tensor]) -> Tensor:
    """positions . product over blocks, top to bottom, of (identity + block), less the positions themselves."""
    row = start = positions.to(blocks[0])[:, None, :]
    for block in reversed(blocks):
        row = row + row @ block
    return (row - start)[:, 0]
