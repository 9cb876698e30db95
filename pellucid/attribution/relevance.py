"""Relevance (LRP): the target's value handed down layer by layer, to each input in proportion to its contribution.

Bach et al. (2015), "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by Layer-Wise Relevance
Propagation"; on BERT Wu & Ong (2021), equations 3 to 9, whose released rules conserve nothing (corrections.md A2.3 to
A2.7). Patents on LRP are held by others; commercial use may need a licence from them (see LXT's README).
"""

from collections.abc import Mapping
from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of, percent, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions, diagnostics, policies
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.policy_pass import PolicyPass
from pellucid.run.rounding import rounding, widened
from pellucid.run.target import Explainable
from pellucid.run.traces import Gradients

Reduce = Literal["sum", "abs"]
TRUSTED_GAP = 0.05


@attributions.add(
    needs={"gradient"},
    cost="1 run of the model, and 1 back through it by the policy's rules",
    at_text=False,
    compares=True,
    later=frozenset({"policy_settings"}),
    aliases={"lrp"},
)
def relevance(
    run: ForwardPass,
    target: Explainable,
    *,
    policy: str = "cp",
    layer: int | None = None,
    reduce: Reduce = "sum",
    epsilon: float | None = None,
    alpha: float | None = None,
    policy_settings: Mapping[str, object] | None = None,
) -> Scores:
    """Share of the target's value that came from each piece; signed.

    policy: the rules, by name. policy_settings: settings of the policy, by name; those not named have the policy's
    defaults. epsilon, alpha: short forms of policy_settings={"epsilon": ...} and {"alpha": ...}; a setting is given in
    one form only. layer: None reads the word embeddings, l the hidden state after l blocks. reduce: "sum" over an
    embedding's dimensions, or "abs" for the sum of sizes (Wu & Ong), which is >= 0.

    A probability, a log-probability or a loss starts with the relevance gradient x logits. Diagnostics:
    `conservation_gap`, |words + absorbed
    - start| / |start|, where start is the relevance that the backward pass starts with; `constants_share`, what biases,
    position and type embeddings took, and `rule_share`, what the policy's own stabiliser or softmax took, both as
    shares of the start.

    Raises `UnknownName` for a setting that the policy does not have, `BadSetting` for a value that it does not take.
    """
    one_of("reduce", reduce, get_args(Reduce))
    reader = policies.get(policy).facts["method"]
    if reader is not None:
        raise BadSetting(f"policy={policy!r} gives no shares of the answer by itself; use method {reader!r}.")
    under = run.under(policy, **_joined_settings(policy_settings, epsilon=epsilon, alpha=alpha))
    check_parity(run.model, run.batch.examples, under.logits, run.logits)  # the policy's pass is the model's own
    state, gradients = under.state(layer), under.gradients(target)
    relevances = widened(gradients.by(layer)) * state
    scores = relevances.sum(-1) if reduce == "sum" else relevances.abs().sum(-1)
    diagnostics = _diagnostics_in_batch(under, target, gradients)
    return run.scores(
        scores, diagnostics=diagnostics, caveats=tuple(_caveats(of_example) for of_example in diagnostics)
    )


def _joined_settings(settings: Mapping[str, object] | None, **short_forms: float | None) -> dict[str, object]:
    """The policy's settings with those that were given by their short forms."""
    if settings is not None and not (isinstance(settings, dict) and all(isinstance(name, str) for name in settings)):
        raise BadSetting(
            f"policy_settings={quoted(settings)} is not possible; give names with values, such as {{'epsilon': 0.001}}."
        )
    joined = dict(settings or {})
    for name, value in short_forms.items():
        if value is None:
            continue
        if name in joined:
            raise BadSetting(f"{name} is given twice, by itself and in policy_settings; give it once.")
        joined[name] = value
    return joined


@diagnostics.add(worst="highest", brief=lambda gap: f"{percent(gap)} unaccounted for")
def conservation_gap(gap: float) -> str:
    """|words + absorbed - start| / |start|: relevance that reached neither the words nor an account."""
    with_accounts = "The scores, plus the shares that belong to no word,"
    if gap <= TRUSTED_GAP:
        return f"{with_accounts} add up to what they should (off by {percent(gap)})."
    return f"{with_accounts} miss {percent(gap)} of what they should add up to."


@diagnostics.add(worst="highest")
def constants_share(share: float) -> str:
    """What biases, position and type embeddings took, as a share of the relevance at the start."""
    return ""


@diagnostics.add(worst="highest")
def rule_share(share: float) -> str:
    """What the policy's own stabiliser or softmax took, as a share of the relevance at the start."""
    return ""


def _diagnostics_in_batch(under: PolicyPass, target: Explainable, gradients: Gradients) -> tuple[dict[str, float], ...]:
    """For each example its diagnostics; an example with a gap runs once more, alone."""
    diagnostics = _diagnostics(under, target, gradients)
    if under.ledger.n_examples > 1:
        for index, of_example in enumerate(diagnostics):
            if not of_example["conservation_gap"] <= rounding(under.number_type):
                # A constant can be assigned to its text only where texts are a tensor's first dimension; alone, all are
                # the text's own.
                alone, selected = under.alone(index), target.select([index])
                diagnostics[index] = _diagnostics(alone, selected, alone.gradients(selected))[0]
    return tuple(diagnostics)


def _diagnostics(under: PolicyPass, target: Explainable, gradients: Gradients) -> list[dict[str, float]]:
    """For each example its conservation gap and the share that each account took."""
    started = _starting_relevance(under, target)
    arrived = (widened(gradients.embeddings) * under.state(None)).sum((1, 2)).double()
    shares = {account: (absorbed / started).cpu() for account, absorbed in gradients.absorbed.items()}
    gaps = ((arrived / started).cpu() + sum(shares.values()) - 1).abs().tolist()
    return [
        {"conservation_gap": gap, **{f"{account}_share": float(share[n]) for account, share in shares.items()}}
        for n, gap in enumerate(gaps)
    ]


def _starting_relevance(under: PolicyPass, target: Explainable) -> Tensor:
    """[example]: see `PolicyPass.starting_relevance`; never 0, so that shares of it are numbers."""
    started = under.starting_relevance(target)
    return torch.where(started == 0, torch.finfo(started.dtype).tiny, started)


def _caveats(diagnostics: dict[str, float]) -> tuple[str, ...]:
    caveats, gap, constants = [], diagnostics["conservation_gap"], diagnostics["constants_share"]
    if not gap <= TRUSTED_GAP:
        caveats.append(
            f"{gap:.1%} of the relevance went astray: the model has a function for which the policy has no rule."
        )
    if abs(constants) > 1:
        caveats.append(
            f"Biases, position and type embeddings took {constants:.0%} of the relevance, more than "
            "there was: the words' scores sum to what is left, and look at single ones with care."
        )
    return tuple(caveats)
