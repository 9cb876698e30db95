"""Choosing is taught by the gradient that all choices together would give, and keeps to the coverage asked for."""

import itertools

import pytest
import torch

from pellucid.base.kinds import penalties
from pellucid.models.composed.networks import Steering
from pellucid.run.trace import GateTrace
from pellucid.training.training_loss import WordChoiceLoss, word_choice_loss
from tests.reference.rationale import chance_of, choices, expected_cost
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import trained

LOSSES = torch.tensor([0.9, 0.1, 1.4, 0.3, 2.0, 0.7, 0.2, 1.1], dtype=torch.float64)  # of the choices of 3 words
RUNS = torch.zeros(1, 3, dtype=torch.long)


def parameters():
    return torch.tensor([0.3, -0.8, 1.1], dtype=torch.float64, requires_grad=True)


def gates_of(z, logits):
    chances, values = logits.sigmoid()[None], torch.tensor([z], dtype=torch.float64)
    log = torch.where(values > 0, chances.log(), (1 - chances).log()).sum(1)
    return GateTrace(values, chances, RUNS, "word", log)


def steering(baseline):
    state = Steering().double()
    state.steps.fill_(1)
    state.loss.fill_(baseline)
    return state


@pytest.mark.parametrize("baseline", (0.0, 0.8))
@pytest.mark.parametrize("weights", ({}, {"sparsity": 0.7}, {"coherence": 0.4, "sparsity": 0.2}), ids=str)
def test_the_gradient_is_that_of_the_expected_cost(baseline, weights):
    """Sampled gradients weighted by the chance of their sample are the gradient over all choices; no baseline moves
    it.
    """
    logits, literal = parameters(), parameters()
    total = torch.zeros((), dtype=torch.float64)
    for z, loss in zip(choices(3), LOSSES, strict=True):
        gates = gates_of(z, logits)
        sampled = WordChoiceLoss(steering(baseline), None, 10).loss(gates, loss[None])
        sampled = sampled + sum(weight * penalties.get(name).make(gates).mean() for name, weight in weights.items())
        total = total + chance_of(z, logits.sigmoid()).detach() * sampled
    total.backward()
    table = dict(zip(choices(3), LOSSES, strict=True))
    expected_cost(
        literal.sigmoid(), table.__getitem__, weights.get("sparsity", 0), weights.get("coherence", 0)
    ).backward()
    torch.testing.assert_close(logits.grad, literal.grad, rtol=1e-9, atol=1e-12)
    assert literal.grad.abs().min() > 1e-3


def test_the_baseline_is_the_moving_mean_of_losses():
    state = Steering()
    for number, loss in enumerate((1.0, 2.0, 6.0), start=1):
        state.remember(torch.tensor(loss))
        assert float(state.steps) == number
    assert float(state.loss) == pytest.approx(3.0)
    for _ in range(100):
        state.remember(torch.tensor(5.0))
    assert float(state.loss) == pytest.approx(5.0, abs=1e-3)


@pytest.mark.parametrize("target", (0.1, 0.2, 0.4))
@pytest.mark.parametrize("gain", (0.8, -0.3))
def test_the_price_brings_the_share_read_to_the_target(target, gain):
    """A toy whose loss falls, or rises, by every word that is read."""
    logits = torch.full((1, 50), 2.0, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.1)
    selection = WordChoiceLoss(Steering(), target, 150)
    for _ in range(150):
        chances = logits.sigmoid()
        gates = GateTrace(chances.detach(), chances, torch.zeros(1, 50, dtype=torch.long), "word")
        loss = 1 - gain * chances.mean(1)
        optimizer.zero_grad()
        (loss.mean() + selection.loss(gates, loss)).backward()
        optimizer.step()
        selection.end_step()
    assert float(logits.detach().sigmoid().mean()) == pytest.approx(target, abs=0.03)


def test_a_step_in_parts_moves_as_one_of_all_its_texts():
    torch.manual_seed(0)
    chances, losses = torch.rand(4, 3), torch.rand(4)
    runs = torch.zeros(4, 3, dtype=torch.long)
    states = []
    for parts in ([slice(0, 4)], [slice(0, 3), slice(3, 4)]):
        selection = WordChoiceLoss(Steering(), 0.2, 10)
        for _ in range(2):
            for part in parts:
                selection.loss(GateTrace(chances[part], chances[part], runs[part], "word"), losses[part])
            selection.end_step()
        states.append(selection.steering)
    one, other = states
    assert float(one.steps) == float(other.steps) == 2
    assert float(one.price) == pytest.approx(float(other.price)) != 0
    assert float(one.loss) == pytest.approx(float(losses.mean())) == pytest.approx(float(other.loss))


def test_the_share_wanted_falls_to_the_target_and_stays():
    selection, shares = WordChoiceLoss(Steering(), 0.2, 100), []
    for _ in range(100):
        shares.append(selection.wanted())
        selection.steering.steps += 1
    assert shares[0] > 0.85
    assert all(one >= other for one, other in itertools.pairwise(shares))
    assert shares[50:] == [0.2] * 50


def test_only_models_that_choose_have_a_selection():
    assert word_choice_loss(tiny_composed("span").network, 10) is None
    assert word_choice_loss(tiny_composed("rationale").network, 10).target == 0.2


@pytest.mark.whole
@pytest.mark.parametrize("form", ("reinforce", "hard_kuma"))
def test_a_stopped_run_ends_with_the_same_bytes(encoder, tmp_path, form):
    class Stop(Exception):
        pass

    def stop(_, done, __):
        if done == 8:
            raise Stop

    how = {"pooler": "rationale", "pooler_settings": {"form": form}, "penalties": {"coherence": 0.1}}
    whole = trained(encoder, tmp_path / "whole", **how)
    with pytest.raises(Stop):
        trained(encoder, tmp_path / "stopped", stop, **how)
    again = trained(encoder, tmp_path / "stopped", **how)
    for file in ("model.safetensors", "metrics.jsonl"):
        assert (tmp_path / "stopped" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert float(whole.network.steering.steps) > 0
    assert again.hash == whole.hash
