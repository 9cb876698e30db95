"""Composed models: the spans' logits add up to the logit, and a folder gives back what was saved in it."""

import json

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadFile, BadSetting, UnknownName
from pellucid.models.composed.composed import CONFIG, WEIGHTS, as_classifier, is_composed, save_composed
from pellucid.models.composed.networks import Plan, composed_network
from pellucid.models.load import load_classifier
from pellucid.text.example import Example, as_examples
from tests.reference.span_attention import span_vectors, spans_of
from tests.shared.asking import ask
from tests.shared.tiny import tiny_composed, tiny_network, word_piece

SETTINGS = (
    {},
    {"unit": "piece"},
    {"max_width": 2},
    {"unit": "piece", "max_width": 1},
    {"weights": "uniform"},
    {"weights": "uniform", "max_width": 3},
)
LABELS = ("negative", "neutral", "positive")


def parts_of(classifier, example):
    """[part width] and the text each part stands in, as the pooler should see them: means of the pieces' states."""
    batch = classifier.encode([example])
    pooler = classifier.network.pooler
    with torch.no_grad():
        states = classifier.network.states(classifier.place(batch.rows)["pieces"])[0]
    groups = batch.pieces_of(0, pooler.unit)
    vectors = torch.stack([states[list(pieces)].mean(0) for pieces in groups])
    return vectors, [batch.units[0].segment[pieces[0]] for pieces in groups]


def literal_spans(classifier, example):
    """Every legal span's vector and score, from the paper's formula."""
    pooler = classifier.network.pooler
    layers = (pooler.start, pooler.end, pooler.difference, pooler.product)
    vectors, segments = parts_of(classifier, example)
    spans = spans_of(segments, pooler.max_width)
    vectors_of_spans = span_vectors(
        vectors, spans, [layer.weight for layer in layers], [layer.bias for layer in layers]
    )
    uniform = pooler.weights == "uniform"
    return (
        spans,
        vectors_of_spans,
        {span: 0.0 if uniform else float(pooler.score.weight[0] @ vectors_of_spans[span]) for span in spans},
    )


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_weights_are_the_papers(settings, texts):
    classifier = tiny_composed("span", **settings)
    for example, explanation in zip(as_examples(texts), ask(classifier, texts, "span_attention"), strict=True):
        with torch.no_grad():
            _, _, scores = literal_spans(classifier, example)
        expected = torch.tensor(list(scores.values()), dtype=torch.float64).softmax(0)
        np.testing.assert_allclose(explanation.scores, expected, rtol=0, atol=2e-5)
        assert explanation.scores.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_weight_times_span_logit_sums_to_the_logit(settings, texts):
    """Property 14: the head is linear and the weights sum to 1, so nothing of the logit is left over."""
    classifier = tiny_composed("span", **settings)
    for example, explanation in zip(as_examples(texts), ask(classifier, texts, "span_attention"), strict=True):
        with torch.no_grad():
            spans, vectors, _ = literal_spans(classifier, example)
            logits = torch.stack([classifier.network.head(vectors[span]) for span in spans])
        total = torch.from_numpy(explanation.scores.copy()) @ logits
        np.testing.assert_allclose(total, explanation.prediction.logits, rtol=0, atol=1e-4)


@pytest.mark.parametrize("width", (1, 2, 3, None))
def test_max_width_limits_the_spans(width, texts):
    for explanation in ask(tiny_composed("span", max_width=width), texts, "span_attention"):
        lengths = explanation.units.last - explanation.units.first + 1
        sizes = [sum(segment == number for segment in explanation.units.parts.segment) for number in range(2)]
        assert lengths.max() == min(width or 10**9, max(sizes))
        assert len(lengths) == sum(max(0, n - k) for n in sizes for k in range(width or n))


@pytest.mark.parametrize("unit", ("word", "piece"))
def test_spans_begin_and_end_with_the_unit(unit, texts):
    classifier = tiny_composed("span", unit=unit)
    batch = classifier.encode(as_examples(texts))
    for number, explanation in enumerate(ask(classifier, texts, "span_attention")):
        assert explanation.units.parts.kind == unit
        assert len(explanation.units.parts.content) == len(batch.pieces_of(number, unit))


def test_uniform_weights_are_all_equal(texts):
    for explanation in ask(tiny_composed("span", weights="uniform"), texts, "span_attention"):
        np.testing.assert_allclose(explanation.scores, 1 / len(explanation.units), rtol=1e-5)
        assert explanation.diagnostics["effective_spans"] == pytest.approx(len(explanation.units), rel=1e-4)


@pytest.mark.parametrize("settings", ({}, {"weights": "uniform"}, {"unit": "piece"}), ids=str)
@pytest.mark.parametrize("alone", (True, False))
def test_a_text_without_any_word_left_gives_the_bias(settings, alone, texts):
    classifier = tiny_composed("span", **settings)
    batch = classifier.encode(as_examples(texts))
    rows = [batch.edited(0, batch.units[0].content, "absent")] + ([] if alone else [batch.rows[1]])
    with torch.no_grad():
        logits = classifier.trace(rows).logits
    torch.testing.assert_close(logits[0], classifier.network.head.bias)
    assert logits.isfinite().all()


def test_gradients_reach_a_text_beside_one_without_words(self_explaining, texts):
    batch = self_explaining.encode(as_examples(texts))
    rows = [batch.edited(0, batch.units[0].content, "absent"), batch.rows[1]]
    self_explaining.network.zero_grad()
    self_explaining.network(**self_explaining.place(rows)).logits.sum().backward()
    gradients = [parameter.grad for parameter in self_explaining.network.parameters() if parameter.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    self_explaining.network.zero_grad(set_to_none=True)


POOLERS = (
    ("span", {}),
    ("span", {"unit": "piece", "max_width": 4, "weights": "uniform"}),
    ("first_token", {}),
    ("mean", {}),
    ("rationale", {}),
    ("rationale", {"form": "hard_kuma", "generator": "lstm", "unit": "piece", "coverage": None}),
)


@pytest.mark.parametrize(("pooler", "settings"), POOLERS)
def test_a_folder_gives_back_the_model(pooler, settings, tmp_path, texts):
    classifier = tiny_composed(pooler, **settings)
    plan = Plan("tiny", pooler, settings, LABELS, trained={"note": "naïve"})
    save_composed(classifier.network, classifier.tokenizer, plan, tmp_path / "new" / "folder")
    assert is_composed(tmp_path / "new" / "folder")
    before = torch.get_rng_state()
    loaded = load_classifier(tmp_path / "new" / "folder")
    assert torch.equal(torch.get_rng_state(), before)
    assert (loaded.labels, loaded.problem, loaded.capabilities) == (
        LABELS,
        "single_label",
        classifier.capabilities,
    )
    assert loaded.hash == classifier.hash
    rows = classifier.encode(as_examples(texts)).rows
    with torch.no_grad():
        before, after = classifier.trace(rows).logits, loaded.trace(rows).logits
    assert before.numpy().tobytes() == after.numpy().tobytes()


def test_saving_twice_writes_the_same_bytes(self_explaining, tmp_path):
    plan = Plan("tiny", "span", {}, LABELS)
    for name in ("one", "two"):
        save_composed(self_explaining.network, self_explaining.tokenizer, plan, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_the_hash_names_what_is_computed(self_explaining):
    same = tiny_composed("span")
    assert same.hash == self_explaining.hash
    others = [
        tiny_composed("span", weights="uniform"),
        tiny_composed("span", max_width=2),
        tiny_composed("first_token"),
    ]
    others.append(tiny_composed("span", labels=("a", "b", "c")))
    changed = tiny_composed("span")
    with torch.no_grad():
        changed.network.head.bias[0] += 1e-6
    others.append(changed)
    hashes = [classifier.hash for classifier in (self_explaining, *others)]
    assert len(set(hashes)) == len(hashes)


def test_the_hash_names_the_configuration():
    plan = Plan("tiny", "mean", {}, LABELS)
    config = tiny_network("bert").config
    hashes = set()
    for change in ({}, {"hidden_act": "relu"}, {"num_attention_heads": 2}, {"layer_norm_eps": 1e-3}):
        encoder = type(tiny_network("bert").base_model)(type(config)(**{**config.to_dict(), **change}))
        network = composed_network(encoder, plan)
        for parameter in network.parameters():
            torch.nn.init.constant_(parameter, 0.1)
        hashes.add(as_classifier(network, word_piece(), plan, "tiny").hash)
    assert len(hashes) == 4


@pytest.fixture
def saved(tmp_path, self_explaining):
    save_composed(self_explaining.network, self_explaining.tokenizer, Plan("tiny", "span", {}, LABELS), tmp_path)
    return tmp_path


SPOILS = {
    "no weights": lambda folder: (folder / WEIGHTS).unlink(),
    "half the weights": lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:500]),
    "garbage": lambda folder: (folder / WEIGHTS).write_bytes(b"garbage"),
    "another pooler": lambda folder: change(folder, pooler="first_token"),
    "no such pooler": lambda folder: change(folder, pooler="spam"),
    "other labels": lambda folder: change(folder, labels=["yes", "no"]),
    "no plan": lambda folder: drop(folder, "labels"),
    "no encoder": lambda folder: drop(folder, "encoder_config"),
    "strange settings": lambda folder: change(folder, pooler_settings={"size": 3}),
    "a list of words": lambda folder: (folder / CONFIG).write_text('["pellucid-composed-1"]'),
    "no JSON": lambda folder: (folder / CONFIG).write_text('{"form": "pellucid-com'),
    "no tokenizer": lambda folder: [path.unlink() for path in folder.glob("tokenizer*")],
}


def change(folder, **parts):
    (folder / CONFIG).write_text(json.dumps(json.loads((folder / CONFIG).read_text()) | parts))


def drop(folder, name):
    config = json.loads((folder / CONFIG).read_text())
    del config[name]
    (folder / CONFIG).write_text(json.dumps(config))


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_spoiled_folder_raises(saved, spoil):
    SPOILS[spoil](saved)
    with pytest.raises(BadFile):
        load_classifier(saved)


@pytest.mark.parametrize("settings", ({"unit": "letter"}, {"weights": "given"}, {"max_width": 0}), ids=str)
def test_a_setting_that_makes_no_sense_raises(settings):
    with pytest.raises(BadSetting):
        tiny_composed("span", **settings)


def test_an_unknown_pooler_raises_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'span'"):
        tiny_composed("spam")


def test_a_pair_has_no_span_across_its_texts(self_explaining):
    example = Example(("A fine film.", "A dull book."))
    units = ask(self_explaining, [example], "span_attention")[0].units
    segment = np.array(units.parts.segment)
    assert (segment[units.first] == segment[units.last]).all()
    assert set(segment[units.first]) == {0, 1}
