"""Attention and layer norm under the rules of pairs: in one piece they give what their steps give, written out."""

import pytest
import torch
from torch.nn import functional as F

from pellucid.attribution.backward import paired_steps
from pellucid.attribution.backward.expanded_functions import open_attention, open_layer_norm
from pellucid.attribution.backward.mode import ChangedBackward
from pellucid.attribution.backward.pairs import RESCALE
from pellucid.run.policy_pass import Ledger

WRITTEN_OUT = {
    **RESCALE,
    "attention": paired_steps.opened(open_attention),
    "layer_norm": paired_steps.opened(open_layer_norm),
}


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
    monkeypatch.setattr(paired_steps, "AT_ONCE", at_once)
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


@pytest.mark.parametrize("weights", (0, 1, 2))
@pytest.mark.parametrize("n_baselines", (1, 2))
def test_multipliers_of_a_norm_are_those_of_its_steps(n_baselines, weights):
    """With and without a weight and a bias, of texts that are longer and shorter than their baselines."""
    count = 2 * (1 + n_baselines)
    states = torch.randn(count, 3, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    states *= torch.linspace(0.1, 3, count, dtype=torch.float64)[:, None, None, None]
    scale = (torch.linspace(-1, 2, 20, dtype=torch.float64).reshape(4, 5), torch.ones(4, 5, dtype=torch.float64))
    outputs = []
    for rules in (RESCALE, WRITTEN_OUT):
        inputs = states.clone().requires_grad_()
        with ChangedBackward(rules, Ledger(count, torch.device("cpu")), 1 + n_baselines):
            output = F.layer_norm(inputs, (4, 5), *scale[:weights])
        outputs.append((output.detach(), *torch.autograd.grad((output * states.flip(0)).sum(), inputs)))
    for one, other in zip(*outputs, strict=True):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-14)
    assert not outputs[0][1][:2].any()  # nothing goes back through the texts
