"""Texts longer than the encoder reads: its windows are joined, and everything else sees the text as one."""

import json
import threading

import numpy as np
import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from pellucid.base.errors import BadFile, BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.models.composed import joined_windows
from pellucid.models.composed.composed import CONFIG, save_composed
from pellucid.models.composed.joined_windows import check_ends
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.run.batch import OPERATORS, edit
from pellucid.run.explaining import method_calls
from pellucid.run.hidden_target import HiddenState
from pellucid.run.trace import Want
from pellucid.text.example import Example, as_examples
from tests.reference.joined_windows import joined_states
from tests.shared.asking import FEW, ask, works
from tests.shared.tiny import byte_pairs_alone, tiny_composed, word_piece

WINDOW, LONGEST = 24, 128
LONG = "Long, winding and in the end rather dull. The second part asks for more patience. Avoid! A fine film it is not."
PAIR = (LONG[:60], "Nobody could eat there.")
BOTH_LONG = (LONG[:70], LONG[20:100])
FAMILIES = ("bert", "roberta", "mpnet", "deberta_v3")


@pytest.fixture(scope="module")
def joining():
    return tiny_composed("span", max_length=LONGEST, positions=WINDOW)


def states_in(classifier, rows):
    """What the pooler is given: [row piece width]."""
    seen = []
    handle = classifier.network.pooler.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    with torch.no_grad():
        classifier.trace(rows)
    handle.remove()
    return seen[0]


def test_texts_that_fit_a_window_are_read_as_without_windows(joining, texts):
    plain = tiny_composed("span", positions=WINDOW)
    rows = [row for row in joining.encode(as_examples(texts)).rows if len(row) <= WINDOW]
    assert len(rows) > 1
    with torch.no_grad():
        ours, expected = joining.trace(rows), plain.trace(rows)
    assert torch.equal(ours.logits, expected.logits)
    assert torch.equal(ours.spans.scores, expected.spans.scores)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", (LONG, PAIR, BOTH_LONG), ids=("text", "pair", "both long"))
def test_states_are_those_of_the_window_farthest_from_its_cuts(family, text):
    classifier = tiny_composed("span", max_length=256, positions=WINDOW, family=family)
    row = classifier.encode(as_examples([text])).rows[0]
    assert len(row) > WINDOW and not row.windows
    expected = joined_states(classifier, row, row, WINDOW)
    torch.testing.assert_close(states_in(classifier, [row])[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_an_edited_text_is_read_in_the_windows_of_the_whole(family, operator):
    classifier = tiny_composed("span", max_length=256, positions=WINDOW, family=family)
    batch = classifier.encode(as_examples([LONG]))
    row = batch.rows[0]
    content = batch.units[0].content
    removed = {*content[10:19], *content[-4:]}
    edited = edit(row, removed, operator, batch.special)
    whole = edited if operator == "delete" else row  # what is deleted leaves another, shorter text
    expected = joined_states(classifier, whole, edited, WINDOW)
    states = states_in(classifier, [edited])[0]
    if len(states) > len(edited):  # places are kept where the encoder has none for gaps
        states = states[list(edited.positions)]
    torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-5)


def test_what_is_far_away_is_seen(joining):
    """The weights of all spans sum to 1 over the whole text, and a change at its end moves the weights at its start."""
    one, other = (ask(joining, [text], "span_attention")[0] for text in (LONG, LONG.replace("fine", "gripping")))
    assert "windows" not in one.diagnostics
    assert one.scores.sum() == pytest.approx(1, abs=1e-5)
    assert one.units.parts.content == other.units.parts.content
    assert abs(one.scores[0] - other.scores[0]) > 1e-7


METHODS = ("gradient", "integrated_gradients", "relevance", "deep_lift_shap", "occlusion", "span_attention")
# Encoders that count places keep those of absent pieces, and so cut other columns.
CASES = [
    *((method, "bert") for method in METHODS),
    ("deep_lift_shap", "deberta_v3"),
    ("occlusion", "deberta_v3"),
]


@pytest.mark.parametrize(("method", "family"), CASES)
def test_methods_keep_their_promises_on_joined_windows(method, family):
    """Parity, invariance, and the sums that some have to keep, in a batch of texts of one and of several windows."""
    classifier = tiny_composed("span", max_length=256, positions=WINDOW, family=family)
    examples = as_examples([LONG, "A fine film.", PAIR])
    settings = {"tolerance": 0.05} if method == "integrated_gradients" else FEW.get(method, {})
    if family == "deberta_v3" and "baselines" in attributions.get(method).defaults:
        settings = {**settings, "baselines": ("mask",) if method == "deep_lift_shap" else "mask"}
    together = ask(classifier, examples, (method, settings))
    for example, explanation in zip(examples, together, strict=True):
        assert explanation.diagnostics["parity"] <= 1e-4
        assert explanation.diagnostics.get("conservation_gap", 0.0) <= 1e-3
        if method in ("integrated_gradients", "deep_lift_shap"):
            assert explanation.diagnostics["completeness_gap"] <= 0.05
        alone = ask(classifier, [example], (method, settings))[0]
        room = 1e-4 * max(1.0, float(np.abs(alone.scores).max()))
        np.testing.assert_allclose(explanation.scores, alone.scores, rtol=0, atol=room)


def test_the_gradient_is_the_quotient_of_small_steps(joining):
    """The mean fall of the logit over a small step along the gradient of the word embeddings."""
    batch = joining.encode(as_examples([LONG]))
    trace = joining.trace(batch.rows, Want(gradients=True, hidden=True))
    (gradient,) = torch.autograd.grad(trace.logits[0, 0], trace.embeddings)
    step = 1e-3 * gradient / gradient.norm()
    with torch.no_grad():
        up, down = (
            joining.trace(batch.rows, embeddings=trace.embeddings.detach() + s).logits[0, 0] for s in (step, -step)
        )
    assert float(up - down) / 2e-3 == pytest.approx(float(gradient.norm()), rel=1e-2)


def test_what_windows_have_not_is_refused(joining):
    assert joining.capabilities == {"gradient", "span_weights", "bert_layers"}
    for method in ("attention", "grad_cam"):
        assert not works(method, joining)
        with pytest.raises(ModelCannot, match="does not work with tiny span"):
            method_calls([method], joining)
    with pytest.raises(ModelCannot, match="shows no hidden states"):
        ask(joining, [LONG], "gradient", target=HiddenState(1))
    with pytest.raises(ModelCannot, match=r"layer=1 is not possible: .* shows no hidden states"):
        ask(joining, [LONG], ("relevance", {"layer": 1}))


def test_relevance_of_too_many_spans_is_refused(joining, monkeypatch):
    monkeypatch.setattr("pellucid.models.pooling.span_attention.MOST_NUMBERS", 10_000)
    with pytest.raises(ModelCannot, match="vectors of all spans at once"):
        ask(joining, [LONG], "relevance")


def test_relevance_reads_fewer_texts_at_once_where_the_spans_of_all_are_too_many(monkeypatch):
    texts, model = [LONG[:60], LONG[20:70], "Nobody could eat there."], tiny_composed("span")
    together = ask(model, texts, "relevance")
    n_units = max(len(row) for row in model.encode(as_examples(texts)).rows)
    monkeypatch.setattr(
        "pellucid.models.pooling.span_attention.MOST_NUMBERS", n_units**2 * model.network.config.hidden_size
    )
    for one, usual in zip(ask(tiny_composed("span"), texts, "relevance"), together, strict=True):
        np.testing.assert_allclose(one.scores, usual.scores, atol=1e-6)


def test_texts_longer_than_max_length_are_means_over_windows_of_it(joining):
    explanation = ask(joining, [" ".join([LONG] * 3)], "span_attention")[0]
    assert explanation.diagnostics["windows"] > 1
    assert explanation.scores.sum() == pytest.approx(1, abs=1e-5)


def test_a_pass_in_another_thread_reads_its_own_words(joining):
    """It comes while the first one is inside a window, with its words in place of the embedding's output."""
    rows = joining.encode(as_examples([LONG, "A fine film."])).rows
    with torch.no_grad():
        alone = [joining.trace([row]).logits for row in rows]
    logits, busy = [], []

    def meanwhile(*_):
        if not busy:
            busy.append(True)
            thread = threading.Thread(target=lambda: logits.append(joining.network(**joining.place(rows[1:])).logits))
            thread.start()
            thread.join()

    handle = joining.blocks[0].register_forward_hook(meanwhile)
    with torch.no_grad():
        first = joining.trace(rows[:1]).logits
    handle.remove()
    torch.testing.assert_close(first, alone[0])
    torch.testing.assert_close(logits[0].detach(), alone[1])


def trained_gradients(classifier, rows):
    """The gradients of a training pass, with dropout drawn from one seed."""
    network = classifier.network
    network.train()
    network.zero_grad()
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network(**classifier.place(rows)).logits.square().sum().backward()
    return {name: parameter.grad for name, parameter in network.named_parameters() if parameter.grad is not None}


def test_windows_that_are_computed_again_give_the_same_gradients(monkeypatch):
    """Dropout draws the same in both passes, and is on at all."""
    monkeypatch.setattr(joined_windows, "default_budget", lambda _: 2 * WINDOW)
    classifier = tiny_composed("span", max_length=LONGEST, positions=WINDOW)
    rows = classifier.encode(as_examples([LONG, PAIR])).rows
    again = {name: gradient.clone() for name, gradient in trained_gradients(classifier, rows).items()}
    monkeypatch.setattr(joined_windows, "checkpoint", lambda run, *inputs, **_: run(*inputs))
    stored = trained_gradients(classifier, rows)
    assert again.keys() == stored.keys() and len(again) > 30
    for name, gradient in stored.items():
        torch.testing.assert_close(again[name], gradient, rtol=0, atol=0)
    with torch.no_grad():
        calm, dropping = (classifier.network.train(mode)(**classifier.place(rows)).logits for mode in (False, True))
    assert not torch.allclose(calm, dropping)


def bytes_for_backward(classifier, length, training):
    """The bytes that the encoder's part of a training pass keeps for the backward pass of a text of so many pieces."""
    text = " ".join(["film"] * (length - 2))
    row = classifier.encode([Example((text,))]).rows[0]
    assert len(row) == length
    pieces = classifier.place([row])["pieces"]
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()  # the groups share some
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    network = classifier.network.train()
    with saved_tensors_hooks(pack, lambda tensor: tensor):
        states = joined_windows.joined_states(
            network.encoder, pieces.of_encoder(), pieces.segments, limit=WINDOW, recompute=training
        )
    assert states.requires_grad
    return sum(sizes.values())


def test_what_training_holds_grows_by_the_piece_and_not_by_the_layer(monkeypatch):
    monkeypatch.setattr(joined_windows, "default_budget", lambda _: 2 * WINDOW)
    classifier = tiny_composed("span", max_length=4096, positions=WINDOW)
    width = classifier.network.config.hidden_size
    a_piece = (bytes_for_backward(classifier, 1000, True) - bytes_for_backward(classifier, 500, True)) / 500
    assert a_piece < 3 * 4 * width  # word embeddings and where they stand
    assert bytes_for_backward(classifier, 500, False) > 10 * bytes_for_backward(
        classifier, 500, True
    )  # explaining holds all layers


@pytest.mark.parametrize("pooler", ("span", "additive", "first_token", "mean", "rationale"))
def test_a_folder_gives_back_the_model(pooler, tmp_path):
    settings = {"within": "sentence"} if pooler == "span" else {}
    classifier = tiny_composed(pooler, max_length=LONGEST, positions=WINDOW, **settings)
    plan = Plan("tiny", pooler, settings, classifier.labels, max_length=LONGEST)
    save_composed(classifier.network, classifier.tokenizer, plan, tmp_path)
    loaded = load_classifier(tmp_path)
    assert (loaded.hash, loaded.max_length, loaded.capabilities) == (
        classifier.hash,
        LONGEST,
        classifier.capabilities,
    )
    rows = loaded.encode(as_examples([LONG])).rows
    with torch.no_grad():
        assert torch.equal(loaded.trace(rows).logits, classifier.trace(rows).logits)


def test_a_folder_of_an_earlier_version_is_read_as_ever(tmp_path, self_explaining):
    plan = Plan("tiny", "span", {}, self_explaining.labels)
    save_composed(self_explaining.network, self_explaining.tokenizer, plan, tmp_path)
    config = json.loads((tmp_path / CONFIG).read_text())
    assert "max_length" not in config
    assert load_classifier(tmp_path).hash == self_explaining.hash
    config["max_length"] = "long"
    (tmp_path / CONFIG).write_text(json.dumps(config))
    with pytest.raises(BadFile, match="max_length"):
        load_classifier(tmp_path)


def test_the_hash_names_how_long_texts_are_read(joining):
    lengths = (None, 100, LONGEST)
    assert len({tiny_composed("span", max_length=length, positions=WINDOW).hash for length in lengths}) == 3
    assert tiny_composed("span", max_length=LONGEST, positions=WINDOW).hash == joining.hash


@pytest.mark.parametrize("length", (7, 4097, 0, True, 99.5, "all"))
def test_a_length_that_makes_no_sense_raises(length):
    with pytest.raises(BadSetting, match="max_length"):
        tiny_composed("span", max_length=length)


def test_a_tokenizer_that_marks_no_end_is_refused():
    check_ends(word_piece(), "tiny")
    with pytest.raises(BadSetting, match="no special token at a text's end"):
        check_ends(byte_pairs_alone(), "tiny")
