"""The network of a composed model: encoder x pooler x head.

The head is linear and the pooler's weights sum to 1, so the weighted units' logits sum to the logit.
"""

from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.errors import BadSetting
from pellucid.core.kinds import poolers
from pellucid.models.joined_windows import joined_states, longest, window_of
from pellucid.models.output import Output
from pellucid.models.plan import Plan
from pellucid.models.rationale_network import RationaleNetwork


class ComposedNetwork(nn.Module):
    """Encoder, pooler, linear head; reads the word and the text of every piece besides its id."""

    def __init__(self, encoder: Any, plan: Plan) -> None:
        super().__init__()
        width: int = encoder.config.hidden_size
        self.config: Any = encoder.config
        self.encoder: Any = encoder
        self.pooler_settings = {"pooler": plan.pooler, **plan.pooler_settings}
        self.pooler = _pooler(width, plan)
        # A pooler whose vectors are not as wide as the encoder's says so.
        self.head = nn.Linear(getattr(self.pooler, "pooled_width", width), len(plan.labels))
        self._reads_types = getattr(encoder.config, "type_vocab_size", 0) > 1
        self.max_length = plan.max_length
        self.reads_sentences = getattr(self.pooler, "within", "text") == "sentence"
        self._window = window_of(encoder, plan.max_length)
        if plan.max_length is not None:
            self.pooler_settings["max_length"] = plan.max_length

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
    ) -> Output:
        """All [batch piece] -> logits [batch class] in the head's number type."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask, "position_ids": position_ids}
        if token_type_ids is not None and self._reads_types:
            read["token_type_ids"] = token_type_ids
        states = self._states(read, segments)
        pooled = self.pooler(states, attention_mask, words, segments if sentences is None else sentences)
        with torch.autocast(states.device.type, enabled=False):
            return Output(self.head(pooled.vector.to(self.head.weight.dtype)), pooled.spans)

    def _states(self, read: dict[str, Tensor], segments: Tensor) -> Tensor:
        """[batch piece width]: what the encoder makes of each piece."""
        if self._window is not None and longest(read["position_ids"], self.encoder) > self._window:
            return joined_states(self.encoder, read | {"segments": segments}, self._window, self.training)
        return self.encoder(**read).last_hidden_state


Composed = ComposedNetwork | RationaleNetwork


def composed_network(encoder: Any, plan: Plan) -> Composed:
    """A network on an encoder, its new parts drawn from torch's global random state."""
    if not poolers.get(plan.pooler).facts["chooses"]:
        return ComposedNetwork(encoder, plan)
    if plan.max_length is not None:
        raise BadSetting(f"pooler={plan.pooler!r} reads a text at once; give no max_length with it.")
    settings = {"pooler": plan.pooler, **plan.pooler_settings}
    pooler: Any = _pooler(encoder.config.hidden_size, plan)
    return RationaleNetwork(encoder, pooler, settings, len(plan.labels))


def _pooler(width: int, plan: Plan) -> nn.Module:
    entry = poolers.get(plan.pooler)
    return entry.make(width, **entry.settings(plan.pooler_settings))


def joins(network: Any) -> bool:
    """Whether a network reads longer texts than its encoder, in windows that are joined."""
    return bool(getattr(network, "joins", False))
