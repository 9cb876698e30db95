"""Attention, its norms and its gradients are products of the maps that the network itself returns."""

import copy

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.models.classifiers.classifier import Classifier
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.reference import attention as literal
from tests.shared.asking import ask
from tests.shared.tiny import FAMILIES, tiny_classifier, tiny_composed

LABEL = 1
PAIR = ("The café was closed.", "Nobody could eat there.")
TEXTS = (("A gripping, lovely film.",), PAIR, ("fine",))
FLOWS = {
    "last_layer": (literal.last_layer, {}),
    "mean": (lambda maps, read: read @ sum(layer.mean(0) for layer in maps) / len(maps), {"flow": "mean"}),
    "rollout": (literal.rollout, {"flow": "rollout"}),
    "tracing_mean": (literal.tracing_mean, {"flow": "tracing", "heads": "mean"}),
    "tracing_chain": (literal.tracing_chain, {"flow": "tracing", "heads": "chain"}),
}


@pytest.fixture(scope="module")
def open_ways(models):
    """The same models, computing attention openly themselves."""
    classifiers = {family: copy.deepcopy(models[family]) for family in FAMILIES}
    for classifier in classifiers.values():
        classifier.network.set_attn_implementation("eager")
    return classifiers


def scores_of(classifier, segments, method, of=LABEL, **settings):
    text = segments[0] if len(segments) == 1 else tuple(segments)
    return ask(classifier, [text], (method, settings), target=Target(of))[0].scores


def assert_close(actual, expected, atol=1e-5):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol * max(1.0, float(np.abs(expected).max())))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("flow", FLOWS)
def test_flows_are_products_of_the_models_own_maps(family, flow, models, open_ways):
    product, settings = FLOWS[flow]
    for segments in TEXTS:
        maps = literal.attention_maps(open_ways[family], segments)
        expected = product(maps, literal.read_by(family, maps[0].shape[-1]))
        scores = scores_of(models[family], segments, "attention", **settings)
        assert_close(scores, expected)
        assert scores.sum() == pytest.approx(1, abs=1e-5)


def test_attention_is_the_same_for_every_class(bert):
    for method in ("attention", "attention_norm"):
        one, other = (scores_of(bert, PAIR, method, of=of) for of in (0, 1))
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("family", ("bert", "albert", "gpt2"))
def test_tracing_with_the_residual_is_rollout(family, models):
    traced = scores_of(models[family], PAIR, "attention", flow="tracing", residual=True)
    np.testing.assert_array_equal(traced, scores_of(models[family], PAIR, "attention", flow="rollout"))


def test_in_one_block_mean_and_chain_agree():
    classifier = tiny_classifier("bert", num_hidden_layers=1)
    mean, chain = (scores_of(classifier, PAIR, "attention", flow="tracing", heads=heads) for heads in ("mean", "chain"))
    assert_close(mean, chain, 1e-7)
    assert_close(mean, scores_of(classifier, PAIR, "attention"), 1e-7)


@pytest.mark.parametrize(
    "settings",
    ({"heads": "chain"}, {"residual": True}, {"flow": "rollout", "heads": "chain"}, {"flow": "sideways"}),
)
def test_settings_that_contradict_raise(settings, bert):
    with pytest.raises(BadSetting):
        scores_of(bert, PAIR, "attention", **settings)


def numbers_in_memory(monkeypatch, blocks, *method):
    """How many numbers the traces and graphs of a method hold."""
    model, sizes, trace = tiny_classifier("bert", num_hidden_layers=blocks), [], Classifier.trace

    def seen(*arguments):
        came = trace(*arguments)
        sizes.extend(part.numel() for part in (*came.attention, *came.head_values, *came.hidden))
        return came

    ask(model, [PAIR], method)  # the model's own trials are over
    monkeypatch.setattr(Classifier, "trace", seen)
    with torch.autograd.graph.saved_tensors_hooks(lambda part: sizes.append(part.numel()) or part, lambda part: part):
        ask(model, [PAIR], method)
    monkeypatch.undo()
    return sum(sizes)


@pytest.mark.parametrize(
    ("method", "settings", "squares"),
    (
        ("attention", {}, 0),
        ("attention", {"flow": "mean"}, 0),
        ("attention_norm", {}, 0),
        ("attention", {"flow": "rollout"}, 1),
        ("attention_heads", {}, 4),
    ),
)
def test_memory_holds_what_the_settings_read(method, settings, squares, monkeypatch):
    """A block more costs so many matrices of all pairs of pieces, and no graph."""
    pieces = len(scores_of(tiny_classifier("bert"), PAIR, "attention"))
    few, many = (numbers_in_memory(monkeypatch, blocks, method, settings) for blocks in (2, 5))
    assert many - few == 3 * squares * pieces**2


READ = {"first": slice(0, 1), "last": slice(-1, None), "all": slice(None)}


def read_of(classifier, texts):
    batch = classifier.encode(as_examples(texts))
    return batch, ForwardPass(classifier, batch, Scheduler(512)).head_positions


@pytest.mark.parametrize(
    ("kind", "where"),
    (
        *((family, "first") for family in FAMILIES[:9]),
        ("modernbert", "all"),
        ("gpt2", "last"),
        ("llama", "last"),
    ),
)
def test_the_positions_that_the_head_reads(kind, where, models, texts):
    batch, read = read_of(models[kind], texts)
    for row, length in zip(read, batch.lengths, strict=True):
        expected = torch.zeros(len(row))
        expected[:length][READ[where]] = 1
        torch.testing.assert_close(row, expected / expected.sum())


@pytest.mark.parametrize("pooler", ("mean", "span", "first_token"))
def test_the_positions_that_a_composed_head_reads(pooler, texts):
    batch, read = read_of(tiny_composed(pooler), texts)
    for row, units in zip(read, batch.units, strict=True):
        positions = {"first_token": (0,), "mean": range(len(units)), "span": units.content}[pooler]
        assert torch.equal(row.nonzero()[:, 0], torch.tensor(tuple(positions)))


def test_modernbert_that_reads_the_first_token_is_recognised(texts):
    batch, read = read_of(tiny_classifier("modernbert", classifier_pooling="cls"), texts)
    assert torch.equal(read[:, 0], torch.ones(len(batch)))


@pytest.mark.parametrize("family", FAMILIES)
def test_norms_are_the_lengths_of_what_is_sent(family, models, open_ways):
    for segments in TEXTS[:2]:
        matrices = literal.norms(open_ways[family], family, segments)
        read = literal.read_by(family, len(matrices[0]))
        assert_close(scores_of(models[family], segments, "attention_norm"), read @ matrices[-1])
        shares = [(matrix / matrix.sum(-1, keepdims=True))[None] for matrix in matrices]
        scores = scores_of(models[family], segments, "attention_norm", flow="rollout")
        assert_close(scores, literal.rollout(shares, read))
        assert scores.sum() == pytest.approx(1, abs=1e-5)


def test_what_is_sent_adds_up_to_what_the_block_adds(bert):
    """Over all keys and heads, weights times head values are the output projection's result less its bias."""
    batch = bert.encode(as_examples([PAIR]))
    run = ForwardPass(bert, batch, Scheduler(512))
    for block, weights, values in zip(bert.blocks, run.attention, run.head_values, strict=True):
        results = []
        dense = block.attention.output.dense
        handle = dense.register_forward_hook(lambda _, __, output, into=results: into.append(output))
        with torch.no_grad():
            bert.trace(batch.rows)
        handle.remove()
        sums = torch.einsum("bhqk,bhkw->bqw", weights, values)
        torch.testing.assert_close(sums, results[0] - dense.bias, rtol=0, atol=1e-5)


def test_heads_that_end_in_no_linear_map_are_refused():
    classifier = tiny_classifier("bert")
    classifier.network.bert.encoder.layer[1].attention.output.dense = Gated()
    with pytest.raises(ModelCannot, match="do not go through one linear map"):
        ask(classifier, TEXTS[0], "attention_norm")
    assert ask(classifier, TEXTS[0], "attention")


class Gated(torch.nn.Module):
    """An output projection with something before it."""

    def __init__(self):
        super().__init__()
        self.map = torch.nn.Linear(32, 32)

    def forward(self, states):
        """[... width]"""
        return self.map(states * states.sigmoid())


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_by_attention_are_those_of_the_models_own_maps(family, models, open_ways):
    for segments in TEXTS[:2]:
        maps = literal.attention_maps(open_ways[family], segments)
        gradients = literal.attention_gradients(open_ways[family], segments, LABEL)
        read = literal.read_by(family, maps[0].shape[-1])
        expected_by_flow = {
            "mean": (literal.gradient_mean(maps, gradients, False), {}),
            "positive": (literal.gradient_mean(maps, gradients, True), {"positive": True}),
            "last": (literal.gradient_mean(maps[-1:], gradients[-1:], False), {"flow": "last_layer"}),
            "rollout": (
                literal.gradient_rollout(maps, gradients, read),
                {"flow": "rollout", "positive": True},
            ),
        }
        for expected, settings in expected_by_flow.values():
            assert np.abs(expected).max() > 1e-6
            scores = scores_of(models[family], segments, "attention_gradient", **settings)
            np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_the_last_blocks_sum_is_the_derivative_by_a_factor_on_its_weights():
    """By differences: all weights of the last block times 1 + e is its output map times 1 + e."""
    classifier = tiny_classifier("bert")
    classifier.network.double()
    scores = scores_of(classifier, PAIR, "attention_gradient", flow="last_layer")
    weight = classifier.network.bert.encoder.layer[-1].attention.output.dense.weight
    inputs, original, step, logits = literal.inputs_of(classifier, PAIR), weight.detach().clone(), 1e-5, []
    with torch.no_grad():
        for sign in (1, -1):
            weight.copy_(original * (1 + sign * step))
            logits.append(float(classifier.network(**inputs).logits[0, LABEL]))
        weight.copy_(original)
    heads = classifier.network.config.num_attention_heads
    assert scores.sum() * heads == pytest.approx((logits[0] - logits[1]) / (2 * step), rel=1e-4)


def test_rollout_of_signed_parts_raises(bert):
    with pytest.raises(BadSetting, match="positive=True"):
        scores_of(bert, PAIR, "attention_gradient", flow="rollout")


def test_a_pass_that_was_not_opened_gives_the_same_gradients(bert, texts):
    batch = bert.encode(as_examples(texts))
    target = Target("positive").resolve(batch.examples, bert.trace(batch.rows).logits, bert.labels, bert.problem)
    passes = [ForwardPass(bert, batch, Scheduler(512), open_attention=flag) for flag in (True, False)]
    for one, other in zip(*(run.attention_gradient(target) for run in passes), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("family", ("bert", "albert", "modernbert", "gpt2"))
def test_every_head_has_its_row(family, models, open_ways):
    maps = literal.attention_maps(open_ways[family], PAIR)
    read = literal.read_by(family, maps[0].shape[-1])
    explanation = ask(models[family], [PAIR], "attention_heads")[0]
    (kind, names), *_ = explanation.rows
    assert (kind, len(names), names[0]) == ("head", sum(map(len, maps)), "1.1")
    for number, layer in enumerate(head for block in maps for head in block):
        assert_close(explanation.scores[number], read @ layer)
        assert explanation.row(names[number]).scores.sum() == pytest.approx(1, abs=1e-5)
    mean = explanation.scores[-len(maps[-1]) :].mean(0)
    assert_close(mean, scores_of(models[family], PAIR, "attention"))
