"""A table that several passes share: the same numbers, and one gradient of the vocabulary."""

import torch
from torch import nn

from pellucid.training.steps import shared_lookups

IDS = torch.tensor([[3, 1, 4, 1], [5, 9, 2, 0]])


def _embedding(**settings: object) -> nn.Embedding:
    torch.manual_seed(0)
    return nn.Embedding(12, 5, padding_idx=0, **settings).double()  # type: ignore[arg-type]


def _gradient(embedding: nn.Embedding, *, ids: set[int] | None) -> tuple[torch.Tensor, torch.Tensor]:
    """What two passes look up, and the weight's gradient; ids: of the shared table, None: without one."""

    def passes() -> list[torch.Tensor]:
        return [embedding(IDS), embedding(IDS[:, ::2]) ** 2]

    if ids is None:
        read = passes()
    else:
        with shared_lookups(embedding, ids):
            read = passes()
    torch.cat([each.flatten() for each in read]).cumsum(0).sum().backward()
    assert embedding.weight.grad is not None
    return torch.cat([each.flatten() for each in read]), embedding.weight.grad


def test_values_and_gradients_are_those_of_the_module() -> None:
    """The padding's vector learns nothing, as in the module."""
    expected = _gradient(_embedding(), ids=None)
    for ids in (
        {0, 1, 2, 3, 4, 5, 9},
        {0, 1, 2, 3, 4, 5, 9, 11},
        {1, 2},
    ):  # the last lacks some that are read
        read, gradient = _gradient(_embedding(), ids=ids)
        assert torch.equal(read, expected[0])
        assert torch.allclose(gradient, expected[1], rtol=1e-12, atol=0)
        assert not gradient[0].any()


def test_the_weight_gets_one_gradient() -> None:
    """Of two passes one node leads to the weight, and without the shared table two."""
    assert _nodes_before_the_weight(shared=True) == 1
    assert _nodes_before_the_weight(shared=False) == 2


def _nodes_before_the_weight(*, shared: bool) -> int:
    embedding = _embedding()
    with shared_lookups(embedding, set(range(12)) if shared else ()):
        output = embedding(IDS).sum() + embedding(IDS).sum()
    before, seen = 0, [output.grad_fn]
    for node in seen:  # grows while it is read
        following = [each for each, _ in node.next_functions if each is not None]
        before += sum(hasattr(each, "variable") for each in following)
        seen += [each for each in following if each not in seen]
    return before


def test_a_module_that_does_more_than_looking_up_is_left_alone() -> None:
    """Some families scale their vectors in a class of their own."""

    class Scaled(nn.Embedding):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input) * 3

    embedding = Scaled(12, 5)
    before = embedding(IDS)
    with shared_lookups(embedding, set(range(12))):
        assert torch.equal(embedding(IDS), before)
