"""The order of training: every text once an epoch, by the seed alone, texts of like length together."""

import torch
from hypothesis import strategies as st

from pellucid.training.steps import POOL, epoch_batches
from tests.hostile.generated_cases import generated

LENGTHS = [5 + (7 * number) % 40 for number in range(1000)]


@generated(
    100,
    1000,
    lengths=st.lists(st.integers(1, 50), max_size=200),
    size=st.integers(1, 20),
    seed=st.integers(0, 5),
    epoch=st.integers(0, 5),
)
def test_every_text_comes_once_in_batches_of_the_size(lengths, size, seed, epoch):
    batches = epoch_batches(lengths, size, seed, epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert len(batches) == -(-len(lengths) // size)
    assert sum(len(batch) < size for batch in batches) <= 1


def test_the_order_is_a_function_of_seed_and_epoch_alone():
    torch.manual_seed(1)
    state = torch.get_rng_state()
    one = epoch_batches(LENGTHS, 8, 0, 0)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    assert epoch_batches(LENGTHS, 8, 0, 0) == one
    others = [epoch_batches(LENGTHS, 8, *which) for which in ((0, 1), (1, 0), (1, 1))]
    assert all(other != one for other in others)


def test_like_lengths_come_together():
    batches = epoch_batches(LENGTHS, 8, 0, 0)
    padded = sum(len(batch) * max(LENGTHS[index] for index in batch) for batch in batches)
    assert padded < 1.15 * sum(LENGTHS)
    assert POOL > 1


def test_batches_do_not_come_by_length():
    means = [sum(LENGTHS[index] for index in batch) / len(batch) for batch in epoch_batches(LENGTHS, 8, 0, 0)]
    assert means != sorted(means) and means != sorted(means, reverse=True)
