"""Plugged attention: the text's vector is a weighted sum of its words, each a span of one word.

Doe (2030), "On Weights".
"""

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import poolers
from pellucid.core.passes.trace import SpanTrace
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.unit_vectors import merge_parts


@poolers.add(explains="span_weights")
class plugged_attention(nn.Module):  # noqa: N801 - registered under the name users type
    """Words by a softmax over one linear score each; its weights explain the model."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, states: Tensor, attention_mask: Tensor, words: Tensor, segments: Tensor) -> Pooled:
        """[batch piece width] -> [batch width]."""
        vectors, runs = merge_parts(states.to(self.score.weight.dtype), words, segments, "word")
        is_word = runs >= 0
        scores = self.score(vectors)[..., 0].masked_fill(~is_word, float("-inf"))
        normaliser = scores.logsumexp(1)
        weights = (scores - normaliser[:, None]).exp()
        alone = torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
        of_spans = scores[:, :, None].masked_fill(~alone, float("-inf"))
        counts = tuple(is_word.sum(1).tolist())
        return Pooled(
            (weights[..., None] * vectors).sum(1), SpanTrace(of_spans, normaliser, counts, "word", 1)
        )
