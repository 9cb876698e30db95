"""Occlusion as Thermostat ran it: windows of three pieces become [PAD].

Feldhus, Schwarzenberg & Möller (2021), "Thermostat: A Large Collection of NLP Model Explanations and Analysis Tools".
"""

from pellucid.attribution.occlusion import occlusion
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(needs=frozenset(), cost="1 run of the model a piece", usual=False)
def thermostat_occlusion(run: ForwardPass, target: Explainable) -> Scores:
    """`occlusion` with unit "piece", window 3 and operator "pad"; unlike theirs, special tokens are never replaced."""
    return occlusion(run, target, unit="piece", window=3, operator="pad")
