"""How a span moves the prediction: closed forms against the model's own sum over spans, written out."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, ParityBroken
from pellucid.models.analysed_spans import influence, own_votes, span_states
from pellucid.run.target import ResolvedTarget
from pellucid.text.example import as_examples
from tests.shared.tiny import corpus, tiny_composed

TEXT = "A gripping, lovely film that I liked."
PAIR = ("The café was closed.", "Nobody could eat there.")
TARGETS = [
    ResolvedTarget((2,), None, "logit", "single_label"),
    ResolvedTarget((0,), (1,), "logit", "single_label"),
]


def sharp(**settings):
    """A tiny model in float64 whose spans differ in weight."""
    model = tiny_composed("span", **settings)
    model.network.double()
    return model


@pytest.fixture(scope="module")
def model():
    return sharp()


def every_span(model, text):
    """The states of one text, first and last parts of all its legal spans, and their vectors [span width]."""
    batch = model.encode(as_examples([text]))
    states = span_states(model, batch.rows[0])
    first, last = torch.nonzero(states.weights, as_tuple=True)
    return batch, states, first, last, states.vectors(first, last).double()


def value(states, vectors, target):
    """The explained number of a text with these span vectors: softmax, weighted sum, head."""
    alpha = (vectors @ states.score).softmax(0)
    return target.values_of(0, states.own_logits((alpha @ vectors)[None]))[0]


def test_one_class_against_the_other_of_a_single_logit_moves_as_the_logit(model):
    _, states, first, last, _ = every_span(model, TEXT)
    states = replace(states, head=states.head[:1], bias=states.bias[:1])
    alone = influence(states, ResolvedTarget((1,), None, "logit", "one_logit"), first, last)
    against = influence(states, ResolvedTarget((1,), (0,), "logit", "one_logit"), first, last)
    for name in ("values", "removals", "gradient_norms", "direct", "by_weights"):
        torch.testing.assert_close(getattr(against, name), getattr(alone, name))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", [TEXT, PAIR])
def test_the_norm_is_that_of_the_gradient_by_the_spans_vector(model, text, target):
    _, states, first, last, vectors = every_span(model, text)
    moves = influence(states, target, first, last)
    vectors.requires_grad_()
    (gradient,) = torch.autograd.grad(value(states, vectors, target), vectors)
    torch.testing.assert_close(moves.gradient_norms, gradient.norm(dim=-1), rtol=1e-6, atol=1e-9)
    direct = moves.weights[:, None] * (
        states.head[target.classes[0]] - (0 if target.against is None else states.head[1])
    )
    through = gradient - direct
    torch.testing.assert_close(moves.by_weights.abs(), through.norm(dim=-1), rtol=1e-6, atol=1e-9)
    assert float((moves.by_weights.abs() / moves.direct).max()) > 0.05  # else the second part would not show


def test_small_steps_move_the_logit_as_the_two_parts_say(model):
    _, states, first, last, vectors = every_span(model, TEXT)
    target, span, step = TARGETS[0], int(states.weights[first, last].argmax()), 1e-5
    moves = influence(states, target, first, last)
    for direction, expected in (
        (states.head[2] / states.head[2].norm(), None),
        (states.score / states.score.norm(), moves.by_weights[span]),
    ):
        there, back = vectors.clone(), vectors.clone()
        there[span] += step * direction
        back[span] -= step * direction
        seen = (value(states, there, target) - value(states, back, target)) / (2 * step)
        own = moves.weights[span] * states.head[2] @ direction
        over = moves.by_weights[span] / states.score.norm() * (states.score @ direction)
        assert float(seen) == pytest.approx(float(own + over), rel=1e-5)
        if expected is not None:
            assert float(seen - own) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_removal_is_the_sum_without_the_span(model, target):
    _, states, first, last, vectors = every_span(model, TEXT)
    moves = influence(states, target, first, last)
    whole = value(states, vectors, target)
    for span in range(len(first)):
        rest = torch.cat([vectors[:span], vectors[span + 1 :]])
        assert float(moves.removals[span]) == pytest.approx(float(whole - value(states, rest, target)), abs=1e-6)


@pytest.mark.parametrize("settings", [{}, {"unit": "piece"}, {"max_width": 2}, {"weights": "uniform"}])
def test_weighted_own_logits_sum_to_the_logits(settings, monkeypatch):
    monkeypatch.setattr("pellucid.models.analysed_spans.AT_ONCE", 100)  # a few spans at a time
    model = sharp(**settings)
    for text in (TEXT, PAIR):
        batch, states, first, last, vectors = every_span(model, text)
        logits = model.plain_logits(batch.examples[0]).double()
        votes, gap = own_votes(states, first, last, logits)
        assert gap < 1e-6
        classes = states.own_logits(vectors).argmax(-1)
        expected = [float(states.weights[first, last][classes == label].sum()) for label in range(3)]
        np.testing.assert_allclose(votes, expected, atol=1e-6)


def test_where_all_weights_are_alike_nothing_goes_through_them():
    _, states, first, last, _ = every_span(sharp(weights="uniform"), TEXT)
    moves = influence(states, TARGETS[0], first, last)
    assert not moves.by_weights.any() and moves.gradient_norms.allclose(moves.direct)


def test_states_that_do_not_belong_to_the_logits_are_refused(model):
    batch, states, first, last, _ = every_span(model, TEXT)
    logits = model.plain_logits(batch.examples[0]).double()
    with pytest.raises(ParityBroken, match="weighted logits"):
        own_votes(replace(states, bias=states.bias + 1), first, last, logits)


def test_short_number_types_round_more():
    model = tiny_composed("span", span_width=8)
    model.network.to(torch.bfloat16)
    analyses = pellucid.spans(model, corpus()[:10], random_spans=1)
    assert 1e-3 < max(analysis.identity_gap for analysis in analyses) < 0.1


def test_a_text_is_analysed_from_its_weights_to_its_words(self_explaining):
    [analysis] = pellucid.spans(self_explaining, TEXT, 2, random_spans=3)
    [weights] = pellucid.explain(self_explaining, TEXT, method="span_attention")
    assert [(span.text, span.weight) for span in analysis.spans] == [
        (span.text, pytest.approx(span.score, rel=1e-5)) for span in weights.spans(2)
    ]
    assert analysis.effective_spans == pytest.approx(weights.diagnostics["effective_spans"], rel=1e-5)
    assert analysis.entropy_spans == pytest.approx(weights.diagnostics["entropy_spans"], rel=1e-5)
    assert analysis.identity_gap < 1e-5
    best = analysis.spans[0]
    assert best.alone.probability == pytest.approx(weights.diagnostics["alone_probability"], abs=1e-6)
    assert (best.alone.label == analysis.explanation.prediction.label) == weights.diagnostics["alone_agrees"]
    assert not self_explaining.network.pooler._forward_hooks


def test_a_text_of_one_word_has_nothing_to_be_removed_or_compared_with(self_explaining):
    [analysis] = pellucid.spans(self_explaining, "fine")
    [span] = analysis.spans
    assert np.isnan(span.removal) and np.isnan(span.random_agrees)
    assert analysis.record()["spans"][0]["removal"] is None


def test_what_cannot_be_analysed_is_refused(bert, self_explaining):
    with pytest.raises(ModelCannot, match="no span attention"):
        pellucid.spans(bert, TEXT)
    with pytest.raises(BadSetting, match="k=0"):
        pellucid.spans(self_explaining, TEXT, 0)
    with pytest.raises(BadInput, match="one by one"):
        pellucid.spans(replace(self_explaining, window=12), TEXT * 5)
