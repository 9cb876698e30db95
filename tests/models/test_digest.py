"""A model's hash follows its weights, however they are changed."""

import pytest
import torch
from torch import nn

from pellucid.models.classifiers.in_memory import network_digest, network_state
from tests.shared.tiny import tiny_composed

CHANGES = {
    "in place": lambda weight: weight.add_(0.5),
    "past torch's count": lambda weight: weight.data.add_(0.5),
    "one number": lambda weight: weight.data.view(-1)[-1:].mul_(1.0001),
    "a row for another": lambda weight: weight.data.copy_(weight.data.flip(0)),
    "as numpy sees it": lambda weight: weight.detach().numpy().__setitem__(0, 3.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_hash_follows_every_change_of_the_weights(change):
    model = tiny_composed()
    weight = model.network.get_input_embeddings().weight
    before, was = model.hash, weight.detach().clone()
    assert model.hash == before
    with torch.no_grad():
        CHANGES[change](weight)
    assert model.hash != before
    with torch.no_grad():
        weight.data.copy_(was)
    assert model.hash == before


@pytest.mark.parametrize("kind", (torch.float32, torch.bfloat16, torch.int8, torch.bool), ids=str)
@pytest.mark.parametrize("shape", ((), (0,), (3,), (65, 9), (513,)), ids=str)
def test_tensors_of_every_kind_and_size_have_a_state(kind, shape):
    network = nn.Module()
    network.register_buffer("x", torch.ones(shape).to(kind))
    network.register_buffer("part", torch.ones(3, 7).to(kind)[1:, 1:])
    before = network_state(network)
    assert network_state(network) == before
    for name in ("x", "part"):
        tensor = getattr(network, name)
        if tensor.numel():
            tensor.data.view(-1)[-1:].zero_() if name == "x" else tensor.data[-1, -1:].zero_()
            assert network_state(network) != before
            before = network_state(network)


def test_tensors_may_have_gaps_in_memory():
    digests = []
    for bias in (torch.arange(6.0)[::2], torch.arange(6.0)[::2].clone(), torch.ones(1).expand(3)):
        network = nn.Module()
        network.bias = nn.Parameter(bias)
        digests.append(network_digest(network, []))
    assert digests[0] == digests[1] != digests[2]
