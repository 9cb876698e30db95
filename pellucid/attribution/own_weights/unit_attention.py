"""Unit attention: the weights by which a model with attention over its units sums their states.

Tutek & Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", section 2. Weighting by norms
is Kobayashi, Kuribayashi, Yokoi & Inui (2020), "Attention is Not Only a Weight", equation 3, for one head without a value
map. Whether such weights explain anything is to be tested and not assumed (Jain & Wallace 2019).
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import one_of
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import ResolvedTarget
from pellucid.text.units import Units, coarsen

BROAD = 0.5  # of the units: weight on so many says that none decided
By = Literal["weight", "norm"]


@attributions.add(
    needs={"unit_weights"}, cost="1 run of the model", signed=False, of_class=False, units="word"
)
def unit_attention(run: ForwardPass, target: ResolvedTarget, *, by: By = "weight") -> Scores:
    """The weight alpha of every unit; the weights of a text are >= 0 and sum to 1.

    Not tied to a class: they show what the model read, not for or against what. A unit's state has read the whole text, so a
    weight belongs to a unit's place and not surely to its word. by: "weight"; "norm" multiplies each weight by the length of
    the state that it weighs, so that a heavy unit whose state is nearly 0 counts little (then the sum is not 1).

    Diagnostics: `effective_units`, 1 / sum of alpha squared, and `entropy_units`, exp(entropy), two counts of the units that
    the weight is spread over.
    """
    one_of("by", by, get_args(By))
    trace, batch = run.traces.without_graph.units, run.batch
    assert trace is not None  # the capability was checked
    weights = trace.weights
    scores = weights if by == "weight" else weights * trace.states.norm(dim=-1)
    units = tuple(
        coarsen(batch.units[n], trace.unit, batch.examples[n].segments)[0]  # type: ignore[arg-type]
        for n in range(len(batch))
    )
    effective, spread = (1 / trace.concentration).tolist(), trace.entropy.exp().tolist()
    return Scores(
        tuple(_unit_scores(line, own) for line, own in zip(scores.float().cpu(), units, strict=True)),
        units=units,
        diagnostics=tuple(
            {"effective_units": squared, "entropy_units": entropy}
            for squared, entropy in zip(effective, spread, strict=True)
        ),
        caveats=tuple(_caveats(count, len(own.content)) for count, own in zip(effective, units, strict=True)),
    )


@diagnostics.add(worst="highest", brief=lambda count: f"spread over {count:.0f} units")
def effective_units(count: float) -> str:
    """1 / sum of alpha squared: how many units share the weight."""
    if count >= 1.5:
        return f"The weight is spread over about {count:.0f} units of text."
    return "The weight lies on little more than one unit of text."


@diagnostics.add(worst="highest")
def entropy_units(count: float) -> str:
    """exp(entropy of alpha): how many units share the weight, light ones counted more than by `effective_units`."""
    return ""


def _unit_scores(scores: Tensor, units: Units) -> Tensor:
    """[weighed unit] -> [unit]: special tokens have no weight; their score is 0."""
    values = torch.zeros(len(units), dtype=scores.dtype)
    values[list(units.content)] = scores[: len(units.content)]
    return values


def _caveats(effective: float, count: int) -> tuple[str, ...]:
    if count >= 3 and effective >= BROAD * count:
        return (
            f"The weight is spread over {effective:.0f} of {count} units: no single unit decided this text.",
        )
    return ()
