"""Two ways to say which words a hidden state depends on, as Guan et al. compare them: gradients and relevance."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from pellucid.base.checks import at_least, percent
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions, diagnostics, policies
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import Scores
from pellucid.run.parity import check_parity
from pellucid.run.policy_pass import PolicyPass
from pellucid.run.rounding import quotient, rounding, widened
from pellucid.run.state_scale import StateFunction, place_weights, state_function
from pellucid.run.target import Explainable
from pellucid.run.traces import gradients_of

# One row of scores for each explained layer.

OfLayer = tuple[Tensor, tuple[dict[str, float], ...], tuple[tuple[str, ...], ...]]


def in_layer_rows(
    run: ForwardPass, target: Explainable, method: str, of_layer: Callable[[ResolvedState], OfLayer]
) -> Scores:
    """A method's scores for one layer, or, where several are explained, a row for each.

    of_layer: the target of one layer -> scores [example unit], and for each example its diagnostics and caveats; of
    several layers the worst of each diagnostic. Raises `BadSetting` for a class.
    """
    if not isinstance(target, ResolvedState):
        raise BadSetting(f"{method} explains a hidden state; give target=HiddenState(layer).")
    layers = [of_layer(state) for state in target.one_a_layer()]
    several = len(layers) > 1
    values = torch.stack([scores for scores, _, _ in layers], 1)
    return Scores(
        run.batch.crop((values if several else values[:, 0]).detach()),
        rows=(("layer", tuple(map(str, target.layers))),) if several else (),
        diagnostics=tuple(_worst([of_layer[n] for _, of_layer, _ in layers]) for n in range(len(run.batch))),
        caveats=tuple(
            tuple(dict.fromkeys(caveat for _, _, of_layer in layers for caveat in of_layer[n]))
            for n in range(len(run.batch))
        ),
        of_rows=tuple(
            tuple((diagnostics[n], caveats[n]) for _, diagnostics, caveats in layers) for n in range(len(run.batch))
        )
        if several
        else (),
    )


def _worst(of_layers: list[dict[str, float]]) -> dict[str, float]:
    """The worst value of each diagnostic."""
    worst = {name: (min if name in ("exact", "converged") else max) for name in of_layers[0]}
    return {name: choose(of_layer[name] for of_layer in of_layers) for name, choose in worst.items()}


GRADIENT_NAME = "guan_gradient"
COARSE = 0.1  # of the largest score
ROUGH = "Other entries of the state would move a score by more than a tenth of the largest; raise n_entries."


@attributions.add(
    needs={"gradient", "hidden_states"},
    cost="1 run of the blocks below the state, and n_entries back through it",
    signed=False,
    random=True,
    usual=False,
    shares=False,
    reads="state_vector",
)
def guan_gradient(run: ForwardPass, target: Explainable, *, n_entries: int = 128) -> Scores:
    """The mean of |d state / d embedding| over the entries of the state and of each piece's embedding; 0 or more.

    Guan et al.'s gradient baseline: how strongly each entry of a state reacts to each entry of a
    piece's embedding.

    Source: Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP",
    section 4 (corrections.md A3.8).

    n_entries: how many of the state's entries are read; a state of no more is read whole, and the scores are exact.
    Else entries are drawn without replacement, from the text's content and the seed. Their mean is an unbiased estimate
    of the mean over all. (Random signs over all entries, as are common for this, are not: the mean |projection| of a
    column of the Jacobian lies between .71 and 1 of the column's length, which is another number than the mean of its
    sizes.)

    The target is a hidden state; with layer="all" there is a row for each. Raises `BadSetting` for a class.
    Diagnostics: `exact`, 1 where all entries were read; `relative_error`, the standard error as a share of the largest
    score.

    >>> state = pellucid.HiddenState(1, "first")
    >>> explanation = pellucid.explain("my-classifier", "A good film.", "guan_gradient", target=state)[0]
    >>> bool((explanation.scores >= 0).all()), explanation.diagnostics["exact"]
    (True, 1.0)
    """
    at_least("n_entries", n_entries, 1)
    return in_layer_rows(run, target, GRADIENT_NAME, lambda state: _gradients_of_layer(run, state, int(n_entries)))


def _gradients_of_layer(run: ForwardPass, target: ResolvedState, n_entries: int) -> OfLayer:
    phi = state_function(run, target)
    entries = _entries(run, phi, n_entries)  # those of the same number in all layers are the same
    points = phi.points.detach().requires_grad_()
    with torch.enable_grad():
        states = phi(range(len(run.batch)), points).flatten(1)
    first, second = torch.zeros(phi.points.shape[:2]).double(), torch.zeros(phi.points.shape[:2]).double()
    for index in range(max(map(len, entries))):
        rows = [n for n, of_text in enumerate(entries) if index < len(of_text)]
        read = states[rows, [int(entries[n][index]) for n in rows]].sum()
        (gradient,) = torch.autograd.grad(read, points, retain_graph=True)
        sizes = widened(gradient).abs().mean(-1).double().cpu()
        first, second = first + sizes, second + sizes.square()
    counts = torch.tensor([len(of_text) for of_text in entries])[:, None]
    means = first / counts
    variances = (second / counts - means.square()).clamp_min(0.0)
    diagnostics = tuple(
        _diagnostics(means[n, :length], variances[n, :length], len(entries[n]), _size(phi, n))
        for n, length in enumerate(run.batch.lengths)
    )
    return means.to(widened(phi.points)), diagnostics, tuple(map(_gradient_caveats, diagnostics))


def _size(phi: StateFunction, example: int) -> int:
    """How many entries the explained states of one text have."""
    return int(phi.real[example].sum()) * phi.states.shape[-1]


def _entries(run: ForwardPass, phi: StateFunction, most: int) -> list[Tensor]:
    """For each text the numbers of the entries to read: all of them, or some drawn without replacement."""
    sizes = [_size(phi, example) for example in range(len(run.batch))]
    return [
        torch.arange(size) if size <= most else torch.randperm(size, generator=generator)[:most]
        for size, generator in zip(sizes, run.generators(GRADIENT_NAME), strict=True)
    ]


def _diagnostics(means: Tensor, variances: Tensor, count: int, size: int) -> dict[str, float]:
    """means, variances: [unit] of one text, over the entries that were read. size: of all entries."""
    left_out = 1 - count / size  # what was drawn without replacement varies less
    error = (variances * left_out / max(1, count - 1)).mean().sqrt()
    return {"exact": float(count == size), "relative_error": float(quotient(error, means.max()))}


def _gradient_caveats(diagnostics: dict[str, float]) -> tuple[str, ...]:
    return (ROUGH,) if diagnostics["relative_error"] > COARSE else ()


# Guan et al.'s relevance baseline: a hidden state handed down to the words, in absolute shares.

RELEVANCE_NAME = "guan_relevance"
TRUSTED_GAP = 0.05
CANCELS = 1e-4  # of the sizes of the state's entries
CANCELLED = (
    "The entries of this state add up to 0 by construction, because a norm made it, so what goes down cancels out and "
    "what is shown is rounding; relevance explains the state's length instead."
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
    """The sum over a piece's embedding of |relevance|, where each entry of the state starts with its own value; 0 or
    more.

    Source: Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4,
    after Ding et al. (2017), "Visualizing and Understanding Neural Machine Translation" (corrections.md A3.10).

    policy: the rules, by name, as in `relevance`. policy_settings: the policy's settings, by name.

    All entries go down together, so what speaks for one entry and against another cancels out before the sizes are
    added up; where a LayerNorm without weights made the state nothing is left, which a caveat says. The target is a
    hidden state; with layer="all" there is a row for each. Raises `BadSetting` for a class or for a policy without
    shares. Diagnostic: `state_conservation_gap`.

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
    return in_layer_rows(run, target, RELEVANCE_NAME, lambda state: _relevance_of_layer(run, under, state))


@diagnostics.add(worst="highest", brief=lambda gap: f"{percent(gap)} of the state unaccounted for")
def state_conservation_gap(gap: float) -> str:
    """|words + what constants and rules absorbed - sum of the state| / sum of |state|.

    Source: Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4,
    after Ding et al. (2017), "Visualizing and Understanding Neural Machine Translation" (corrections.md A3.10).
    """
    if gap <= TRUSTED_GAP:
        return f"The words and what constants took add up to the state (off by {percent(gap)} of its size)."
    return f"The words and what constants took miss the state by {percent(gap)} of its size."


def _relevance_of_layer(run: ForwardPass, under: PolicyPass, target: ResolvedState) -> OfLayer:
    scores, gaps, sizes = _relevances(under, target, place_weights(run, target))
    for index, gap in enumerate(gaps):
        if len(run.batch) > 1 and not gap <= rounding(under.number_type):
            # What constants took can be told apart by texts only where texts are a tensor's first dimension.
            alone, selected = under.alone(index), target.select([index])
            weights = place_weights(run, target)[[index], :, : run.batch.lengths[index]]
            gaps[index] = _relevances(alone, selected, weights)[1][0]
    diagnostics = tuple({"state_conservation_gap": gap} for gap in gaps)
    cancelled = (scores.double().sum(1) <= CANCELS * sizes).tolist()
    return scores, diagnostics, tuple(map(_relevance_caveats, gaps, cancelled))


def _relevances(under: PolicyPass, target: ResolvedState, weights: Tensor) -> tuple[Tensor, list[float], Tensor]:
    """[example unit] scores; for each example how far the relevance is from the state; and [example] the sum of
    |state|.

    weights: as `place_weights`.
    """
    with torch.enable_grad():
        hidden = target.readout.part_of(under.trace.hidden[target.readout.layer])
        read = weights.ne(0).any(1)[..., None]
        states = weights.to(hidden) @ hidden.masked_fill(~read, 0.0)
        sums = states.sum((1, 2))  # its gradient times the state is the state: the relevance that goes down
    gradients = gradients_of(sums, under.trace, hidden=False, accounts=under.ledger.shares)
    relevances = widened(gradients.embeddings) * under.state(None)
    arrived = relevances.double().sum((1, 2)) + sum(absorbed.double() for absorbed in gradients.absorbed.values())
    sizes = states.detach().double().abs().sum((1, 2))
    gaps = quotient((arrived - sums.detach().double()).abs(), sizes)
    return relevances.abs().sum(-1), gaps.tolist(), sizes


def _relevance_caveats(gap: float, cancelled: bool) -> tuple[str, ...]:
    if cancelled:
        return (CANCELLED,)
    if gap <= TRUSTED_GAP:
        return ()
    return (f"{gap:.1%} of the state went astray: the model has a function for which the policy has no rule.",)
