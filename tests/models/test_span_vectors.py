"""A pooler's span vectors, asked for by their ends, are those that it sums up: for every form and width."""

import pytest
import torch

from pellucid.models.poolers.span import SpanPooler
from tests.models.pieces import pieces_of


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"interaction": "exact"},
        {"interaction": "feed_forward"},
        {"span_width": 3},
        {"weights": "uniform"},
    ],
    ids=str,
)
def test_vectors_by_weight_sum_to_the_pooled_vector(settings):
    torch.manual_seed(0)
    pooler = SpanPooler(6, **settings).double()
    states = torch.randn(1, 7, 6, dtype=torch.float64)
    words = torch.tensor([[-1, 0, 1, 1, 2, 3, -1]])
    segments = torch.where(words < 0, -1, 0)
    pieces = pieces_of(words, segments, segments + 1)
    pooled = pooler(states, pieces)
    first, last = torch.triu_indices(4, 4)
    weights = pooled.spans.weights[0, first, last]
    vectors = pooler.vectors(states, pieces)(first, last)
    torch.testing.assert_close(weights @ vectors, pooled.vector[0], rtol=0, atol=1e-12)
    assert float(weights.sum()) == pytest.approx(1)
