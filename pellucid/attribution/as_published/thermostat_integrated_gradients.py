"""Integrated gradients as Thermostat runs them: 25 Gauss-Legendre points, at the embedding layer's output, from padding.

Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023) (corrections.md A1.14).
"""

from pellucid.attribution.integrated_gradients import integrated_gradients
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(
    needs={"gradient", "hidden_states"}, cost="25 runs of the model, with gradients", usual=False
)
def thermostat_integrated_gradients(run: ForwardPass, target: Explainable) -> Scores:
    """`integrated_gradients` with n_steps=25, rule="gauss_legendre", baselines="pad", layer=0."""
    return integrated_gradients(run, target, n_steps=25, rule="gauss_legendre", baselines="pad", layer=0)
