"""Several labels of each text in one call: an explanation for each, from the passes of one."""

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from tests.shared.tiny import tiny_classifier

NAMES = ("transport", "food", "sport")
TEXTS = ["The late bus had cold soup", "Nice"]


def topics(texts):
    return [[0.9 if "bus" in text else 0.2, 0.8 if "soup" in text else 0.1, 0.1] for text in texts]


def several(method="occlusion", target="all predicted", model=None, **settings):
    model = model or pellucid.from_function(topics, NAMES, problem="multi_label")
    return pellucid.explain(model, TEXTS, method, target=target, **settings)


def test_each_predicted_label_has_an_explanation():
    results = several(output="probability")
    assert [(result.example.id, result.target.label) for result in results] == [
        ("0", "transport"),
        ("0", "food"),
        ("1", "transport"),
    ]
    assert [round(result.target.value, 6) for result in results] == [0.9, 0.8, 0.2]
    assert dict(results[0])["bus"] == pytest.approx(0.7) and dict(results[1])["soup"] == pytest.approx(0.7)
    assert dict(results[0])["soup"] == dict(results[1])["bus"] == 0
    assert not any("likeliest" in caveat for result in results[:2] for caveat in result.caveats)
    assert "No label has a probability of 0.5 or more" in results[2].caveats[-1]
    assert [result.target.label for result in several(target=["food", 2])] == ["food", "sport"] * 2
    assert len(several(target="all")) == 6
    assert len(several(target=pellucid.Labels(threshold=0.15))) == 3
    assert len(several(target=pellucid.Labels(threshold=0.05))) == 6


@pytest.mark.parametrize("method", ["integrated_gradients", "gradient_x_input", "occlusion", "attention", "lime"])
@pytest.mark.parametrize("output", ["logit", "probability"])
def test_each_label_has_the_scores_of_a_call_of_its_own(method, output):
    model = tiny_classifier()
    together = several(method, "all", model, output=output)
    assert len(together) == len(model.labels) * len(TEXTS)
    for result in together:
        index = int(result.example.id)
        alone = pellucid.explain(model, TEXTS[index], method, target=result.target.label, output=output)[0]
        np.testing.assert_allclose(result.scores, alone.scores, atol=1e-6)
        assert result.target.value == pytest.approx(alone.target.value, abs=1e-6)
        assert str(result.target) == str(alone.target) and not result.rows


@pytest.mark.parametrize("method", ["integrated_gradients", "occlusion"])
def test_labels_share_their_passes(method):
    model = tiny_classifier()
    rows: list[int] = []
    several(method, "predicted", model)  # trials are over
    hook = model.network.register_forward_pre_hook(
        lambda _, args, keywords: rows.append(len(keywords["input_ids"])), with_kwargs=True
    )
    several(method, "predicted", model)
    of_one = sum(rows)
    rows.clear()
    several(method, "all", model)
    hook.remove()
    assert sum(rows) <= 1.15 * of_one


def test_what_is_no_list_of_labels_gets_one_sentence():
    with pytest.raises(BadSetting, match="none, or one is there twice"):
        several(target=[])
    with pytest.raises(BadSetting, match="none, or one is there twice"):
        several(target=["food", "food"])
    with pytest.raises(BadSetting, match="is a pair, which is a target by itself"):
        several(target=[("food", "sport"), "transport"])
    with pytest.raises(BadSetting, match="metrics judge one"):
        pellucid.compare(tiny_classifier(), TEXTS, ["occlusion"], target="all predicted")
    with pytest.raises(BadSetting, match="no probability"):
        pellucid.Labels(threshold=7)
    with pytest.raises(Exception, match="fod"):
        several(target=["fod"])
    stars = pellucid.from_function(lambda texts: [3.3 for _ in texts], ["stars"], problem="regression")
    with pytest.raises(ModelCannot, match="gives texts no labels"):
        several(model=stars)
