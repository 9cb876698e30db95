"""Attention over units: a literal loop, the identity of weighted unit logits, ragged batches, relevance, the query's
start.
"""

import math

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.models.composed.composed import compose
from pellucid.models.composed.networks import Plan
from pellucid.models.poolers.pieces import AdditivePooler, DotPooler
from pellucid.models.pooling.pooler import PieceTensors
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.reference import unit_attention as literal
from tests.shared.asking import ask
from tests.shared.tiny import LABELS, tiny_composed, tiny_on_vectors

POOLERS = ("additive", "dot")
PAIR = ("The café was closed.", "Nobody could eat there.")
TEXTS = (
    "A gripping, lovely film.",
    PAIR,
    "fine",
    "An unforgettable, long and winding tale of a place by the sea.",
)


@pytest.fixture(scope="module", params=POOLERS)
def double(request):
    """A model in float64, whose numbers a loop can be compared with."""
    classifier = tiny_composed(request.param)
    classifier.network.double()
    return classifier


def pieces_of(segments, words=None, mask=None):
    """Rows whose pieces are whole words."""
    segments = torch.tensor(segments)
    words = torch.where(segments < 0, -1, torch.arange(segments.shape[1])) if words is None else words
    return PieceTensors(
        input_ids=torch.zeros_like(segments),
        attention_mask=torch.ones_like(segments) if mask is None else mask,
        position_ids=torch.arange(segments.shape[1]).expand_as(segments),
        word_index=words,
        segments=segments,
    )


@pytest.mark.parametrize("text", TEXTS, ids=("sentence", "pair", "word", "long"))
def test_weights_and_unit_logits_are_those_of_the_loop(text, double):
    network, (row,) = double.network, double.encode(as_examples([text])).rows
    pooler, head = network.pooler, network.head
    with torch.no_grad():
        states = network.states(double.place([row])["pieces"])[0]
        h = literal.word_states(states, row.word_index)
        if isinstance(pooler, AdditivePooler):
            layer = pooler.hidden
            scores = [literal.additive_score(one, layer.weight, layer.bias, pooler.score.weight[0]) for one in h]
        else:
            scores = [literal.dot_score(one, pooler.query) for one in h]
        expected = literal.attention(h, scores, head.weight, head.bias)
        trace = double.trace([row])
    units = trace.units
    np.testing.assert_allclose(units.weights[0, : len(h)], expected.weights, rtol=0, atol=1e-10)
    torch.testing.assert_close(units.logits[0, : len(h)], torch.stack(expected.unit_logits))
    logit = sum(weight * own for weight, own in zip(expected.weights, expected.unit_logits, strict=True))
    torch.testing.assert_close(trace.logits[0], logit)
    (explanation,) = ask(double, [text], "unit_attention")
    np.testing.assert_allclose(explanation.scores[~explanation.special], expected.weights, rtol=0, atol=1e-6)
    (by_norm,) = ask(double, [text], ("unit_attention", {"by": "norm"}))
    norms = [weight * float(one.norm()) for weight, one in zip(expected.weights, h, strict=True)]
    np.testing.assert_allclose(by_norm.scores[~by_norm.special], norms, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("settings", ({}, {"unit": "piece"}, {"weights": "uniform"}), ids=str)
@pytest.mark.parametrize("pooler", POOLERS)
def test_weighted_unit_logits_sum_to_the_logits_of_every_row_of_a_batch(pooler, settings):
    """METHODS' property 14, on the encoder of ours too."""
    for model in (tiny_composed(pooler, **settings), tiny_on_vectors("bilstm", pooler)):
        rows = model.encode(as_examples(TEXTS)).rows
        together = model.trace(rows)
        sums = (together.units.weights[..., None] * together.units.logits).sum(1)
        torch.testing.assert_close(sums, together.logits, rtol=1e-5, atol=1e-5)
        for number, row in enumerate(rows):
            alone = model.trace([row])
            count = int((alone.units.runs >= 0).sum())
            gap = (together.units.weights[number, :count] - alone.units.weights[0, :count]).abs().max()
            assert gap <= 1e-6
            assert not together.units.weights[number, count:].any()
            assert (together.logits[number] - alone.logits[0]).abs().max() <= 1e-6 * max(
                1.0, float(alone.logits.detach().abs().max())
            )


def test_the_same_weights_are_uniform_over_real_units():
    """A4.3: no weight on special tokens or padding."""
    model = tiny_composed("dot", weights="uniform")
    units = model.trace(model.encode(as_examples(TEXTS)).rows).units
    for line, runs in zip(units.weights, units.runs, strict=True):
        count = int((runs >= 0).sum())
        torch.testing.assert_close(line[:count], torch.full((count,), 1 / count))
        assert not line[count:].any()
    torch.testing.assert_close(units.entropy, (units.runs >= 0).sum(1).float().log())
    torch.testing.assert_close(units.concentration, 1 / (units.runs >= 0).sum(1))


@pytest.mark.parametrize("pooler", POOLERS)
def test_constant_weights_lose_nothing_by_a_permutation(pooler):
    """METHODS' property 15: answers under other weights follow from the unit logits; equal weights give the model's
    own.
    """
    for weights in ("uniform", "learned"):
        model = tiny_composed(pooler, weights=weights)
        trace = model.trace(model.encode(as_examples([TEXTS[3]])).rows)
        order = torch.randperm(trace.units.weights.shape[1], generator=torch.Generator().manual_seed(1))
        permuted = (trace.units.weights[:, order, None] * trace.units.logits).sum(1)
        drop = float((permuted - trace.logits).detach().abs().max())
        assert drop <= 1e-5 if weights == "uniform" else drop > 1e-3


def test_a_text_without_units_weighs_nothing_and_has_finite_numbers():
    for pooler in (AdditivePooler(8), DotPooler(8)):
        states = torch.randn(2, 3, 8, requires_grad=True)
        pooled = pooler(states, pieces_of([[-1, -1, -1], [-1, 0, -1]]))
        units = pooled.units
        assert not pooled.vector[0].any() and not units.weights[0].any() and units.entropy[0] == 0
        (pooled.vector.sum() + units.entropy.sum() + units.concentration.sum()).backward()
        assert states.grad.isfinite().all() and not states.grad[0].any()


@pytest.mark.parametrize("pooler", POOLERS)
def test_relevance_goes_through_the_weighted_sum(pooler, texts):
    """The weights are constants to the rules; what flows through the states and what constants keep is all there is."""
    model = tiny_composed(pooler)
    for method in ("relevance", "deep_lift_shap"):
        for explanation in ask(model, texts, method, target=Target("positive")):
            assert np.isfinite(explanation.scores).all() and explanation.scores.any()
            gaps = [value for name, value in explanation.diagnostics.items() if name.endswith("_gap")]
            assert gaps and max(gaps) <= 1e-3


def test_relevance_of_constant_weights_is_shared_by_the_unit_logits():
    """With the states as inputs, a word's relevance is alpha times its own logit without the bias, by the rule of
    sums.
    """
    from pellucid.attribution.backward.mode import backward_rules
    from pellucid.attribution.backward.rules import COMMON
    from pellucid.run.policy_pass import Ledger

    torch.manual_seed(0)
    pooler, states = DotPooler(6), torch.randn(1, 4, 6, requires_grad=True)
    pieces, direction = pieces_of([[-1, 0, 0, 0]]), torch.randn(6)
    with backward_rules(pooler, Ledger(1, torch.device("cpu")), COMMON):
        pooled = pooler(states, pieces)
        value = (pooled.vector * direction).sum()
    (gradient,) = torch.autograd.grad(value, states)
    relevance = (gradient * states)[0].sum(-1)
    expected = pooled.units.weights[0] * (pooled.units.states[0] @ direction)
    torch.testing.assert_close(relevance[1:], expected.detach(), rtol=1e-5, atol=1e-6)
    assert relevance[0] == 0


def test_at_the_start_the_normal_query_is_far_from_uniform_and_the_default_is_not():
    """A4.14: log T - entropy of the weights, at width 300 over twenty units."""
    gaps = {}
    for start in ("normal", "default"):
        torch.manual_seed(0)
        pooler = DotPooler(300, query_start=start)
        generator = torch.Generator().manual_seed(1)
        states = torch.randn(64, 20, 300, generator=generator) * 0.3
        with torch.no_grad():
            entropy = pooler(states, pieces_of([[0] * 20] * 64)).units.entropy
        gaps[start] = float((math.log(20) - entropy.double()).mean())
        deviation = float(pooler.query.detach().std())
        assert deviation == pytest.approx(1 if start == "normal" else 1 / math.sqrt(3 * 300), rel=0.1)
    assert gaps["normal"] >= 100 * gaps["default"] > 0


def test_the_start_is_part_of_a_new_model(texts):
    gaps = []
    for start in ("normal", "default"):
        plan = Plan(
            "bilstm",
            "dot",
            {"query_start": start},
            LABELS,
            encoder_settings={"vectors": "random", "width": 64},
        )
        network, _ = compose(plan, 0)
        gaps.append(float(network.pooler.query.detach().abs().max()))
    assert gaps[0] > 1 and gaps[1] <= 1 / 8


@pytest.mark.parametrize("pooler", POOLERS)
@pytest.mark.parametrize("wrong", ({"unit": "sentence"}, {"weights": "equal"}), ids=str)
def test_other_settings_are_refused(pooler, wrong):
    with pytest.raises(BadSetting, match=next(iter(wrong))):
        tiny_composed(pooler, **wrong)


def test_another_start_and_another_scale_are_refused(attending):
    with pytest.raises(BadSetting, match="query_start"):
        DotPooler(4, query_start="zeros")
    with pytest.raises(BadSetting, match="by="):
        ask(attending, ["fine"], ("unit_attention", {"by": "value"}))


def test_a_model_without_weights_of_units_says_which_poolers_have_them(bert):
    with pytest.raises(ModelCannot, match=r"no weights of units .*pooler='additive' or 'dot'"):
        ask(bert, ["fine"], "unit_attention")


def test_effective_numbers_count_the_units_that_hold_the_weight(attending):
    (explanation,) = ask(attending, [TEXTS[0]], "unit_attention")
    weights = explanation.scores[~explanation.special].astype(float)
    assert explanation.diagnostics["effective_units"] == pytest.approx(1 / (weights**2).sum(), rel=1e-4)
    entropy = -(weights * np.log(weights)).sum()
    assert explanation.diagnostics["entropy_units"] == pytest.approx(np.exp(entropy), rel=1e-4)
    (flat,) = ask(tiny_composed("additive", weights="uniform"), [TEXTS[0]], "unit_attention")
    assert any("no single unit decided" in caveat for caveat in flat.caveats)
