"""The network of a composed model: encoder x pooler x head.

The head is linear and the pooler's weights sum to 1, so the weighted units' logits sum to the logit.
"""

from pellucid.base.kinds import poolers
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.joined_windows import ReadStates
from pellucid.models.composed.lower_layers import B_COS, check_form, last_states, with_b_cos_layers
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.rationale_network import EncoderAndHead, RationaleNetwork
from pellucid.models.families.encoder import Encoder
from pellucid.models.pooling.pooler import PieceTensors, Pooler
from pellucid.run.trace import GateTrace


class PoolingNetwork(EncoderAndHead):
    """A network that reads its text once."""

    def choose(self, pieces: PieceTensors) -> GateTrace | None:
        """None: nothing is chosen before the text is read."""
        return None

    def forward(
        self, pieces: PieceTensors, gates: GateTrace | None = None, read: ReadStates = last_states
    ) -> Output:
        """[batch piece] -> logits [batch class] in the head's number type; gates are not read. read: how the encoder's states are computed."""
        states = self.states(pieces, read)
        return self.decide(self.pooler(states, pieces), states, pieces)


ComposedNetwork = PoolingNetwork | RationaleNetwork


def composed_network(encoder: Encoder, plan: Plan) -> ComposedNetwork:
    """A network on an encoder, which gets the plan's form, its new parts drawn from torch's global random state."""
    check_form(plan.layer_form, plan.pooler)
    if plan.layer_form == B_COS:
        with_b_cos_layers(encoder, plan.encoder)
    pooler = _new_pooler(encoder.config.hidden_size, plan)
    if poolers.get(plan.pooler).facts["chooses"]:
        return RationaleNetwork(encoder, pooler, plan)
    return PoolingNetwork(encoder, pooler, plan)


def _new_pooler(width: int, plan: Plan) -> Pooler:
    """The plan's pooler, over states of this width."""
    entry = poolers.get(plan.pooler)
    return entry.make(width, **entry.settings(plan.pooler_settings))
