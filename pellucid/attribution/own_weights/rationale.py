"""Rationale: the words that the model chose to read before it decided, each with its probability.

Lei, Barzilay and Jaakkola (2016), "Rationalizing Neural Predictions"; Bastings, Aziz and Titov (2019), "Interpretable
Neural Predictions with Differentiable Binary Variables".
"""

import torch
from torch import Tensor

from pellucid.base.kinds import attributions, diagnostics
from pellucid.base.wording import percent
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import ResolvedTarget
from pellucid.text.units import Units, coarsen

SPARSE, FULL = 0.0, 0.9  # coverage at or below, and above, which the choice says little


@attributions.add(
    needs={"rationale"}, cost="1 run of the model", signed=False, of_class=False, units="word", shares=False
)
def rationale(run: ForwardPass, target: ResolvedTarget) -> Scores:
    """The probability, 0 to 1, that the model reads a word; it reads those above one half, and no others.

    Not tied to a class: the words show what was read, not for or against what. `result.runs()` gives them as spans of the
    text. A word that stands in several windows of a text has the mean of its probabilities. Diagnostic `coverage`: the share of
    words read.
    """
    gates = run.traces.without_graph.gates
    assert gates is not None  # the capability was checked
    batch = run.batch
    units = tuple(
        coarsen(batch.units[n], gates.unit, batch.examples[n].segments)[0]  # type: ignore[arg-type]
        for n in range(len(batch))
    )
    scores = tuple(
        _unit_scores(chances, own) for chances, own in zip(gates.chances.cpu(), units, strict=True)
    )
    coverage = gates.coverage.tolist()
    return Scores(
        scores,
        units=units,
        diagnostics=tuple({"coverage": share} for share in coverage),
        caveats=tuple(map(_caveats, coverage)),
    )


@diagnostics.add(worst="highest", brief=lambda share: f"{percent(share)} of the words read")
def coverage(share: float) -> str:
    """The share of the words that the model read."""
    return f"The model read {percent(share)} of the words and decided by those alone."


def _unit_scores(chances: Tensor, units: Units) -> Tensor:
    """[gate] -> [unit]: special tokens have no gate; their score is 0."""
    scores = torch.zeros(len(units), dtype=chances.dtype)
    scores[list(units.content)] = chances[: len(units.content)]
    return scores


def _caveats(coverage: float) -> tuple[str, ...]:
    if coverage <= SPARSE:
        return ("The model read no word of this text: its answer is the same for every such text.",)
    if coverage > FULL:
        return (f"The model read {coverage:.0%} of the words: that says little about what it needed.",)
    return ()
