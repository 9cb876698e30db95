"""Encoders on word vectors: what the formulas give, whatever stands beside a text, and one limit that is told."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadFile, BadSetting, ModelCannot, UnknownName
from pellucid.base.kinds import encoders
from pellucid.models.classifiers.hugging_face import load_encoder
from pellucid.models.composed.composed import CONFIG, compose, save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.composed.word_vectors import MOST_PIECES, new_encoder
from pellucid.models.load import load_classifier
from pellucid.run.hidden_target import HiddenState
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.reference import encoders as literal
from tests.shared.asking import ask
from tests.shared.tiny import LABELS, tiny_on_vectors

NAMES = encoders.names()
POOLERS = ("span", "mean", "maximum")


@pytest.fixture(scope="module", params=NAMES)
def classifier(request):
    return tiny_on_vectors(request.param)


def states_of(classifier, pieces):
    with torch.no_grad():
        return classifier.network.states(pieces)


def pieces_of(classifier, rows):
    return classifier.place(rows)["pieces"]


def test_there_are_those_that_the_papers_name():
    assert {"bilstm", "cnn", "transformer"} <= set(NAMES)


def test_a_transformers_states_are_those_of_the_formulas(texts):
    classifier = tiny_on_vectors("transformer")
    encoder, batch = classifier.network.encoder, classifier.encode(as_examples(texts[:3]))
    traced = classifier.trace(batch.rows, Want(hidden=True)).hidden
    blocks = [dict(block.named_parameters()) for block in encoder.blocks]
    with torch.no_grad():
        for number, row in enumerate(batch.rows):
            vectors = classifier.embed(torch.tensor(row.ids)).clone()
            for layer, states in enumerate(literal.transformer(vectors, blocks, heads=2), start=1):
                torch.testing.assert_close(traced[layer][number, : len(row)], states, rtol=1e-4, atol=1e-4)


def test_the_defaults_are_those_of_the_paper():
    """Guan et al. (2019): three blocks of 256, four heads, 1,024 inside; four recurrent layers of 768 each way."""
    plan = Plan("transformer", "first_token", {}, LABELS)
    network, _ = compose(plan, 0)
    block = network.encoder.blocks[0]
    assert (len(network.encoder.blocks), network.encoder.width, block.heads) == (3, 256, 4)
    assert block.inner.out_features == 1024
    settings = {"vectors": "random", "vector_width": 24, "width": 48, "layers": 4}
    network, _ = compose(Plan("bilstm", "maximum", {}, LABELS, encoder_settings=settings), 0)
    assert network.get_input_embeddings().embedding_dim == 24
    assert [block.lstm.input_size for block in network.encoder.blocks] == [24, 48, 48, 48]


def test_a_transformer_on_minilms_vectors_maps_them_to_its_width():
    settings = {"vectors": "minilm", "width": 16, "layers": 1}
    network, _ = compose(Plan("transformer", "mean", {}, LABELS, encoder_settings=settings), 0)
    pretrained, _ = load_encoder("minilm")
    assert torch.equal(network.get_input_embeddings().weight, pretrained.get_input_embeddings().weight)
    assert network.encoder.widened.weight.shape == (16, 384)


@pytest.mark.parametrize("layers", (1, 2, 3))
@pytest.mark.parametrize("retention", ("concat", "residual"))
def test_states_retain_the_word_vectors(retention, layers, texts):
    """S4-3 and S4-4: [rnn(e); e] and e + rnn(e), on top of one to three layers; alone as in a batch."""
    sizes = {"vectors": "random", "width": 16, "vector_width": 16, "layers": layers}
    model = tiny_on_vectors("bilstm", "additive", retention=retention, **sizes)
    encoder, batch = model.network.encoder, model.encode(as_examples(texts[:3]))
    assert model.network.config.hidden_size == encoder.width == (32 if retention == "concat" else 16)
    every = states_of(model, pieces_of(model, batch.rows))
    for row, own in zip(batch.rows, every, strict=True):
        vectors = states = model.embed(torch.tensor(row.ids))
        for block in encoder.blocks:
            states = literal.bilstm(states, dict(block.lstm.named_parameters()))
        expected = torch.cat([states, vectors], -1) if retention == "concat" else states + vectors
        torch.testing.assert_close(own[: len(row)], expected.detach(), rtol=0, atol=1e-5)
        assert not own[len(row) :].any()


def test_a_residual_needs_states_as_wide_as_the_vectors():
    with pytest.raises(
        BadSetting, match=r"'residual' adds word vectors of 384 numbers to states of 16; give width=384, or"
    ):
        tiny_on_vectors("bilstm", retention="residual")
    with pytest.raises(BadSetting, match="retention='sum'"):
        tiny_on_vectors("bilstm", retention="sum")


def test_a_setting_that_came_later_changes_no_record():
    for name in ("bilstm", "cnn"):
        assert "vector_width" not in encoders.get(name).settings({"vectors": "random"})
        assert encoders.get(name).settings({"vectors": "random", "vector_width": 9})["vector_width"] == 9


def test_the_parts_of_a_state_can_be_explained(texts):
    cnn, bilstm = tiny_on_vectors("cnn", widths=[1, 3, 5, 3], layers=2), tiny_on_vectors("bilstm")
    assert list(cnn.state_parts) == [1, 2] and list(cnn.state_parts[1]) == ["1", "3", "5", "3 (2)"]
    assert bilstm.state_parts == {1: {"forward": slice(0, 8), "backward": slice(8, 16)}}
    assert tiny_on_vectors("transformer").state_parts == {}
    batch = cnn.encode(as_examples(texts[:1]))
    states = cnn.trace(batch.rows, Want(hidden=True)).hidden[1][0]
    vectors = cnn.embed(torch.tensor(batch.rows[0].ids))
    five = cnn.network.encoder.blocks[0].filters[2]
    expected = literal.cnn(vectors, [(five.weight, five.bias)]).detach()
    torch.testing.assert_close(states[:, cnn.state_parts[1]["5"]], expected, rtol=0, atol=1e-5)


def test_a_part_that_a_layer_does_not_have_is_one_sentence(texts):
    cnn = tiny_on_vectors("cnn", widths=[1, 3, 5, 3])
    with pytest.raises(
        BadSetting, match=r"part='7', but the states of layer 1 of .* have the parts 1, 3, 5, 3 \(2\)\.$"
    ):
        ask(cnn, texts, "gradient", target=HiddenState(1, part="7"))
    with pytest.raises(
        BadSetting, match=r"states of layer 0 of .* have no parts; layers with parts: 1; leave part away\.$"
    ):
        ask(cnn, texts, "gradient", target=HiddenState(0, part="5"))


@pytest.mark.parametrize("part", ("1", "3", "5"))
def test_the_part_of_a_width_depends_on_as_many_pieces(part):
    """The answers of filters over n pieces, at one piece: only the words around it have a gradient."""
    cnn = tiny_on_vectors("cnn", widths=[1, 3, 5], filters=32)
    text = "one film was a very good and fine film"
    (explanation,) = ask(cnn, [text], ("gradient", {}), target=HiddenState(1, (5,), part=part))
    touched = explanation.scores.nonzero()[0].tolist()
    half = int(part) // 2
    assert touched == list(range(5 - half, 5 + half + 1))
    beside = ask(cnn, [text, "fine"], "gradient", target=HiddenState(1, part=part))
    alone = ask(cnn, [text], "gradient", target=HiddenState(1, part=part))
    np.testing.assert_allclose(beside[0].scores, alone[0].scores, rtol=0, atol=1e-6)


def test_attention_of_a_transformer_can_be_read(texts):
    model = tiny_on_vectors("transformer", "first_token")
    assert model.capabilities == {"gradient", "hidden_states", "attention"}
    for method in ("attention", "attention_gradient", "attention_norm"):
        assert all(explanation.scores.any() for explanation in ask(model, texts, method))
    trace = model.trace(model.encode(as_examples(texts)).rows, Want(attention=True))
    assert len(trace.attention) == model.n_layers == 2
    torch.testing.assert_close(trace.attention[0].sum(-1), torch.ones(trace.attention[0].shape[:-1]))


@pytest.mark.parametrize("layers", (1, 2))
def test_the_states_are_those_of_the_formulas(layers, texts):
    for name in ("bilstm", "cnn"):
        classifier = tiny_on_vectors(name, layers=layers)
        encoder, batch = classifier.network.encoder, classifier.encode(as_examples(texts[:3]))
        every = states_of(classifier, pieces_of(classifier, batch.rows))
        for row, own in zip(batch.rows, every, strict=True):
            states = classifier.embed(torch.tensor(row.ids))
            for block in encoder.blocks:
                if name == "bilstm":
                    states = literal.bilstm(states, dict(block.lstm.named_parameters()))
                else:
                    states = literal.cnn(states, [(layer.weight, layer.bias) for layer in block.filters])
            torch.testing.assert_close(own[: len(row)], states.detach(), rtol=0, atol=1e-5)


def test_neighbours_and_what_padding_holds_change_nothing(classifier, texts):
    examples = as_examples(texts)
    classifier = replace(classifier, network=copy.deepcopy(classifier.network).double())
    pieces = pieces_of(classifier, classifier.encode(examples).rows)
    together = classifier.network(pieces).logits
    for number, example in enumerate(examples):
        alone = classifier.network(**classifier.place(classifier.encode([example]).rows)).logits[0]
        torch.testing.assert_close(together[number], alone, rtol=1e-9, atol=1e-9)
    other = replace(pieces, input_ids=pieces.input_ids.where(pieces.attention_mask.bool(), 7))
    assert torch.equal(states_of(classifier, other), states_of(classifier, pieces))
    assert not states_of(classifier, pieces)[pieces.attention_mask == 0].any()


def test_a_bilstm_passes_over_what_is_absent_and_a_cnn_keeps_its_place():
    """Left out in the middle of a row: a recurrent network reads on, filters meet a gap where the piece stood."""
    for name in ("bilstm", "cnn"):
        classifier = tiny_on_vectors(name)
        (row,) = classifier.encode(as_examples("A gripping, lovely film.")).rows
        hole = pieces_of(classifier, [row])
        hole.attention_mask[0, 2] = 0
        states = states_of(classifier, hole)[0]
        rest = [piece for piece in range(len(row)) if piece != 2]
        closed = states_of(classifier, pieces_of(classifier, [row.keep(rest).closed()]))[0]
        vectors = classifier.embed(torch.tensor(row.ids))
        vectors[2] = 0
        filters = [(layer.weight, layer.bias) for layer in getattr(classifier.network.encoder.blocks[0], "filters", ())]
        expected = closed if name == "bilstm" else literal.cnn(vectors, filters)[rest].detach()
        torch.testing.assert_close(states[rest], expected, rtol=0, atol=1e-5)
        assert classifier.skips_gaps(len(row)) == (name == "bilstm")  # found by trying


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pooler", POOLERS)
def test_relevance_and_deep_lift_add_up(name, pooler):
    """Every function of these encoders and poolers has its rule."""
    model = tiny_on_vectors(name, pooler)
    model.network.double()
    texts = ["A gripping, lovely film.", ("The café was closed.", "Nobody could eat there, it seems.")]
    for explanation in ask(model, texts, "relevance"):
        assert explanation.diagnostics["conservation_gap"] < 1e-6 and explanation.scores.any()
    for explanation in ask(model, texts, "deep_lift_shap"):
        assert explanation.diagnostics["completeness_gap"] < 1e-5 and explanation.scores.any()


def test_hidden_states_are_explained(classifier, texts):
    for method in (
        ("grad_cam", {}),
        ("gradient_x_input", {"layer": 1}),
        ("integrated_gradients", {"layer": 0}),
    ):
        assert all(explanation.scores.any() for explanation in ask(classifier, texts, method))


@pytest.mark.parametrize("name", ("bilstm", "cnn"))
def test_attention_is_missing_with_its_reason(name):
    classifier = tiny_on_vectors(name)
    assert classifier.capabilities == {"gradient", "hidden_states", "span_weights"}
    with pytest.raises(ModelCannot, match=r"attention does not work with .* shows no attention weights"):
        ask(classifier, "A fine film.", "attention")


def test_a_folder_gives_back_the_model(classifier, texts, tmp_path):
    name = classifier.network.config.model_type
    plan = Plan(name, "span", {}, LABELS, encoder_settings=classifier.network.config.settings)
    save_composed(classifier.network, classifier.tokenizer, plan, tmp_path)
    loaded = load_classifier(tmp_path)
    assert (loaded.hash, loaded.capabilities, loaded.n_layers) == (
        classifier.hash,
        classifier.capabilities,
        len(classifier.network.encoder.blocks),
    )
    rows = classifier.encode(as_examples(texts)).rows
    assert torch.equal(loaded.trace(rows).logits, classifier.trace(rows).logits)
    whole = json.loads((tmp_path / CONFIG).read_text())["encoder_config"]
    for change in ({"size": 3}, {"layers": 10**9}, {"dropout": "much"}):
        spoilt = whole | {"settings": whole["settings"] | change}
        config = json.loads((tmp_path / CONFIG).read_text()) | {"encoder_config": spoilt}
        (tmp_path / CONFIG).write_text(json.dumps(config))
        with pytest.raises(BadFile, match=next(iter(change))):
            load_classifier(tmp_path)


def test_the_vectors_begin_as_minilms_and_there_is_a_limit():
    network, tokenizer = compose(Plan("bilstm", "span", {}, LABELS), 0)
    pretrained, _ = load_encoder("minilm")
    assert torch.equal(network.get_input_embeddings().weight, pretrained.get_input_embeddings().weight)
    assert network.get_input_embeddings().weight.requires_grad
    assert tokenizer.model_max_length == network.config.max_position_embeddings == MOST_PIECES
    random, _ = compose(Plan("bilstm", "span", {}, LABELS, encoder_settings={"vectors": "random"}), 0)
    again, _ = compose(Plan("bilstm", "span", {}, LABELS, encoder_settings={"vectors": "random"}), 0)
    assert not torch.equal(random.get_input_embeddings().weight, network.get_input_embeddings().weight)
    assert all(torch.equal(one, two) for one, two in zip(random.parameters(), again.parameters(), strict=True))


def test_long_texts_are_read_at_once(classifier):
    """No table of positions ends; only the limit that is told does."""
    tokenizer = copy.deepcopy(classifier.tokenizer)
    tokenizer.model_max_length = MOST_PIECES
    classifier = replace(classifier, tokenizer=tokenizer)
    assert classifier.max_length == MOST_PIECES
    (row,) = classifier.encode(as_examples("fine " * 200)).rows
    assert len(row) > 600 and not row.windows
    assert classifier.trace([row]).logits.isfinite().all()


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bilstm", {"width": 7}, "odd"),
        ("bilstm", {"layers": 0}, "layers=0"),
        ("bilstm", {"vectors": "glove"}, "minilm, random"),
        ("bilstm", {"dropout": 1.0}, "dropout=1.0"),
        ("cnn", {"widths": []}, "list of whole numbers"),
        ("cnn", {"widths": "345"}, "list of whole numbers"),
        ("cnn", {"widths": [3, 0]}, "list of whole numbers"),
        ("cnn", {"filters": 0}, "filters=0"),
        ("cnn", {"vector_width": 0}, "vector_width=0"),
        ("bilstm", {"vectors": "minilm", "vector_width": 9}, "word vectors have 384"),
        ("transformer", {"width": 10}, "heads=4 divides"),
        ("transformer", {"width": 9, "heads": 3}, "even number"),
        ("transformer", {"heads": 0}, "heads=0"),
        ("transformer", {"vectors": "minilm", "vector_width": 9}, "word vectors have 384"),
    ],
)
def test_settings_that_make_no_sense_raise(name, settings, message):
    with pytest.raises(BadSetting, match=message):
        compose(Plan(name, "span", {}, LABELS, encoder_settings={"vectors": "random", **settings}), 0)


def test_parts_that_do_not_fit_raise():
    with pytest.raises(UnknownName, match="width"):
        compose(Plan("bilstm", "span", {}, LABELS, encoder_settings={"with": 3}), 0)
    with pytest.raises(BadSetting, match="minilm is trained already"):
        compose(Plan("minilm", "span", {}, LABELS, encoder_settings={"width": 3}), 0)
    with pytest.raises(BadSetting, match="span, mean or maximum"):
        compose(Plan("cnn", "first_token", {}, LABELS), 0)


def test_word_vectors_begin_as_many_times_as_large_as_named():
    plain, scaled = (new_encoder("bilstm", {"vector_scale": scale})[0] for scale in (1.0, 8.0))
    tables = [encoder.get_input_embeddings().weight for encoder in (plain, scaled)]
    assert torch.equal(8 * tables[0], tables[1])
    with pytest.raises(BadSetting, match="vector_scale"):
        new_encoder("bilstm", {"vector_scale": 0.0})
