"""Gradient x activation as Thermostat runs it: at the embedding layer's output.

Feldhus, Schwarzenberg & Möller (2021), "Thermostat"; as compared in Hou & Castañón (2023) (corrections.md A1.14).
"""

from pellucid.attribution.gradient_x_input import gradient_x_input
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(needs={"gradient", "hidden_states"}, cost="1 run of the model, with gradients", usual=False)
def thermostat_gradient_x_activation(run: ForwardPass, target: Explainable) -> Scores:
    """`gradient_x_input` with layer=0."""
    return gradient_x_input(run, target, layer=0)
