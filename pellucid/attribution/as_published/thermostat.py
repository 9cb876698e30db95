"""Methods as the Thermostat data sets have them, a function each."""

import torch

from pellucid.attribution.gradient import gradient_x_input
from pellucid.attribution.gradient_shap import gradient_shap
from pellucid.attribution.integrated_gradients import integrated_gradients
from pellucid.attribution.occlusion import occlusion
from pellucid.attribution.shapley_sampling import shapley_sampling
from pellucid.attribution.shared.coalition_game import games
from pellucid.attribution.shared.surrogate import Sample, fitted
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable


@attributions.add(needs={"gradient", "hidden_states"}, cost="1 run of the model, with gradients", usual=False)
def thermostat_gradient_x_activation(run: ForwardPass, target: Explainable) -> Scores:
    """`gradient_x_input` with layer=0.

    Gradient x activation as Thermostat runs it: at the embedding layer's output.

    Source: Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023)
    (corrections.md A1.14).
    """
    return gradient_x_input(run, target, layer=0)


@attributions.add(
    needs={"gradient", "hidden_states"}, cost="25 runs of the model, with gradients", usual=False
)
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

    Unlike theirs, special tokens are never replaced. For the diagnostics see `pellucid.attribution.shared.surrogate`.
    """
    at_least("n_samples", n_samples, 8)
    game = games(run, target, "piece", "pad")
    samples = [
        _sample(size, n_samples, generator)
        for size, generator in zip(game.sizes, run.generators("thermostat_lime"), strict=True)
    ]
    return fitted(game, samples, ALPHA)


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
