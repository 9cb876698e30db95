"""How sharp are a self-explaining model's weights over a corpus, and how long are its heaviest spans?"""

from collections.abc import Sequence

import torch

from pellucid.models.classifiers.classifier import Classifier
from pellucid.run.trace import SpanTrace
from pellucid.text.example import Example
from pellucid.training.span_count import spans_on_dev

BATCH_SIZE = 32  # texts of similar length


def span_sharpness(model: Classifier, examples: Sequence[Example]) -> dict[str, float]:
    """Means over the texts: effective spans (1 / sum of alpha squared), the top span's weight, its share of the words.

    Of the first texts also whether the heaviest spans hold content: see `HeaviestSpans.record`.
    """
    batch = model.encode(examples)
    order = sorted(range(len(batch)), key=batch.lengths.__getitem__)
    batches = []
    with torch.inference_mode():
        for first in range(0, len(order), BATCH_SIZE):
            rows = [batch.rows[index] for index in order[first : first + BATCH_SIZE]]
            batches.append(_of_batch(model.network(**model.place(rows)).spans))
    effective, weight, share = torch.cat(batches).mean(0).tolist()
    means = {"effective_spans": effective, "top_weight": weight, "top_share": share}
    return means | spans_on_dev(model, batch).record()


def _of_batch(spans: SpanTrace) -> torch.Tensor:
    """[example 3]"""
    weight, index = spans.weights.flatten(1).max(1)
    side = spans.scores.shape[1]
    length = index % side - index // side + 1
    share = length / torch.tensor(spans.parts, device=length.device).clamp_min(1)
    return torch.stack([1 / spans.concentration, weight, share], 1)
