"""What every composed network has: an encoder, a pooler and a linear head; how they are joined differs."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.passes.trace import StateTrace
from pellucid.core.text.units import SPECIAL
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.b_cos_layers import B_COS
from pellucid.models.composed.joined_windows import ReadStates, encoder_states, window_of
from pellucid.models.composed.lower_layers import last_states, layer_mix_of
from pellucid.models.composed.plan import Plan
from pellucid.models.families.encoder import Encoder
from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.pooler import Pooler


class EncoderAndHead(nn.Module):
    """The parts of a composed network, as `PieceNetwork` declares them; abstract: `forward` and `choose` are missing."""

    def __init__(self, encoder: Encoder, pooler: Pooler, plan: Plan) -> None:
        super().__init__()
        self.config = encoder.config
        self.encoder = encoder
        self.pooler_settings = plan.above_the_encoder
        self.pooler: Any = pooler  # Any: some poolers offer more, such as gates
        width, bias = pooler.pooled_width or encoder.config.hidden_size, plan.layer_form != B_COS
        self.head = nn.Linear(width, len(plan.labels), bias=bias)
        self.max_length = plan.max_length
        self.reads_sentences = pooler.reads_sentences
        self.reads_content = pooler.reads_content
        self._window = window_of(encoder, plan.max_length)
        self.layer_mix = layer_mix_of(encoder) if pooler.layer_mix else None

    @property
    def joins(self) -> bool:
        """Whether it reads longer texts than its encoder, in windows that are joined."""
        return self._window is not None

    def get_input_embeddings(self) -> nn.Embedding:
        """The encoder's word-embedding module."""
        return self.encoder.get_input_embeddings()

    def states(self, pieces: PieceTensors, read: ReadStates = last_states) -> Tensor:
        """[batch piece width]: the encoder's last states, or the mean over its layers; of long texts, windows are joined.

        read: how the last states are computed.
        """
        return encoder_states(self.encoder, self._window, pieces, self.layer_mix or read)

    def decide(self, pooled: Pooled, states: Tensor, pieces: PieceTensors) -> Output:
        """The pooled vectors' logits in the head's number type, with the pooler's own weights, and the states that it read."""
        with torch.autocast(pooled.vector.device.type, enabled=False):
            logits = self.head(pooled.vector.to(self.head.weight.dtype))
        own = pooled.own_weights
        if pooled.units is not None:
            own["units"] = replace(pooled.units, head=(self.head.weight, self.head.bias))
        if pooled.spans is not None and self.layer_mix is not None:
            own["spans"] = replace(pooled.spans, layer_weights=self.layer_mix.weights)
        real = pieces.attention_mask.bool() & (pieces.segments != SPECIAL)
        # The table itself: a second look-up would go through the hooks that replace and record word embeddings.
        trace = StateTrace(states, pieces.input_ids, self.get_input_embeddings().weight, real)
        return Output(logits=logits, states=trace, **own)
