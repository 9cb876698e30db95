"""Gradient SHAP as Thermostat runs it: 5 independent points, at the embedding layer's output, from padding, no noise.

Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023) (corrections.md A1.14).
"""

from pellucid.attribution.gradient_shap import gradient_shap
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(
    needs={"gradient", "hidden_states"}, cost="5 runs of the model, with gradients", random=True, usual=False
)
def thermostat_gradient_shap(run: ForwardPass, target: Explainable) -> Scores:
    """`gradient_shap` with n_samples=5, even=False, baselines="pad", noise=0, layer=0."""
    return gradient_shap(run, target, n_samples=5, even=False, baselines="pad", noise=0.0, layer=0)
