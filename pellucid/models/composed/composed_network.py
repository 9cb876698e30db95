"""The network of a composed model: encoder x pooler x head.

The head is linear and the pooler's weights sum to 1, so the weighted units' logits sum to the logit.
"""

from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import poolers
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.joined_windows import encoder_states, window_of
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.rationale_network import RationaleNetwork


class ComposedNetwork(nn.Module):
    """Encoder, pooler, linear head; reads the word and the text of every piece besides its id."""

    def __init__(self, encoder: Any, plan: Plan) -> None:
        super().__init__()
        width: int = encoder.config.hidden_size
        self.config: Any = encoder.config
        self.encoder: Any = encoder
        self.pooler_settings = plan.above_the_encoder
        self.pooler = _pooler(width, plan)
        # A pooler whose vectors are not as wide as the encoder's says so.
        self.head = nn.Linear(getattr(self.pooler, "pooled_width", width), len(plan.labels))
        self.max_length = plan.max_length
        self.reads_sentences = getattr(self.pooler, "within", "text") == "sentence"
        self.reads_content = getattr(self.pooler, "spans", "all") == "with_content"
        self._window = window_of(encoder, plan.max_length)

    @property
    def joins(self) -> bool:
        """Whether it reads longer texts than its encoder, in windows that are joined."""
        return self._window is not None

    def get_input_embeddings(self) -> nn.Module:
        """The encoder's word-embedding module."""
        return self.encoder.get_input_embeddings()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        words: Tensor,
        segments: Tensor,
        token_type_ids: Tensor | None = None,
        sentences: Tensor | None = None,
        content: Tensor | None = None,
    ) -> Output:
        """All [batch piece] -> logits [batch class] in the head's number type."""
        states = encoder_states(
            self.encoder, self._window, input_ids, attention_mask, position_ids, segments, token_type_ids
        )
        within = segments if sentences is None else sentences
        known = () if content is None else (content,)
        pooled = self.pooler(states, attention_mask, words, within, *known)
        with torch.autocast(states.device.type, enabled=False):
            return Output(self.head(pooled.vector.to(self.head.weight.dtype)), pooled.spans)


Composed = ComposedNetwork | RationaleNetwork


def composed_network(encoder: Any, plan: Plan) -> Composed:
    """A network on an encoder, its new parts drawn from torch's global random state."""
    if not poolers.get(plan.pooler).facts["chooses"]:
        return ComposedNetwork(encoder, plan)
    return RationaleNetwork(encoder, _pooler(encoder.config.hidden_size, plan), plan)


def _pooler(width: int, plan: Plan) -> Any:
    entry = poolers.get(plan.pooler)
    return entry.make(width, **entry.settings(plan.pooler_settings))


def joins(network: Any) -> bool:
    """Whether a network reads longer texts than its encoder, in windows that are joined."""
    return bool(getattr(network, "joins", False))
