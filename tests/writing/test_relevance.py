"""Relevance passes through the layer of source spans by rules, and nothing of it is lost."""

import pytest
import torch

import pellucid
from pellucid.base.kinds import policies
from pellucid.models.translation.source_spans import span_places, span_vectors
from pellucid.text.example import Example
from tests.writing.conftest import PAIRS

pytestmark = pytest.mark.whole

TEXTS = [Example(PAIRS[4]), Example(PAIRS[0])]
CONSERVING = sorted(name for name in policies.names() if policies.get(name).facts["conserves"])


@pytest.fixture(scope="module")
def translator(either):
    return pellucid.load(either)


@pytest.mark.parametrize("policy", [name for name in CONSERVING if name != "rescale"])
@pytest.mark.parametrize("target", [pellucid.Word(1), pellucid.Word("all")])
def test_relevance_of_a_word_is_conserved(translator, policy, target):
    explanations = pellucid.explain(translator, TEXTS, "relevance", policy=policy, target=target, progress=False)
    gaps = [row["conservation_gap"] for one in explanations for row in one.row_diagnostics or [one.diagnostics]]
    assert gaps and max(gaps) < 1e-4


def test_differences_add_up(translator):
    explanations = pellucid.explain(translator, TEXTS, "deep_lift_shap", progress=False)
    assert max(row["completeness_gap"] for one in explanations for row in one.row_diagnostics) < 1e-4


def test_written_out_the_vectors_are_the_same():
    torch.manual_seed(0)
    places = span_places(7, 3, torch.device("cpu"))
    parts = [torch.randn(2, 7, 5, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    fast, literal = span_vectors(*parts, places), span_vectors.written_out(*parts, places)
    torch.testing.assert_close(fast, literal)
    weights = torch.randn_like(fast)
    for one, other in zip(
        torch.autograd.grad((fast * weights).sum(), parts),
        torch.autograd.grad((literal * weights).sum(), parts),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
