"""Pipelines and objects of other libraries: what their own call answers is explained, or a sentence says what to give."""

import json

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from transformers import TextClassificationPipeline, pipeline

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, Notice
from tests.shared.tiny import LABELS, save_tiny

TEXT = "A good film with a dull plot and a slow but lovely actor."


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A network and its tokenizer."""
    model = pellucid.load(save_tiny(tmp_path_factory.mktemp("model"), labels=LABELS))
    return model.network, model.tokenizer


def pipe(parts, **settings):
    network, tokenizer = parts
    return pipeline("text-classification", model=network, tokenizer=tokenizer, top_k=None, **settings)


def answers(classifier, text=TEXT):
    return {answer["label"]: answer["score"] for answer in classifier(text)[0]}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"function_to_apply": "sigmoid"},
        {"function_to_apply": "softmax"},
        {"truncation": True, "max_length": 8},
        {"truncation": True, "max_length": 24, "padding": "max_length"},
        {"add_special_tokens": False},
    ],
    ids=str,
)
def test_the_settings_of_a_pipeline_are_followed(parts, settings):
    explanation = pellucid.explain(pipe(parts, **settings), TEXT, "gradient_x_input")[0]
    prediction = explanation.prediction
    ours = dict(zip(prediction.labels, prediction.probabilities, strict=True))
    assert ours == pytest.approx(answers(pipe(parts, **settings)), abs=1e-5)
    if settings.get("max_length") == 8:
        assert "cannot read" in explanation.caveats[0] and len(explanation.units) == 8


def test_raw_logits_are_explained_as_they_are(parts):
    with pytest.warns(Notice, match="raw logits"):
        prediction = pellucid.predict(pipe(parts, function_to_apply="none"), TEXT)[0]
    assert dict(zip(prediction.labels, prediction.logits, strict=True)) == pytest.approx(
        answers(pipe(parts, function_to_apply="none")), abs=1e-5
    )


def test_two_pipelines_of_one_network_have_digests_of_their_own(parts):
    cut = pellucid.explain(pipe(parts, truncation=True, max_length=8), TEXT, "occlusion")[0]
    whole = pellucid.explain(pipe(parts), TEXT, "occlusion")[0]
    assert cut.model_hash != whole.model_hash


class WithItsOwnSteps(TextClassificationPipeline):
    """It changes the text before its network reads it."""

    def preprocess(self, inputs, **settings):
        return super().preprocess(f"{inputs} dull dull dull", **settings)


def test_what_cannot_be_followed_is_refused_by_name(parts):
    network, tokenizer = parts
    with pytest.raises(ModelCannot, match="calls its tokenizer with stride"):
        pellucid.explain(pipe(parts, stride=2), TEXT, "occlusion")
    changed = WithItsOwnSteps(model=network, tokenizer=tokenizer, task="text-classification")
    with pytest.raises(ModelCannot, match=r"cannot be followed; explain the network without them, pellucid\.load\("):
        pellucid.explain(changed, TEXT, "occlusion")
    changed.task = "text-generation"
    with pytest.raises(
        ModelCannot, match=r"explain what it writes: pellucid\.explain\(\(model, tokenizer\), \(text, answer\)\)"
    ):
        pellucid.explain(changed, TEXT, "occlusion")
    changed.task = "zero-shot-classification"
    with pytest.raises(ModelCannot, match=r"target=\('entailment', 'contradiction'\)"):
        pellucid.explain(changed, TEXT, "occlusion")


def stars(texts):
    return [3.0 + 1.5 * ("great" in text) - 1.2 * ("slow" in text) for text in texts]


def test_a_function_that_gives_a_value_is_explained_without_probabilities():
    model = pellucid.from_function(stars, ["stars"], problem="regression")
    explanation = pellucid.explain(model, "A great meal, slow waiters.", "occlusion")[0]
    assert explanation.target.value == pytest.approx(3.3) and explanation.predicted_value == pytest.approx(3.3)
    assert dict(explanation) == pytest.approx(
        {"A": 0, "great": 1.5, "meal": 0, ",": 0, "slow": -1.2, "waiters": 0, ".": 0}
    )
    assert "%" not in str(explanation)
    with pytest.raises(BadSetting, match="A value has one name"):
        pellucid.from_function(stars, ["few", "many"], problem="regression")


def test_a_regressor_of_scikit_learn_gives_its_own_value():
    texts, values = ["great meal", "slow waiters", "fine food", "bad soup"], [5, 2, 4, 1.0]
    ridge = make_pipeline(TfidfVectorizer(), Ridge()).fit(texts, values)
    explanation = pellucid.explain(ridge, "A great meal", "occlusion")[0]
    assert explanation.target.value == pytest.approx(ridge.predict(["A great meal"])[0])
    alone = [ridge.predict([text])[0] for text in ("A great meal", "A meal")]
    assert dict(explanation)["great"] == pytest.approx(alone[0] - alone[1], abs=1e-6)


class WithLabels:
    """As SetFit's models: probabilities as a tensor, and names of the classes."""

    labels = ("billing", "shipping")

    def predict_proba(self, texts):
        late = np.array([0.7 if "late" in text else 0.2 for text in texts])
        return torch.tensor(np.stack([1 - late, late], 1))


class CrossEncoder(torch.nn.Sequential):
    """Named as that of sentence-transformers."""


def test_objects_of_other_libraries_are_read_or_refused_with_the_way(tmp_path):
    explanation = pellucid.explain(WithLabels(), "My parcel is late", "occlusion", output="probability")[0]
    assert explanation.answer == "shipping" and dict(explanation)["late"] == pytest.approx(0.5)
    with pytest.raises(BadInput, match=r"pellucid\.load\(encoder\.model, encoder\.tokenizer\)"):
        pellucid.explain(CrossEncoder(torch.nn.Linear(2, 2)), "My parcel is late", "occlusion")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "some/base"}))
    with pytest.raises(ModelCannot, match=r"holds an adapter of .some/base.*merge both"):
        pellucid.load(tmp_path)
