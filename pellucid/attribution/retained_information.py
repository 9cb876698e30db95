"""Retained information: how much of each word a hidden state still holds, by the noise that the word can bear.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", equation 7
(corrections.md A3.1 to A3.6).
"""

import torch
from torch import Tensor

from pellucid.attribution.shared.noise_search import NoiseSearch, SearchSettings, squared_jacobians
from pellucid.base.checks import at_least, between
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import Scores
from pellucid.run.state_scale import state_function, state_scale
from pellucid.run.target import Explainable

NAME = "retained_information"
DEVIATIONS = 10.0  # the largest noise, in standard deviations of word embeddings
SATURATED = 0.05  # nats: a piece that retains less bears noise of nearly any size
WIDE_SPREAD = 0.25  # nats


@attributions.add(
    needs={"gradient", "hidden_states"},
    cost="98 runs of the blocks below the state, with gradients, up to 392 where the search settles late",
    signed=False,
    random=True,
    usual=False,
    shares=False,
    reads="state_vector",
    measure="nats",
)
def retained_information(
    run: ForwardPass,
    target: Explainable,
    *,
    rate: float = 0.1,
    scale: float | None = None,
    reference: str | tuple[str, ...] = "pocket",
    n_seeds: int = 3,
    n_steps: int = 68,
    n_probes: int = 16,
) -> Scores:
    """How much of each piece a hidden state holds, in nats: log(scale / sigma), 0 or more, for one dimension of its
    embedding.

    Noise with standard deviation sigma_i is added to each piece's word embedding, to special tokens too. The sigmas
    minimise

        -sum of log sigma_i  +  1 / (K lambda)  x  expected |state with noise - state|² / sigma_S²

    so a piece that bears much noise is one that the state holds little of. sigma_i = scale x exp(-score).

    rate: how much noise the state itself may bear, above 0: for a state that is linear in the words, half of the rate
    is the share of sigma_S² that the noise makes. lambda = rate x d / (n K), as in the authors' code, for n pieces of K
    dimensions and d dimensions of the state: at a fixed rate lambda falls as a text gets longer. scale: the largest
    sigma; None is ten standard deviations of the word embeddings of the reference texts. Words that the state ignores
    have it, so sums of scores depend on it. reference: the data set (its train texts), or a list of texts, on which
    sigma_S and the scale are measured. n_seeds: searches with noise of their own, whose scores are averaged; they share
    the first 8 steps. n_steps: the most steps of each, with two opposite draws of noise a step; a text is done after 19
    or 38 if its search has settled. n_probes: products with the Jacobian for the start, which is the closed form of a
    linear state; a state of no more dimensions gets its whole Jacobian, and then the scores of a linear state are
    exact.

    sigma_S is the deviation of each dimension over all pieces of the reference texts. Where the paper speaks of I(X;
    S), the entropy of X is never measured; the scores are a perturbation measure. Their sum is that of the whole text
    only if words are independent. Of a long text each window is searched by itself, and a piece in two windows has the
    mean. The target is a hidden state; with layer="all" there is a row for each. Raises `BadSetting` for a class.

    Diagnostics: `seed_spread`, `saturated_share`, `evaluations`, `converged`, `noise_scale` and `lambda`; of several
    layers the worst, and lambda of the last.

    >>> state = pellucid.HiddenState(1)
    >>> explanation = pellucid.explain("my-classifier", "A good film.", "retained_information", target=state)[0]
    >>> bool((explanation.scores >= 0).all()), explanation.diagnostics["evaluations"]
    (True, 98.0)
    """
    _check(rate, scale, n_seeds, n_steps, n_probes)
    if not isinstance(target, ResolvedState):
        raise BadSetting("retained_information explains a hidden state; give target=HiddenState(layer).")
    settings = SearchSettings(rate, n_seeds, n_steps, n_probes)
    layers = [_of_layer(run, state, settings, scale, reference) for state in target.one_a_layer()]
    several = len(layers) > 1
    values = torch.stack([scores for scores, _ in layers], 1)
    by_example = tuple(zip(*(of_layer for _, of_layer in layers), strict=True))
    diagnostics = tuple(map(_worst, by_example))
    return Scores(
        run.batch.crop(values if several else values[:, 0]),
        rows=(("layer", tuple(map(str, target.layers))),) if several else (),
        diagnostics=diagnostics,
        caveats=tuple(map(_caveats, diagnostics)),
        of_rows=tuple(tuple((of_layer, _caveats(of_layer)) for of_layer in of_layers) for of_layers in by_example)
        if several
        else (),
    )


@diagnostics.add(worst="highest")
def seed_spread(nats: float) -> str:
    """How far the scores of a piece differ between seeds: the standard deviation in nats, averaged over the pieces
    that are not saturated."""
    return ""


@diagnostics.add(worst="highest")
def saturated_share(share: float) -> str:
    """The share of the text's pieces, special tokens left out, that bear noise of the largest size: the state holds
    next to nothing of them."""
    return ""


@diagnostics.add(worst="highest")
def evaluations(count: float) -> str:
    """How many runs of the blocks below the state the search took for the text, of each layer."""
    return ""


@diagnostics.add(worst="lowest")
def converged(yes: float) -> str:
    """1 where the search had settled when its steps were used up, else 0."""
    return ""


@diagnostics.add(worst="highest")
def noise_scale(scale: float) -> str:
    """The largest standard deviation of noise; a score is the logarithm of this, divided by the piece's own."""
    return ""


@diagnostics.add("lambda", worst="highest")
def weight_of_noise(value: float) -> str:
    """Lambda of equation 7, the weight of the noise's size against the change of the state."""
    return ""


def _check(rate: float, scale: float | None, n_seeds: int, n_steps: int, n_probes: int) -> None:
    between("rate", rate, 1e-9, 1e9)
    if scale is not None:
        between("scale", scale, 1e-9, 1e9)
    for name, value, lowest in (("n_seeds", n_seeds, 1), ("n_steps", n_steps, 4), ("n_probes", n_probes, 1)):
        at_least(name, value, lowest)


def _of_layer(
    run: ForwardPass,
    target: ResolvedState,
    settings: SearchSettings,
    scale: float | None,
    reference: str | tuple[str, ...],
) -> tuple[Tensor, tuple[dict[str, float], ...]]:
    """[example unit] scores for one layer, and each example's diagnostics."""
    phi, spread = state_function(run, target), state_scale(run.model, target, reference)
    largest = DEVIATIONS * spread.word_deviation if scale is None else scale
    probes = squared_jacobians(run, phi, spread.deviations, settings)
    search = NoiseSearch(run, phi, spread.deviations, largest, settings, probes)
    search.run_until_settled()
    of_seeds = (search.log_scale - search.estimate()).clamp_min(0.0)
    diagnostics = tuple(
        _of_seeds(of_seeds[n, :, :length], _of_text(run, n))
        | {"converged": float(search.has_settled(n)), "evaluations": search.evaluations(n)}
        | {"noise_scale": largest, "lambda": search.weight_of_noise(n)}
        for n, length in enumerate(run.batch.lengths)
    )
    return of_seeds.mean(1), diagnostics


def _of_text(run: ForwardPass, example: int) -> Tensor:
    """[unit] whether each is a piece of the text and no special token."""
    return torch.tensor([segment >= 0 for segment in run.batch.rows[example].segments])


def _of_seeds(of_seeds: Tensor, is_text: Tensor) -> dict[str, float]:
    """of_seeds: [seed unit] scores of one text; is_text: [unit]."""
    saturated = of_seeds.mean(0) < SATURATED
    several = len(of_seeds) > 1 and not bool(saturated.all())
    return {
        "seed_spread": float(of_seeds.std(0)[~saturated].mean()) if several else 0.0,
        "saturated_share": float(saturated[is_text.to(saturated.device)].double().mean())
        if bool(is_text.any())
        else 0.0,
    }


def _worst(of_layers: tuple[dict[str, float], ...]) -> dict[str, float]:
    return {
        name: (min if name == "converged" else max)(of_layer[name] for of_layer in of_layers) for name in of_layers[0]
    } | {"lambda": of_layers[-1]["lambda"]}


def _caveats(diagnostics: dict[str, float]) -> tuple[str, ...]:
    caveats = []
    if not diagnostics["converged"]:
        caveats.append("The search for the noise had not settled when its steps were used up; raise n_steps.")
    if diagnostics["seed_spread"] > WIDE_SPREAD:
        caveats.append(
            f"Between seeds the scores differ by {diagnostics['seed_spread']:.2f} nats on average; raise n_steps or "
            f"n_seeds."
        )
    if diagnostics["saturated_share"] > 0.9:
        caveats.append(
            "Nearly all pieces bear noise of the largest size: the state hardly depends on the words, or the scale is "
            "small."
        )
    return tuple(caveats)
