"""On a model whose reason is known, the methods that should find it do."""

import pytest

from pellucid.data.load import load_examples
from pellucid.explaining.answers import accuracy
from pellucid.training.door import train
from studies.planted_token.study import LEARNT, TRAINING, average_precisions

CNN = {"encoder": "cnn", "pooler": "maximum", "epochs": 1, "learning_rate": 2e-3, "precision": "float32"}


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(CNN, id="cnn", marks=pytest.mark.whole),
        pytest.param(TRAINING, id="minilm", marks=pytest.mark.long),
    ],
)
def test_gradient_x_input_integrated_gradients_and_occlusion_find_the_planted_token(settings, tmp_path):
    model = train("planted_token", out=tmp_path / "model", seed=0, progress=False, **settings)
    assert accuracy(model, load_examples("planted_token", "test")).mean >= LEARNT
    names = ("gradient_x_input", "integrated_gradients", "occlusion")
    precisions = average_precisions(model, [*names, "chance"], texts=60)
    for name in names:
        assert precisions[name].low > precisions["chance"].high, precisions
