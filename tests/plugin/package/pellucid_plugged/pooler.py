"""Plugged attention: the text's vector is a weighted sum of its words, each a span of one word.

Doe (2030), "On Weights".
"""

import torch
from torch import Tensor, nn

from pellucid.base.kinds import poolers
from pellucid.models.pooling.pooler import PieceTensors, Pooled, Pooler, merge_parts
from pellucid.run.trace import SpanTrace


@poolers.add("plugged_attention", explains="span_weights")
class PluggedAttention(Pooler):
    """Words by a softmax over one linear score each; its weights explain the model."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        vectors, runs = merge_parts(states.to(self.score.weight.dtype), pieces.word_index, pieces.segments, "word")
        is_word = runs >= 0
        scores = self.score(vectors)[..., 0].masked_fill(~is_word, float("-inf"))
        normaliser = scores.logsumexp(1)
        weights = (scores - normaliser[:, None]).exp().nan_to_num()  # 0 in a text without words
        alone = torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
        of_spans = scores[:, :, None].masked_fill(~alone, float("-inf"))
        counts = tuple(is_word.sum(1).tolist())
        return Pooled(
            vector=(weights[..., None] * vectors).sum(1),
            spans=SpanTrace(of_spans, normaliser, counts, "word", 1),
        )
