"""The adversary of an attention analysis: it is trained by the model's own recipe, and its folder is not trained
again.
"""

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import parts, save_encoder, trained

ADVERSARY = [("imitation_adversary", {"divergence_weights": [0.0, 1.0]})]


@pytest.mark.whole
def test_the_adversary_trains_by_the_recipe_in_the_models_folder(tmp_path):
    trained(save_encoder(tmp_path / "encoder"), tmp_path / "base", pooler="additive", epochs=1)
    texts = parts()["train"]

    def analysed():
        return pellucid.attention_analysis(
            str(tmp_path / "base"),
            texts[:6],
            train=texts,
            folder=tmp_path / "out",
            tests=ADVERSARY,
            progress=False,
        )

    analysis = analysed()
    lines = analysis.model().lines
    assert [(line.at, line.part) for line in lines] == [
        (at, part) for at in (0.0, 1.0) for part in ("divergence of the weights", "distance of the answers")
    ]
    assert all(0 <= line.value.mean <= 1 and line.n == 6 for line in lines)
    models = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.safetensors")}
    assert models and analysed() == analysis
    assert models == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.safetensors")}


def test_a_model_that_is_no_folder_has_no_recipe_to_train_by():
    texts = parts()["train"]
    with pytest.raises(BadSetting, match="give the folder's path as the model"):
        pellucid.attention_analysis(tiny_composed("additive"), texts, train=texts, tests=ADVERSARY)
    with pytest.raises(BadSetting, match="imitation_adversary reads texts to train on: give train="):
        pellucid.attention_analysis(tiny_composed("additive"), texts, tests=ADVERSARY)
