"""The curve of imitation: its numbers by a loop, its ends, and that interrupted work goes on."""

import math

import pytest
import torch

from pellucid.attention.weighed_texts import weighed_texts
from pellucid.attention.weight_tests.changed_weights import imitation_curve
from pellucid.base.errors import BadInput, BadSetting
from pellucid.text.example import Example
from pellucid.training.objectives.other_models import imitators
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import parts, save_encoder, trained

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.", "so so")
EXAMPLES = [Example((text,)) for text in TEXTS]


def other_model():
    """The same architecture with other weights, which differ from unit to unit."""
    model = tiny_composed("additive")
    with torch.no_grad():
        model.network.pooler.score.weight.mul_(-8)
        model.network.head.weight.mul_(3)
    return model


def literal_point(base, other):
    """Mean distance and divergence, number by number."""
    distances, divergences = [], []
    for one, two in zip(weighed_texts(base, EXAMPLES), weighed_texts(other, EXAMPLES), strict=True):
        if len(one.weights) > 1:
            answers = []
            for text in (one, two):
                logits = (text.weights[:, None] * text.unit_logits).sum(0).tolist()
                powers = [math.exp(value) for value in logits]
                answers.append([power / sum(powers) for power in powers])
            distances.append(sum(abs(p - q) for p, q in zip(*answers, strict=True)) / 2)
            pairs = list(zip(one.weights.tolist(), two.weights.tolist(), strict=True))
            divergences.append(sum(p * math.log(2 * p / (p + q)) + q * math.log(2 * q / (p + q)) for p, q in pairs) / 2)
    return sum(distances) / len(distances), sum(divergences) / len(divergences)


def test_it_is_the_literal_loop_and_texts_of_one_unit_are_left_out():
    base, other = tiny_composed("additive"), other_model()
    [point] = imitation_curve(base, EXAMPLES, lambda _: other, [0.5])
    assert (point.distance, point.divergence) == pytest.approx(literal_point(base, other), abs=1e-9)
    assert point.divergence_weight == 0.5 and point.texts == len(TEXTS) - 1
    assert 0 < point.divergence <= math.log(2) and 0 < point.distance <= 1


def test_a_model_is_at_no_distance_from_itself_in_any_order_of_classes():
    base = tiny_composed("additive")
    turned = tiny_composed("additive", labels=base.labels[::-1])
    turned.network.load_state_dict(base.network.state_dict())
    with torch.no_grad():
        turned.network.head.weight.copy_(base.network.head.weight.flip(0))
        turned.network.head.bias.copy_(base.network.head.bias.flip(0))
    for model in (base, turned):
        [point] = imitation_curve(base, EXAMPLES, lambda _, model=model: model, [0])
        assert point.distance < 1e-6 and point.divergence < 1e-9


def test_texts_that_leave_no_room_and_weights_below_0_are_refused():
    base = tiny_composed("additive")
    with pytest.raises(BadInput, match="no text has two; give longer texts"):
        imitation_curve(base, EXAMPLES[:1], lambda _: base)
    with pytest.raises(BadSetting, match="divergence_weight=-1"):
        imitation_curve(base, EXAMPLES, lambda _: base, [-1])


@pytest.mark.whole
def test_training_goes_up_the_curve_and_a_finished_folder_is_loaded(tmp_path):
    """Lambda 0 drives the distance to 0; a large lambda drives the weights apart."""
    encoder = save_encoder(tmp_path / "encoder")
    base = trained(encoder, tmp_path / "base", pooler="additive", epochs=2)
    data, examples = parts(), parts()["train"]
    changes = {"epochs": 15, "learning_rate": 3e-3}
    train = imitators(tmp_path / "base", data, tmp_path / "curve", **changes)
    near, far = imitation_curve(base, examples, train, [0, 5])
    assert near.distance < 0.05 and near.divergence < far.divergence <= math.log(2)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "curve").rglob("*.safetensors")}
    assert imitation_curve(base, examples, train, [0, 5]) == [near, far]
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "curve").rglob("*.safetensors")}
    assert sorted(path.name for path in (tmp_path / "curve").iterdir()) == ["lambda_0", "lambda_5"]


def test_a_model_without_a_recipe_is_refused(tmp_path):
    with pytest.raises(BadSetting, match="has no recipe, by which a model that imitates it is trained"):
        imitators(save_encoder(tmp_path / "encoder"), parts(), tmp_path / "curve")
