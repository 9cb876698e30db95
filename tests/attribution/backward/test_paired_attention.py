"""Attention under the rules of pairs: computed again on the way back, it gives what its steps give when they are
kept.
"""

import pytest
import torch
from torch.nn import functional as F

from pellucid.attribution.backward import rules as paired_attention
from pellucid.attribution.backward.expanded_functions import open_attention
from pellucid.attribution.backward.mode import ChangedBackward
from pellucid.attribution.backward.pairs import RESCALE, opened
from pellucid.run.policy_pass import Ledger

WRITTEN_OUT = {**RESCALE, "attention": opened(open_attention)}


def multipliers(rules, shapes, **settings):
    """The output and the gradients by query, key and value, under rules."""
    generator = torch.Generator().manual_seed(3)
    inputs = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
    with ChangedBackward(rules, Ledger(2, torch.device("cpu"))):
        output = F.scaled_dot_product_attention(*inputs, **settings)
    weight = torch.randn(output.shape, generator=generator, dtype=torch.float64)
    return output.detach(), *torch.autograd.grad((output * weight).sum(), inputs)


SHAPES = {
    "heads": [(2, 4, 5, 3)] * 3,
    "shared heads": [(2, 4, 5, 3), (2, 2, 5, 3), (2, 2, 5, 3)],
    "no heads": [(2, 5, 3)] * 3,
}
MASKS = {
    "none": {},
    "causal": {"is_causal": True},
    "of all heads": {"attn_mask": torch.ones(2, 1, 5, 5, dtype=torch.bool).tril()},
    "of each head": {"attn_mask": torch.linspace(-2, 1, 200, dtype=torch.float64).reshape(2, 4, 5, 5)},
    "of pieces alone": {"attn_mask": torch.ones(5, 5, dtype=torch.bool).tril()},
    "scaled": {"scale": 0.3},
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("at_once", (1, 60, 10**6))
def test_multipliers_are_those_of_the_steps(monkeypatch, shape, mask, at_once):
    """In groups of one head, of some heads and of all."""
    if shape == "no heads" and mask in ("of all heads", "of each head"):
        pytest.skip("such a mask has heads")
    monkeypatch.setattr(paired_attention, "AT_ONCE", at_once)
    settings = MASKS[mask] | ({"enable_gqa": True} if shape == "shared heads" else {})
    ours = multipliers(RESCALE, SHAPES[shape], **settings)
    expected = multipliers(WRITTEN_OUT, SHAPES[shape], **settings)
    for one, other in zip(ours, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-14)


def test_the_graph_has_queries_keys_and_values_alone():
    """What the graph keeps does not grow with the square of the text."""
    saved = []
    inputs = [torch.randn(2, 4, 40, 3, requires_grad=True) for _ in range(3)]
    with (
        torch.autograd.graph.saved_tensors_hooks(lambda one: saved.append(one.numel()) or one, lambda one: one),
        ChangedBackward(RESCALE, Ledger(2, torch.device("cpu"))),
    ):
        F.scaled_dot_product_attention(*inputs)
    assert sum(saved) == sum(one.numel() for one in inputs)


def test_a_mask_that_depends_on_the_words_has_a_gradient():
    """Then the steps are kept."""
    mask = torch.zeros(2, 1, 5, 5, dtype=torch.float64, requires_grad=True)
    query = torch.randn(2, 4, 5, 3, dtype=torch.float64, requires_grad=True)
    with ChangedBackward(RESCALE, Ledger(2, torch.device("cpu"))):
        output = F.scaled_dot_product_attention(query, query, query, attn_mask=mask)
    [gradient] = torch.autograd.grad(output.square().sum(), mask)
    assert bool(gradient.any())
