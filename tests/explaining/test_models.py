"""What stands for a model at every door, and what models that are no text classifiers are told to be."""

from dataclasses import replace

import pytest
import torch
import transformers
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.base.errors import BadFile, BadInput, ModelCannot
from pellucid.explaining.inputs.models import model_from
from tests.shared.tiny import LABELS, TOKENIZERS, save_tiny, tiny_classifier, tiny_network, word_piece

TEXTS = [
    "A fine film.",
    "dull",
    ("A pair of texts", "has two"),
    "Long, winding and in the end rather fine. " * 3,
]
SIZES = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48}
OTHERS = {  # class of the library -> what its models do
    "AutoModelForMultipleChoice": "chooses among answers",
    "AutoModelForNextSentencePrediction": "one sentence follows another",
}


def other_network(kind):
    """A tiny network of the library for another task."""
    config = transformers.AutoConfig.for_model(
        "bert", vocab_size=len(word_piece()), is_decoder="Causal" in kind, **SIZES
    )
    return getattr(transformers, kind).from_config(config)


@pytest.fixture(scope="module")
def fitted():
    texts = ["a lovely film", "a fine film", "a dull film", "a bad film"]
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, ["good", "good", "bad", "bad"])


def test_what_stands_for_a_model(tmp_path, fitted):
    folder = save_tiny(tmp_path, labels=LABELS)
    network, tokenizer = tiny_network(n_labels=3, id2label=dict(enumerate(LABELS))), word_piece()
    pipeline = transformers.pipeline("text-classification", model=network, tokenizer=tokenizer)
    for source in (folder, str(folder), pipeline, (network, tokenizer)):
        assert pellucid.predict(source, "A fine film.")[0].labels == LABELS
    assert pellucid.predict(fitted, "a lovely film")[0].label == "good"
    model = tiny_classifier()
    assert model_from(model) is model


def test_a_pipeline_gets_its_own_answers():
    network = tiny_network(n_labels=3, id2label=dict(enumerate(LABELS)))
    pipeline = transformers.pipeline("text-classification", model=network, tokenizer=word_piece(), top_k=None)
    [prediction] = pellucid.predict(pipeline, "A fine film.")
    own = {answer["label"]: answer["score"] for answer in pipeline(["A fine film."])[0]}
    assert dict(zip(prediction.labels, prediction.probabilities, strict=True)) == pytest.approx(own, abs=1e-6)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (tiny_network(), r"pellucid\.load\(model, tokenizer\)"),
        (torch.nn.Linear(2, 2), "from_network"),
        (len, "from_function"),
        (LogisticRegression().fit([[0], [1]], ["a", "b"]), "reads numbers"),
        (make_pipeline(TfidfVectorizer(), LogisticRegression()), "fit it first"),
        (None, "came as None"),
        ([tiny_network()], "came as list"),
        (transformers.BertModel, "the class BertModel"),
    ],
    ids=["network", "torch", "function", "part", "unfitted", "none", "list", "class"],
)
def test_what_is_no_model_yet_gets_the_way_to_write_it(source, sentence):
    with pytest.raises((BadInput, ModelCannot), match=sentence):
        pellucid.explain(source, "A fine film.")


@pytest.mark.parametrize("kind", OTHERS)
def test_models_of_other_tasks_are_named(tmp_path, kind):
    network = other_network(kind)
    network.save_pretrained(tmp_path)
    word_piece().save_pretrained(tmp_path)
    for load in (lambda: pellucid.load(tmp_path), lambda: pellucid.load(network, word_piece())):
        with pytest.raises(
            ModelCannot,
            match=f"is no text classifier: it .*{OTHERS[kind]}.*Pellucid explains text classifiers",
        ):
            load()


def test_a_pipeline_of_another_task_is_named():
    pipeline = transformers.pipeline("feature-extraction", model=other_network("AutoModel"), tokenizer=word_piece())
    with pytest.raises(ModelCannot, match="turns texts into vectors"):
        pellucid.explain(pipeline, "A fine film.")


def test_a_folder_of_sentence_embeddings_is_named(tmp_path):
    other_network("AutoModel").save_pretrained(tmp_path)
    (tmp_path / "modules.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ModelCannot, match=r"turns texts into vectors.*pellucid\.train\(data, encoder="):
        pellucid.load(tmp_path)


def test_a_file_and_an_empty_folder_are_no_models(tmp_path):
    (tmp_path / "model.pkl").write_bytes(b"")
    with pytest.raises(BadFile, match="is a file, no model's folder"):
        pellucid.load(tmp_path / "model.pkl")
    with pytest.raises(BadFile, match=r"holds no config\.json"):
        pellucid.load(tmp_path)


KINDS = {
    "hugging_face": lambda: tiny_classifier("roberta"),
    "windows": lambda: replace(tiny_classifier(), window=12),
    "function": lambda: pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["a", "b"]),
    "network": lambda: _own_network(),
}


def _own_network():
    """A bag of words of ours as a network."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        embedding = torch.nn.Embedding(len(TOKENIZERS["bert"]()), 2)

    def pieces(text):
        encoded = TOKENIZERS["bert"]()(text, add_special_tokens=False, return_offsets_mapping=True)
        return [(number, *place) for number, place in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)]

    def logits(ids, attended):
        return (embedding(ids) * attended[..., None]).sum(1)

    return pellucid.from_network(
        torch.nn.ModuleList([embedding]),
        tokenize=pieces,
        logits=logits,
        embedding=embedding,
        labels=["a", "b"],
        separator=1,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_prediction_is_that_of_the_explanation(kind):
    model = KINDS[kind]()
    together = model.predict(TEXTS)
    assert together == pellucid.predict(model, [pellucid.Example((t,) if isinstance(t, str) else t) for t in TEXTS])
    explanations = pellucid.explain(model, TEXTS, "occlusion", progress=False)
    for text, prediction, explanation in zip(TEXTS, together, explanations, strict=True):
        assert prediction.label == explanation.prediction.label
        assert prediction.logits == pytest.approx(explanation.prediction.logits, abs=1e-5)
        [alone] = model.predict([text])
        assert prediction.logits == pytest.approx(alone.logits, abs=1e-5)
    assert model.predict([]) == []


def test_composed_models_predict(self_explaining):
    [prediction] = self_explaining.predict("A fine film.")
    [explanation] = pellucid.explain(self_explaining, "A fine film.", "span_attention", progress=False)
    assert prediction == explanation.prediction
