"""Shapley sampling as Thermostat ran it: 25 independent orders of the pieces, absent ones being [PAD].

Feldhus, Schwarzenberg & Möller (2021), "Thermostat: A Large Collection of NLP Model Explanations and Analysis Tools".
"""

from pellucid.attribution.shapley_sampling import shapley_sampling
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable


@attributions.add(
    needs=frozenset(),
    cost="n_permutations runs of the model a piece",
    complete=True,
    random=True,
    usual=False,
)
def thermostat_shapley_sampling(run: ForwardPass, target: Explainable, *, n_permutations: int = 25) -> Scores:
    """`shapley_sampling` with unit "piece", operator "pad" and independent draws; special tokens are never replaced."""
    return shapley_sampling(
        run, target, unit="piece", operator="pad", draws="independent", n_permutations=n_permutations
    )
