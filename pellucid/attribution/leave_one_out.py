"""Leave-one-out: how far the target falls when a single unit is taken out.

Li, Monroe & Jurafsky (2016), "Understanding Neural Networks through Representation Erasure".
"""

from pellucid.attribution.occlusion import occlusion
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.batch import Operator
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable
from pellucid.core.text.units import Kind


@attributions.add(needs=frozenset(), cost="1 run of the model a word", units="word", usual=False)
def leave_one_out(
    run: ForwardPass, target: Explainable, *, unit: Kind = "word", operator: Operator = "absent"
) -> Scores:
    """`occlusion` with windows of one unit: the target of the text minus that of the text without the unit."""
    return occlusion(run, target, unit=unit, operator=operator)
