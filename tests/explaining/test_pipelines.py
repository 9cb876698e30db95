"""Pipelines and objects of other libraries: what their own call answers is explained, or a sentence says what to give."""

import json
from types import MappingProxyType

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from transformers import TextClassificationPipeline, pipeline

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, Notice
from pellucid.explaining.inputs.models import any_model_from
from tests.shared.tiny import LABELS, TOKENIZERS, save_tiny, tiny_network

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


class Transformer(torch.nn.Module):
    """As the first module of sentence-transformers' models: it reads the columns of a tokenizer."""

    def __init__(self, network, tokenizer, gives="token_embeddings"):
        super().__init__()
        self.auto_model, self.tokenizer, self.gives = network, tokenizer, gives

    def forward(self, features):
        columns = {name: features[name] for name in self.tokenizer.model_input_names if name in features}
        return {**features, self.gives: self.auto_model(**columns)[0]}


class MeanAndFirst(torch.nn.Module):
    """A pooling of two modes, the one after the other in one vector."""

    def forward(self, features):
        states, weights = features["token_embeddings"], features["attention_mask"][..., None]
        mean = (states * weights).sum(1) / weights.sum(1)
        return {**features, "sentence_embedding": torch.cat([states[:, 0], mean], 1)}


class Projection(torch.nn.Linear):
    """A dense layer behind the pooling, with its activation."""

    def forward(self, features):
        return {**features, "sentence_embedding": super().forward(features["sentence_embedding"]).tanh()}


class SentenceTransformer(torch.nn.Sequential):
    """As that of sentence-transformers 6, of which it has the attributes that matter."""

    default_prompt_name, truncate_dim, similarity_fn_name = None, None, "cosine"
    prompts, before = MappingProxyType({"query": "Find: "}), ""

    @property
    def max_seq_length(self):
        return self[0].tokenizer.model_max_length

    def similarity(self, first, second):
        raise AssertionError("the pairs are compared by the function's name")

    @torch.inference_mode()
    def encode(self, texts):
        self.eval()
        columns = self[0].tokenizer(
            [self.before + text for text in texts], padding=True, truncation=True, return_tensors="pt"
        )
        return self(dict(columns))["sentence_embedding"][:, : self.truncate_dim].numpy()


class CrossEncoder(torch.nn.Sequential):
    """As that of sentence-transformers 6."""

    def __init__(self, *modules, activation_fn=None):
        super().__init__(*modules)
        object.__setattr__(self, "activation_fn", activation_fn or torch.nn.Sigmoid())

    @property
    def model(self):
        return self[0].auto_model

    @property
    def tokenizer(self):
        return self[0].tokenizer

    @torch.inference_mode()
    def predict(self, pairs):
        self.eval()
        columns = self.tokenizer(
            [list(pair) for pair in pairs], padding=True, truncation="longest_first", return_tensors="pt"
        )
        scores = self.activation_fn(self(dict(columns))["scores"].double())
        return (scores[:, 0] if scores.shape[1] == 1 else scores).numpy()


PAIRS = [("A gripping, lovely film.", "A good film about love."), ("The café was closed.", "Nobody could eat there.")]


def test_objects_of_other_libraries_are_read_or_refused_with_the_way(tmp_path):
    explanation = pellucid.explain(WithLabels(), "My parcel is late", "occlusion", output="probability")[0]
    assert explanation.answer == "shipping" and dict(explanation)["late"] == pytest.approx(0.5)
    without_parts = type("CrossEncoder", (torch.nn.Linear,), {})(2, 2)
    with pytest.raises(BadInput, match=r"pellucid\.load\(encoder\.model, encoder\.tokenizer\)"):
        pellucid.explain(without_parts, "My parcel is late", "occlusion")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "some/base"}))
    with pytest.raises(ModelCannot, match=r"holds an adapter of .some/base.*merge both"):
        pellucid.load(tmp_path)


def sentence_transformer(family, **attributes):
    torch.manual_seed(3)
    parts = Transformer(tiny_network(family).base_model, TOKENIZERS[family]()), MeanAndFirst(), Projection(64, 16)
    model = SentenceTransformer(*parts).double()
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


@pytest.mark.parametrize("attributes", [{}, {"similarity_fn_name": "dot", "truncate_dim": 7}], ids=str)
@pytest.mark.parametrize("family", ("bert", "roberta"))
def test_a_sentence_transformer_is_explained_by_its_own_modules(family, attributes):
    model = sentence_transformer(family, **attributes).train()
    results = pellucid.explain(model, PAIRS, "integrated_gradients", n_steps=128)
    assert model.training  # as it was, though its encode leaves it in evaluation mode
    for pair, explanation in zip(PAIRS, results, strict=True):
        first, second = model.encode(list(pair))
        lengths = 1.0 if attributes else np.linalg.norm(first) * np.linalg.norm(second)
        assert explanation.predicted_value == pytest.approx(first @ second / lengths, abs=1e-6)
        assert explanation.diagnostics["completeness_gap"] < 1e-2 and explanation.diagnostics["parity"] < 1e-9
        assert {*explanation.units.segment} >= {0, 1}


@pytest.mark.parametrize(
    ("attributes", "message"),
    (
        ({"default_prompt_name": "query"}, "puts its prompt .query. before each text"),
        ({"similarity_fn_name": "maxsim"}, "compares by 'maxsim', and cosine and dot can be followed"),
        ({"before": "Find: "}, "has steps of its own that cannot be followed"),
    ),
)
def test_an_encoder_that_cannot_be_followed_is_refused_by_name(attributes, message):
    with pytest.raises(ModelCannot, match=message):
        pellucid.explain(sentence_transformer("bert", **attributes), PAIRS)
    with pytest.raises(ModelCannot, match="begins with Projection, which has no transformer"):
        pellucid.explain(SentenceTransformer(Projection(2, 2)), PAIRS)


def cross_encoder(activation_fn, n_labels=1, family="bert"):
    network = tiny_network(family, n_labels).double()
    return CrossEncoder(Transformer(network, TOKENIZERS[family](), "scores"), activation_fn=activation_fn)


@pytest.mark.parametrize("family", ("bert", "roberta"))
def test_a_cross_encoder_is_explained_as_it_predicts(family):
    plain, squashed = (cross_encoder(each(), family=family) for each in (torch.nn.Identity, torch.nn.Sigmoid))
    for pair, value, chance in zip(PAIRS, plain.predict(PAIRS), squashed.predict(PAIRS), strict=True):
        explanation = pellucid.explain(plain, [pair], "occlusion")[0]
        assert str(explanation.target) == "logit of relevance" or explanation.target.label == "relevance"
        assert explanation.predicted_value == pytest.approx(value, abs=1e-6)
        explanation = pellucid.explain(squashed, [pair], "occlusion", target="relevant", output="probability")[0]
        assert explanation.target.value == pytest.approx(chance, abs=1e-6)
    for activation, problem in ((torch.nn.Softmax(-1), "single_label"), (torch.nn.Sigmoid(), "multi_label")):
        model = any_model_from(cross_encoder(activation, 3, family))
        assert model.problem == problem
    with pytest.raises(ModelCannot, match="makes its numbers by Tanh"):
        pellucid.explain(cross_encoder(torch.nn.Tanh()), PAIRS)
