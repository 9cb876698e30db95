"""Recipe.l2: the literal sum of squared weights in the loss, once a batch, and no other run when it is 0."""

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.models.composed.composed import load_composed
from pellucid.run.scheduler import Scheduler
from pellucid.training import steps as steps_module
from pellucid.training.recipe import Recipe
from pellucid.training.steps import steps_of
from tests.shared.moments import files_of
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import parts, trained


def gradients(l2):
    """A step's loss and gradients, without the optimizer's change of the weights."""
    classifier = tiny_composed("mean")
    batch = classifier.encode(parts()["train"][:6])
    recipe = Recipe(l2=l2, clip=0.0, precision="float32")
    steps = steps_of(classifier, batch, recipe, 10)
    classifier.network.eval()  # no dropout
    steps.optimizer.step = lambda: None
    loss = steps.step(list(range(6)), 0)
    return loss, {name: each.grad for name, each in classifier.network.named_parameters()}, classifier.network


def test_the_loss_has_the_literal_sum():
    plain, without, network = gradients(0.0)
    loss, with_cost, _ = gradients(0.01)
    total = sum(float(value) ** 2 for each in network.parameters() for value in each.detach().flatten())
    assert loss - plain == pytest.approx(0.01 * total, rel=1e-4)
    for name, weight in network.named_parameters():
        torch.testing.assert_close(with_cost[name], without[name] + 0.02 * weight.detach(), rtol=1e-4, atol=1e-5)


def test_a_batch_in_parts_counts_the_weights_once(monkeypatch):
    whole, gradients_whole, _ = gradients(0.01)
    monkeypatch.setattr(steps_module, "LONGEST", 60)
    assert len(Scheduler(60).packs([20] * 6)) > 1
    cut, gradients_cut, _ = gradients(0.01)
    assert cut == pytest.approx(whole, rel=1e-4)
    for name, gradient in gradients_whole.items():
        torch.testing.assert_close(gradients_cut[name], gradient, rtol=1e-3, atol=1e-4)


def test_it_is_left_out_of_records_at_its_default():
    assert "l2" not in Recipe().record() and Recipe(l2=0.5).record()["l2"] == 0.5
    with pytest.raises(BadSetting, match="l2=-1"):
        Recipe(l2=-1)


@pytest.mark.whole
def test_a_run_with_it_has_smaller_weights_and_0_is_the_usual_run(encoder, tmp_path):
    for name, change in {"usual": {}, "none": {"l2": 0.0}, "some": {"l2": 0.01}}.items():
        trained(encoder, tmp_path / name, epochs=1, **change)
    assert files_of(tmp_path / "usual") == files_of(tmp_path / "none")
    sizes = {
        name: sum(float(each.detach().square().sum()) for each in load_composed(tmp_path / name).network.parameters())
        for name in ("usual", "some")
    }
    assert sizes["some"] < sizes["usual"]
