"""`Recipe.balanced`: every class counts equally in the loss, and dev is judged as it is."""

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.models.classifiers.running import Output
from pellucid.training.steps import steps_of
from pellucid.training.training_loss import TrainingLoss, balancing_weights
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import parts, recipe

LOGITS = torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 0.0], [0.1, 0.0, 0.4], [0.0, 0.3, 0.2]])
GOLD = torch.tensor([0, 0, 0, 2])


def test_a_texts_weight_is_one_over_how_often_its_class_occurs():
    weights = balancing_weights(GOLD, 3)
    assert weights.tolist() == pytest.approx([4 / (2 * 3), 0.0, 4 / (2 * 1)])  # class 1 does not occur
    assert float(weights[GOLD].mean()) == pytest.approx(1)


def test_the_loss_is_the_mean_of_the_classes_mean_losses():
    losses = -LOGITS.log_softmax(-1)[torch.arange(4), GOLD]
    balanced = TrainingLoss("single_label", {}, class_weights=balancing_weights(GOLD, 3))
    expected = (losses[:3].mean() + losses[3]) / 2
    torch.testing.assert_close(balanced.loss(Output(logits=LOGITS), GOLD), expected)


def test_parts_of_a_batch_add_up_to_the_batch():
    balanced = TrainingLoss("single_label", {}, class_weights=balancing_weights(GOLD, 3))
    whole = balanced.loss(Output(logits=LOGITS), GOLD)
    halves = [balanced.loss(Output(logits=LOGITS[half]), GOLD[half]) for half in ([0, 3], [1, 2])]
    torch.testing.assert_close(torch.stack(halves).mean(), whole)


def test_the_recipe_decides(texts):
    train = [example for example in parts()["train"] if example.label != "neutral"][:7]
    model = tiny_composed("additive")
    batch = model.encode(train)
    plain, balanced = (steps_of(model, batch, recipe(penalties={}, balanced=way), 10) for way in (False, True))
    assert plain.training_loss.class_weights is None
    expected = balancing_weights(plain.gold, 3)
    assert torch.equal(balanced.training_loss.class_weights, expected) and expected[1] == 0


def test_several_labels_a_text_are_refused():
    with pytest.raises(BadSetting, match="problem='multi_label'"):
        balancing_weights(torch.zeros(2, 3), 3)
