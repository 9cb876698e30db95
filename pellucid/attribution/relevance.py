"""Relevance (LRP): the target's value handed down layer by layer, each share in proportion to what was contributed.

Bach et al. (2015), "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by Layer-Wise Relevance
Propagation"; on BERT Wu & Ong (2021), equations 3 to 9, whose released rules conserve nothing (corrections.md A2.3 to
A2.7). Patents on LRP are held by others; commercial use may need a licence from them (see LXT's README).
"""

from typing import Any, Literal, get_args

import torch
from torch import Tensor

from pellucid.core.foundation.checks import between, one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attributions, policies
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.parity import check_parity
from pellucid.core.passes.precision import rounding
from pellucid.core.passes.target import Explainable

Reduce = Literal["sum", "abs"]
TRUSTED_GAP = 0.05


@attributions.add(needs={"gradient"}, cost="1 forward + 1 backward under the policy")
def relevance(
    run: ForwardPass,
    target: Explainable,
    *,
    policy: str = "cp",
    layer: int | None = None,
    reduce: Reduce = "sum",
    epsilon: float | None = None,
    alpha: float | None = None,
) -> Scores:
    """Share of the target's value that came from each piece; signed.

    policy: the rules, by name; epsilon and alpha are settings of the policies that have them. layer: None reads the
    word embeddings, l the hidden state after l blocks. reduce: "sum" over an embedding's dimensions, or "abs" for the
    sum of sizes (Wu & Ong), which is >= 0. A probability or loss begins with its gradient x logits. Diagnostics:
    `conservation_gap`, |words + absorbed - begun| / |begun|; `constants_share`, what biases, position and type
    embeddings took, and `rule_share`, what the policy's own stabiliser or softmax took, both of what was begun.
    """
    one_of("reduce", reduce, get_args(Reduce))
    if layer is not None:
        between("layer", layer, 0, run.model.n_layers)
    reader = policies.get(policy).facts["method"]
    if reader is not None:
        raise BadSetting(f"policy={policy!r} is no share of the answer by itself; use method {reader!r}.")
    given = {"epsilon": epsilon, "alpha": alpha}
    under = run.under(policy, **{name: value for name, value in given.items() if value is not None})
    check_parity(
        run.model, run.batch.examples, under.logits, run.logits
    )  # the policy's pass is the model's own
    state = under.state(layer)
    relevances = under.gradient(target, layer) * state
    scores = relevances.sum(-1) if reduce == "sum" else relevances.abs().sum(-1)
    return run.scores(scores, **_accounts(under, target))


def _accounts(under: ForwardPass, target: Explainable) -> dict[str, Any]:
    """Diagnostics and caveats: where the relevance that was begun has gone."""
    diagnostics = _diagnostics(under, target)
    allowed = rounding(under.number_type)
    if len(under.batch) > 1:
        for number, found in enumerate(diagnostics):
            if not found["conservation_gap"] <= allowed:
                # A tensor shows whose constants are in it only where texts come first; alone they are the text's own.
                alone, own = under.alone(number), target.select([number])
                diagnostics[number] = _diagnostics(alone, own)[0]
    return {
        "diagnostics": tuple(diagnostics),
        "caveats": tuple(_caveats(found) for found in diagnostics),
    }


def _diagnostics(under: ForwardPass, target: Explainable) -> list[dict[str, float]]:
    """For each example its conservation gap and what each account took."""
    begun = _begun(under, target)
    words = (under.gradient(target) * under.words).sum((1, 2)).double()
    taken = {account: found / begun for account, found in under.absorbed(target).items()}
    gaps = (words / begun + sum(taken.values()) - 1).abs().tolist()
    return [
        {"conservation_gap": gap, **{f"{account}_share": float(of[n]) for account, of in taken.items()}}
        for n, gap in enumerate(gaps)
    ]


def _begun(under: ForwardPass, target: Explainable) -> Tensor:
    """[example]: the target's gradient by the answers times the answers; the value itself, if it is linear in them."""
    answers = under.answers(target.reading).double().requires_grad_()
    (slope,) = torch.autograd.grad(target.values(answers).sum(), answers)
    begun = (slope * answers).sum(-1).detach()
    return torch.where(begun == 0, torch.finfo(begun.dtype).tiny, begun)


def _caveats(diagnostics: dict[str, float]) -> tuple[str, ...]:
    found, gap, constants = [], diagnostics["conservation_gap"], diagnostics["constants_share"]
    if not gap <= TRUSTED_GAP:
        found.append(
            f"{gap:.1%} of the relevance went astray: the model has a function for which the policy has no rule."
        )
    if abs(constants) > 1:
        found.append(
            f"Biases, position and type embeddings took {constants:.0%} of the relevance, more than "
            "there was: the words' scores sum to what is left, and look at single ones with care."
        )
    return tuple(found)
