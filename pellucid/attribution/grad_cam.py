"""Grad-CAM: gradient times activation of a layer's hidden states; negative products become 0.

Selvaraju et al. (2017), "Grad-CAM"; a position at a time as Hou & Castañón (2023), equation 1 (corrections.md A1.4).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.attribution.preservation_mask import named_layers
from pellucid.base.kinds import attributions, diagnostics
from pellucid.base.memory import to_device
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import RowFacts, Scores
from pellucid.run.rounding import quotient
from pellucid.run.target import Explainable

ELSEWHERE = 0.5
WORDS, OTHERS = "every word scores", "all other positions score"


@attributions.add(
    needs={"gradient", "hidden_states"},
    cost="1 run of the model, with gradients, for all layers together",
    signed=False,
    aliases={"gradcam"},
)
def grad_cam(
    run: ForwardPass,
    target: Explainable,
    *,
    layer: int | str = "late",
    pool_gradients: bool = False,
    relu: bool = True,
) -> Scores:
    """For each position of a layer, ReLU of the inner product of its hidden state and the target's gradient there.

    layer: l = 0 (the first block's input) to the number of blocks; "late" is two thirds of the way up; "all" gives a
    row for each. pool_gradients: every position gets the gradient's mean over the text's positions, as in the original
    for images. relu: False keeps negative products, which speak against the target.

    Diagnostics `special_share`: how much of the products' size lies on special tokens; `negative_share`: how much of it
    is negative, which relu sets to 0. Of several layers, the largest.
    """
    layers = named_layers(layer, run.model.n_layers)
    products = torch.stack([_products(run, target, layer_index, pool_gradients) for layer_index in layers], 1)
    sizes = products.abs().sum(-1)
    special = quotient((products.abs() * ~run.content[:, None]).sum(-1), sizes)
    negative = quotient(products.clamp_max(0.0).abs().sum(-1), sizes)
    scores = products.clamp_min(0.0) if relu else products
    several = layer == "all"
    alone = _positions_alone(run, products)
    facts = tuple(
        _of_layers(*shares, layers) for shares in zip(special.tolist(), negative.tolist(), alone, strict=True)
    )
    return run.scores(
        scores if several else scores[:, 0],
        rows=(("layer", tuple(map(str, layers))),) if several else (),
        diagnostics=tuple(_largest([shares for shares, _ in of_layers]) for of_layers in facts),
        caveats=tuple(
            tuple(_alone(rest, layer) for rest, layer in zip(of_text, layers, strict=True) if rest)
            if several
            else of_layers[0][1]
            for of_layers, of_text in zip(facts, alone, strict=True)
        ),
        of_rows=facts if several else (),
    )


@diagnostics.add(worst="highest")
def special_share(share: float) -> str:
    """How much of the size of the products lies on special tokens; the largest of several layers."""
    return ""


@diagnostics.add(worst="highest")
def negative_share(share: float) -> str:
    """How much of the size of the products is negative; the largest of several layers."""
    return ""


def _products(run: ForwardPass, target: Explainable, layer: int, pool_gradients: bool) -> Tensor:
    """[example unit]: hidden state times gradient; 0 at padding."""
    gradient, state = run.gradient(target, layer), run.state(layer)
    real = torch.arange(gradient.shape[1]) < torch.tensor(run.batch.lengths)[:, None]
    inside = to_device(real, gradient.device).to(gradient)[..., None]
    if pool_gradients:
        gradient = (gradient * inside).sum(1, keepdim=True) / inside.sum(1, keepdim=True)
    return (gradient * state * inside).sum(-1)


def _positions_alone(run: ForwardPass, products: Tensor) -> list[list[str]]:
    """[example layer]: what scores 0 where one position alone has a product, else ""; products: [example layer
    unit].
    """
    count = (products != 0).sum(-1).tolist()
    of_words = ((products != 0) & run.content[:, None]).sum(-1).tolist()
    return [
        [
            "" if n_positions != 1 or length < 2 else OTHERS if of_text else WORDS
            for n_positions, of_text in zip(*pair, strict=True)
        ]
        for pair, length in zip(zip(count, of_words, strict=True), run.batch.lengths, strict=True)
    ]


def _of_layers(
    special: Sequence[float], negative: Sequence[float], alone: Sequence[str], layers: Sequence[int]
) -> tuple[RowFacts, ...]:
    """What is known of each layer; special, negative, alone: [layer]."""
    return tuple(
        ({"special_share": on_special, "negative_share": below_zero}, _caveats(on_special, rest, layer))
        for on_special, below_zero, rest, layer in zip(special, negative, alone, layers, strict=True)
    )


def _largest(of_layers: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: max(shares[name] for shares in of_layers) for name in of_layers[0]}


def _caveats(special: float, alone: str, layer: int) -> tuple[str, ...]:
    caveats = (_alone(alone, layer),) if alone else ()
    if special <= ELSEWHERE:
        return caveats
    return (
        *caveats,
        f"At layer {layer}, {special:.0%} of the score lies on special tokens, where the model has gathered what it "
        "read: the words' scores tell the rest only.",
    )


def _alone(rest: str, layer: int) -> str:
    return f"What follows layer {layer} reads one position of it alone, so {rest} 0 there by construction."
