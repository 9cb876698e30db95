"""What a recipe's later settings do in the loop."""

import pytest
import torch

from pellucid.models.classifiers.hugging_face import load_encoder
from pellucid.models.composed.composed import load_composed
from pellucid.training.recipe import Recipe
from pellucid.training.steps import depths_below_the_top, optimizer_of
from pellucid.training.training_loss import TrainingLoss
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import trained

pytestmark = pytest.mark.whole


def weights(folder):
    return torch.cat(
        [one.flatten() for one in load_composed(folder).network.state_dict().values() if one.is_floating_point()]
    )


def test_beta2_and_clip_change_the_training_and_no_clipping_is_a_very_long_one(encoder, tmp_path):
    changes = {"usual": {}, "beta2": {"beta2": 0.5}, "unclipped": {"clip": 0.0}, "long": {"clip": 1e4}}
    for name, change in changes.items():
        trained(encoder, tmp_path / name, epochs=1, **change)
    usual, beta2, unclipped, long = (weights(tmp_path / name) for name in changes)
    assert torch.equal(unclipped, long)
    assert not torch.equal(usual, beta2) and not torch.equal(usual, unclipped)


def test_frozen_vectors_stay_and_everything_else_learns(encoder, tmp_path):
    trained(encoder, tmp_path / "model", epochs=1, freeze_vectors=True)
    before = dict(load_encoder(encoder)[0].named_parameters())
    after = dict(load_composed(tmp_path / "model").network.encoder.named_parameters())
    same = {name for name in after if torch.equal(after[name], before[name])}
    assert "embeddings.word_embeddings.weight" in same
    assert not any(name.startswith("encoder.layer") and name.endswith("weight") for name in same)


def test_each_setting_of_fine_tuning_changes_the_training(encoder, tmp_path):
    changes = {
        "usual": {},
        "decay": {"layer_decay": 0.5},
        "dropout": {"dropout": 0.0},
        "smoothed": {"label_smoothing": 0.2},
    }
    for name, change in changes.items():
        trained(encoder, tmp_path / name, epochs=1, **change)
    usual, *others = (weights(tmp_path / name) for name in changes)
    assert not any(torch.equal(usual, other) for other in others)


def test_lower_blocks_learn_at_lower_rates():
    classifier = tiny_composed("span")
    depth, top = depths_below_the_top(classifier), len(classifier.blocks) - 1
    for name, _ in classifier.network.named_parameters():
        if name.startswith("encoder.encoder.layer."):
            assert depth[name] == top - int(name.split(".")[3])
        elif name.startswith("encoder."):
            assert depth[name] == top + 1
        else:
            assert name not in depth
    recipe = Recipe(learning_rate=1e-3, layer_decay=0.5, new_parts_factor=4.0)
    rates = {id(one): group["lr"] for group in optimizer_of(classifier, recipe).param_groups for one in group["params"]}
    for name, parameter in classifier.network.named_parameters():
        expected = 1e-3 * 0.5 ** depth[name] if name in depth else 4e-3
        assert rates[id(parameter)] == pytest.approx(expected)


def test_smoothed_labels_are_the_mixture_with_all_classes():
    logits, gold = torch.randn(5, 3), torch.tensor([0, 2, 1, 1, 0])
    mixture = 0.8 * torch.nn.functional.one_hot(gold, 3) + 0.2 / 3
    expected = -(mixture * logits.log_softmax(-1)).sum(-1)
    torch.testing.assert_close(TrainingLoss("single_label", {}, smoothing=0.2).label_loss(logits, gold), expected)
