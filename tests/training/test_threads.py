"""Training in one thread is what it is alone, whatever other threads do meanwhile."""

import pytest
import torch

from tests.shared.asking import ask
from tests.shared.moments import files_of
from tests.shared.threads import hurried_switching, together
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import trained

METHODS = ("gradient", "integrated_gradients", "relevance", "attention", "lime", "span_attention")


@pytest.mark.whole
def test_trainings_and_explanations_in_several_threads_end_with_the_same_bytes(encoder, tmp_path):
    """Two trainings with dropout, and a third thread that explains another model."""
    seeds = (0, 1)
    for seed in seeds:
        trained(encoder, tmp_path / f"alone {seed}", seed=seed)
    model, before = tiny_composed("span"), torch.get_rng_state()
    alone = {method: ask(model, ["A fine film."], method) for method in METHODS}

    def explain():
        for _ in range(2):
            for method in METHODS:
                assert ask(model, ["A fine film."], method) == alone[method]

    def train(seed):
        return lambda: trained(encoder, tmp_path / f"beside {seed}", seed=seed)

    with hurried_switching():
        together(*map(train, seeds), explain)
    for seed in seeds:
        assert files_of(tmp_path / f"beside {seed}") == files_of(tmp_path / f"alone {seed}")
    assert torch.equal(torch.get_rng_state(), before)
