"""What a recipe's later settings do in the loop: another decay of squared gradients, and no clipping at 0."""

import pytest
import torch

from pellucid.models.composed.composed import load_composed
from tests.training.tiny_training import trained

pytestmark = pytest.mark.whole


def weights(folder):
    return torch.cat(
        [
            one.flatten()
            for one in load_composed(folder).network.state_dict().values()
            if one.is_floating_point()
        ]
    )


def test_beta2_and_clip_change_the_training_and_no_clipping_is_a_very_long_one(encoder, tmp_path):
    changes = {"usual": {}, "beta2": {"beta2": 0.5}, "unclipped": {"clip": 0.0}, "long": {"clip": 1e4}}
    for name, change in changes.items():
        trained(encoder, tmp_path / name, epochs=1, **change)
    usual, beta2, unclipped, long = (weights(tmp_path / name) for name in changes)
    assert torch.equal(unclipped, long)
    assert not torch.equal(usual, beta2) and not torch.equal(usual, unclipped)
