"""Classifiers from disk: every family and kind of problem is read as its trainer meant it; the rest raises."""

import json

import pytest
import torch
from transformers import AutoModel, PreTrainedTokenizerFast

from pellucid.base.errors import BadFile, BadSetting, ModelCannot
from pellucid.models.classifiers.hugging_face import wrap
from pellucid.models.load import load_classifier
from pellucid.run.explaining import predict
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import FAMILIES, TOKENIZERS, save_tiny, tiny_network

PAIR = ("The café was closed on Monday.", "Nobody could eat there.")
PROBLEMS = {
    "one_logit": {"n_labels": 1},
    "two_logits": {"n_labels": 2},
    "multi_class": {"n_labels": 5},
    "multi_label": {"n_labels": 3, "problem_type": "multi_label_classification"},
    "regression": {"n_labels": 1, "problem_type": "regression"},
}


@pytest.fixture(scope="session")
def on_disk(tmp_path_factory):
    """A saved classifier's folder by its settings, each written once."""
    folders = {}

    def folder(family="bert", **config):
        key = (family, *sorted(config.items()))
        if key not in folders:
            folders[key] = save_tiny(tmp_path_factory.mktemp(family), family, **config)
        return folders[key]

    return folder


@pytest.fixture
def broken(tmp_path):
    """A saved classifier that a test may spoil."""
    return save_tiny(tmp_path / "model")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_gives_the_network_that_was_saved(on_disk, family):
    classifier = load_classifier(on_disk(family))
    weights = tiny_network(family).state_dict()
    loaded = classifier.network.state_dict()
    assert loaded.keys() == weights.keys()
    assert all(torch.equal(loaded[name], weights[name]) for name in weights)
    assert not classifier.network.training
    assert classifier.labels == ("LABEL_0", "LABEL_1", "LABEL_2")


@pytest.mark.parametrize("family", FAMILIES)
def test_loading_leaves_the_random_state_alone(on_disk, family):
    folder, before = on_disk(family), torch.get_rng_state()
    load_classifier(folder)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ("A gripping, lovely film.", PAIR), ids=("single", "pair"))
def test_the_logits_are_those_of_the_users_own_call(on_disk, family, text):
    classifier = load_classifier(on_disk(family))
    tokenizer = TOKENIZERS[family]()
    segments = (text,) if isinstance(text, str) else text
    with torch.no_grad():
        own = tiny_network(family)(**tokenizer(*segments, return_tensors="pt")).logits[0]
    explanation = ask(classifier, [text], "gradient")[0]
    torch.testing.assert_close(torch.tensor(explanation.prediction.logits, dtype=own.dtype), own, rtol=0, atol=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", ("gradient_x_input", "occlusion"))
def test_every_kind_of_problem_is_explained(on_disk, problem, method):
    classifier = load_classifier(on_disk(**PROBLEMS[problem]))
    explanations = ask(classifier, ["A gripping, lovely film.", PAIR], method)
    assert all(explanation.scores.any() for explanation in explanations)
    logits, chances = explanations[0].prediction.logits, explanations[0].prediction.probabilities
    assert len(logits) == PROBLEMS[problem]["n_labels"]
    expected = {
        "one_logit": (1 - sigmoid(logits[0]), sigmoid(logits[0])),
        "multi_label": tuple(map(sigmoid, logits)),
        "regression": (),
    }.get(problem, tuple(torch.tensor(logits).softmax(-1).tolist()))
    assert chances == pytest.approx(expected, abs=1e-6)


def sigmoid(value):
    return float(torch.tensor(value).sigmoid())


def test_one_logit_has_two_classes_with_opposite_scores(on_disk):
    classifier = load_classifier(on_disk(n_labels=1))
    assert classifier.labels == ("not LABEL_0", "LABEL_0")
    against, towards = (ask(classifier, ["A fine film."], "gradient_x_input", target=Target(of))[0] for of in (0, 1))
    assert (against.scores == -towards.scores).all()
    (example,) = as_examples(["A fine film."])
    assert predict(torch.tensor([-0.1]), classifier, example).label == "not LABEL_0"
    assert predict(torch.tensor([0.1]), classifier, example).label == "LABEL_0"


def test_a_regression_model_has_no_probability(on_disk):
    classifier = load_classifier(on_disk(**PROBLEMS["regression"]))
    with pytest.raises(BadSetting, match="no probabilities"):
        ask(classifier, ["A fine film."], "gradient", target=Target(output="probability"))


def test_the_problem_can_be_set(on_disk):
    folder = on_disk(n_labels=3)
    assert load_classifier(folder).problem == "single_label"
    assert load_classifier(folder, problem="multi_label").problem == "multi_label"
    with pytest.raises(BadSetting, match="problem="):
        load_classifier(folder, problem="two_label")


@pytest.mark.parametrize("dtype", ("float64", "bfloat16"))
def test_the_number_type_can_be_set(on_disk, dtype):
    classifier = load_classifier(on_disk(), dtype=dtype)
    assert {str(tensor.dtype) for tensor in classifier.network.parameters()} == {f"torch.{dtype}"}


@pytest.mark.parametrize(
    "setting", ({"dtype": "int8"}, {"dtype": "float33"}, {"device": "cuda:99"}, {"device": "moon"})
)
def test_a_device_or_number_type_that_is_none_raises(on_disk, setting):
    with pytest.raises(BadSetting):
        load_classifier(on_disk(), **setting)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_longest_text_is_read_whole_and_a_longer_one_in_windows(on_disk, family):
    classifier = load_classifier(on_disk(family))
    for count, in_windows in ((128, False), (129, True)):
        explanation = ask(classifier, [text_of(count, classifier)], "gradient")[0]
        assert len(explanation.scores) == count
        assert ("windows" in explanation.diagnostics) == in_windows


def text_of(count, classifier):
    """A text of so many pieces, special tokens included."""
    candidates = (". " * dots + "film " * films for dots in range(55, 130) for films in range(3))
    return next(text for text in candidates if len(classifier.tokenizer(text, verbose=False).input_ids) == count)


def test_the_digest_does_not_change_with_use(on_disk):
    classifier = load_classifier(on_disk())
    classifier.tokenizer.backend_tokenizer.enable_truncation(max_length=9)
    classifier.tokenizer.backend_tokenizer.enable_padding(length=9)
    before = classifier.hash
    ask(classifier, ["A fine film."], "gradient")
    classifier.network.classifier.bias.data.copy_(classifier.network.classifier.bias.data)
    assert classifier.hash == before == load_classifier(on_disk()).hash


def test_the_users_own_tokenizer_keeps_its_settings(on_disk):
    classifier = load_classifier(on_disk())
    own = classifier.tokenizer.backend_tokenizer
    own.enable_truncation(max_length=5)
    own.enable_padding(length=8)
    before = own.truncation, own.padding
    ask(classifier, ["A fine film."], "occlusion")
    assert (own.truncation, own.padding) == before


MIXED = [
    "A fine film.",
    "  Ça alors,\tun café !",
    PAIR,
    ("Dull.", "Slow, too."),
    "日本語 🎉 text",
    "x" * 300,
    *"abcdefghij" * 4,
]


def test_texts_are_tokenised_as_each_alone(models, monkeypatch):
    """Texts and pairs in any order, more than go through the tokenizer at once."""
    monkeypatch.setattr("pellucid.models.classifiers.tokens.AT_ONCE", 5)
    examples = as_examples(MIXED)
    for model in models.values():
        together = model.encode(examples)
        alone = [model.encode([example]) for example in examples]
        assert together.rows == tuple(batch.rows[0] for batch in alone)
        assert together.units == tuple(batch.units[0] for batch in alone)


def test_a_text_that_the_tokenizer_cannot_read_is_named(on_disk, monkeypatch):
    classifier = load_classifier(on_disk())
    tokenizer = type(classifier.inputs.facts.own_tokenizer)
    convert = tokenizer._convert_encoding

    def spoilt(self, encoding, *rest, **settings):
        if len(encoding.ids) > 30:
            raise RuntimeError("index out of range")
        return convert(self, encoding, *rest, **settings)

    monkeypatch.setattr(tokenizer, "_convert_encoding", spoilt)
    assert len(classifier.encode(as_examples(["A fine film.", "Dull."]))) == 2
    with pytest.raises(ModelCannot, match=r"fails on the text 'bad bad .*: index out of range"):
        classifier.encode(as_examples(["A fine film.", "bad " * 30, "Dull."]))


class Tidy(PreTrainedTokenizerFast):
    """A tokenizer whose own call cleans a text, and takes lists for words."""

    def __call__(self, text, *rest, **settings):
        if isinstance(text, str):
            return super().__call__(text.replace("@user", "someone"), *rest, **settings)
        return super().__call__(text, *rest, **settings, is_split_into_words=True)


def test_a_call_of_the_tokenizers_own_gets_one_text_at_a_time(on_disk):
    folder = on_disk()
    tidy = Tidy.from_pretrained(folder)
    classifier = wrap(load_classifier(folder).network, tidy)
    texts = ["A film for @user.", "Dull.", "a"]
    rows = classifier.encode(as_examples(texts)).rows
    assert [list(row.ids) for row in rows] == [tidy(text)["input_ids"] for text in texts]
    assert rows[0].ids == load_classifier(folder).encode(as_examples(["A film for someone."])).rows[0].ids


def test_a_checkpoint_without_a_head_raises(tmp_path):
    AutoModel.from_config(tiny_network("bert").config).save_pretrained(tmp_path)
    TOKENIZERS["bert"]().save_pretrained(tmp_path)
    with pytest.raises(ModelCannot, match="no trained classification head"):
        load_classifier(tmp_path)


def test_a_pickle_is_never_opened(broken):
    weights = tiny_network("bert").state_dict()
    (broken / "model.safetensors").unlink()
    torch.save(weights, broken / "pytorch_model.bin")
    with pytest.raises(BadFile, match="Cannot load a model"):
        load_classifier(broken)


@pytest.mark.parametrize("share", (0.0, 0.3, 0.99))
def test_half_a_weights_file_raises(broken, share):
    path = broken / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BadFile, match="Cannot load a model"):
        load_classifier(broken)


@pytest.mark.parametrize("spoiled", ("", "not json", "[]", "{}", '{"model_type": "no such thing"}', '"bert"', "null"))
def test_a_spoiled_configuration_raises(broken, spoiled):
    (broken / "config.json").write_text(spoiled)
    with pytest.raises(BadFile):
        load_classifier(broken)


def test_a_configuration_that_does_not_fit_its_weights_raises(broken):
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))
    with pytest.raises(BadFile):
        load_classifier(broken)


def test_a_missing_tokenizer_raises(broken):
    for path in broken.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(BadFile, match="tokenizer"):
        load_classifier(broken)


@pytest.mark.parametrize("source", ("./no/such/folder", "/no/such", "~/no-such-folder-here", "a/b/c"))
def test_a_path_that_is_not_there_raises_without_asking_the_hub(source):
    with pytest.raises(BadFile, match="There is no folder"):
        load_classifier(source)


def test_a_slow_tokenizer_is_refused():
    class Slow:
        is_fast = False

    with pytest.raises(ModelCannot, match="no character offsets"):
        wrap(tiny_network("bert"), Slow())
