"""Guan et al.'s relevance baseline: a hidden state handed down to the words, in absolute shares.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4, after Ding et al.
(2017), "Visualizing and Understanding Neural Machine Translation" (corrections.md A3.10).
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from pellucid.attribution.states.guan_gradient import OfLayer, in_layer_rows
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions, diagnostics, policies
from pellucid.base.wording import percent
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.policy_pass import PolicyPass
from pellucid.run.precision import quotient, rounding, widened
from pellucid.run.state_scale import place_weights
from pellucid.run.target import Explainable
from pellucid.run.traces import gradients_of

NAME = "guan_relevance"
TRUSTED_GAP = 0.05
CANCELS = 1e-4  # of the sizes of the state's entries
CANCELLED = (
    "The entries of this state add up to 0 by construction, because a norm made it, so what goes down cancels out and what "
    "is shown is rounding; relevance explains the state's length instead."
)


@attributions.add(
    needs={"gradient", "hidden_states"},
    cost="1 run of the model, and 1 back through it by the policy's rules for each layer",
    signed=False,
    usual=False,
    shares=False,
    reads="state_vector",
)
def guan_relevance(
    run: ForwardPass,
    target: Explainable,
    *,
    policy: str = "cp",
    policy_settings: Mapping[str, object] | None = None,
) -> Scores:
    """The sum over a piece's embedding of |relevance|, where each entry of the state starts with its own value; 0 or more.

    policy: the rules, by name, as in `relevance`. policy_settings: the policy's settings, by name.

    All entries go down together, so what speaks for one entry and against another cancels out before the sizes are
    added up; where a LayerNorm without weights made the state nothing is left, which a caveat says. The target is a hidden state; with layer="all" there is a row for each. Raises `BadSetting` for a class or for
    a policy without shares. Diagnostic: `state_conservation_gap`.

    >>> state = pellucid.HiddenState(1)
    >>> explanation = pellucid.explain("my-classifier", "A good film.", "guan_relevance", target=state)[0]
    >>> bool((explanation.scores >= 0).all())
    True
    """
    reader = policies.get(policy).facts["method"]
    if reader is not None:
        raise BadSetting(f"policy={policy!r} gives no shares of a state; use another policy.")
    if policy_settings is not None and not isinstance(policy_settings, Mapping):
        raise BadSetting(f"policy_settings={policy_settings!r} is not possible; give names with values.")
    under = run.under(policy, **dict(policy_settings or {}))
    check_parity(run.model, run.batch.examples, under.logits, run.logits)
    return in_layer_rows(run, target, NAME, lambda one: _of_layer(run, under, one))


@diagnostics.add(worst="highest", brief=lambda gap: f"{percent(gap)} of the state unaccounted for")
def state_conservation_gap(gap: float) -> str:
    """|words + what constants and rules absorbed - sum of the state| / sum of |state|."""
    if gap <= TRUSTED_GAP:
        return f"The words and what constants took add up to the state (off by {percent(gap)} of its size)."
    return f"The words and what constants took miss the state by {percent(gap)} of its size."


def _of_layer(run: ForwardPass, under: PolicyPass, target: ResolvedState) -> OfLayer:
    scores, gaps, sizes = _relevances(under, target, place_weights(run, target))
    for number, gap in enumerate(gaps):
        if len(run.batch) > 1 and not gap <= rounding(under.number_type):
            # What constants took can be told apart by texts only where texts are a tensor's first dimension.
            alone, own = under.alone(number), target.select([number])
            weights = place_weights(run, target)[[number], :, : run.batch.lengths[number]]
            gaps[number] = _relevances(alone, own, weights)[1][0]
    diagnostics = tuple({"state_conservation_gap": gap} for gap in gaps)
    cancelled = (scores.double().sum(1) <= CANCELS * sizes).tolist()
    return scores, diagnostics, tuple(map(_caveats, gaps, cancelled))


def _relevances(
    under: PolicyPass, target: ResolvedState, weights: Tensor
) -> tuple[Tensor, list[float], Tensor]:
    """[example unit] scores; for each example how far the relevance is from the state; and [example] the sum of |state|.

    weights: as `place_weights`.
    """
    with torch.enable_grad():
        hidden = target.readout.part_of(under.trace.hidden[target.readout.layer])
        read = weights.ne(0).any(1)[..., None]
        states = weights.to(hidden) @ hidden.masked_fill(~read, 0.0)
        sums = states.sum((1, 2))  # its gradient times the state is the state: the relevance that goes down
    gradients = gradients_of(sums, under.trace, hidden=False, accounts=under.ledger.shares)
    relevances = widened(gradients.embeddings) * under.state(None)
    arrived = relevances.double().sum((1, 2)) + sum(one.double() for one in gradients.absorbed.values())
    sizes = states.detach().double().abs().sum((1, 2))
    gaps = quotient((arrived - sums.detach().double()).abs(), sizes)
    return relevances.abs().sum(-1), gaps.tolist(), sizes


def _caveats(gap: float, cancelled: bool) -> tuple[str, ...]:
    if cancelled:
        return (CANCELLED,)
    if gap <= TRUSTED_GAP:
        return ()
    return (
        f"{gap:.1%} of the state went astray: the model has a function for which the policy has no rule.",
    )
