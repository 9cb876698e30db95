"""Which spans a model may choose, how many it answers by, and how much context their states have read."""

from dataclasses import replace

import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.models.analysed_spans import outside_share, span_states
from pellucid.models.composed.composed import compose, load_composed, save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.pooling.heaviest_alone import attend_to_heaviest
from pellucid.models.pooling.pooler import joined
from pellucid.results.heaviest_spans import texts_with_spans
from pellucid.text.example import as_examples
from tests.reference.span_attention import softmax_over
from tests.shared.asking import ask
from tests.shared.tiny import LABELS, tiny_composed
from tests.shared.tiny_training import save_encoder

PAIR = ("Is it good? Nobody could say.", "It is a fine film.")
SINGLE = "A fine film."
FORMS = ({}, {"unit": "piece"}, {"within": "sentence", "max_width": 2}, {"interaction": "exact"})


def span_weights(model, text):
    """{(text, start, end): weight} of a text or pair, in float64."""
    [explanation] = ask(model, [text], "span_attention")
    scores = explanation.scores.tolist()
    return {explanation.units.characters(number): score for number, score in enumerate(scores)}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.mark.parametrize("settings", FORMS, ids=str)
def test_of_second_the_spans_of_the_first_text_have_no_weight(settings):
    """The others are the same spans with the same scores, so their weights are those of all spans, made to sum to 1."""
    every = span_weights(tiny_composed("span", **settings), PAIR)
    some = span_weights(tiny_composed("span", of="second", **settings), PAIR)
    second = {place: weight for place, weight in every.items() if place[0] == 1}
    assert some == pytest.approx({place: weight / sum(second.values()) for place, weight in second.items()})
    assert len(second) < len(every)


@pytest.mark.parametrize("settings", [*FORMS, {"weights": "uniform"}, {"spans": "with_content"}], ids=str)
def test_of_each_the_spans_of_each_text_have_half_of_the_weight(settings):
    every = span_weights(tiny_composed("span", **settings), PAIR)
    each = span_weights(tiny_composed("span", of="each", **settings), PAIR)
    for text in (0, 1):
        own = {place: weight for place, weight in every.items() if place[0] == text}
        expected = {place: weight / sum(own.values()) / 2 for place, weight in own.items()}
        assert {place: each[place] for place in own} == pytest.approx(expected)


@pytest.mark.parametrize("of", ("second", "each"))
def test_a_single_text_keeps_its_spans_and_its_answer(of):
    plain, changed = tiny_composed("span"), tiny_composed("span", of=of)
    assert span_weights(changed, SINGLE) == pytest.approx(span_weights(plain, SINGLE))
    rows = plain.encode(as_examples([SINGLE, "It is."])).rows
    torch.testing.assert_close(plain.trace(rows).logits, changed.trace(rows).logits)


def test_a_second_text_of_function_words_keeps_all_its_spans():
    weights = span_weights(tiny_composed("span", of="second", spans="with_content"), (SINGLE, "It is."))
    assert {place[0] for place in weights} == {1} and len(weights) == 6


def test_texts_are_joined_also_where_one_has_no_spans():
    lonely, none = torch.tensor([[[0.5, 1.0], [-torch.inf, 2.0]]]), torch.full((1, 2, 2), -torch.inf)
    scores = lonely.clone().requires_grad_()
    first = (scores, torch.ones(1, 3), scores.flatten(1).logsumexp(1))
    second = (none, torch.zeros(1, 3), torch.tensor([-torch.inf]))
    for order in ((first, second), (second, first)):
        shown, pooled, log_normaliser = joined(*order)
        weights = (shown - log_normaliser[:, None, None]).exp()
        torch.testing.assert_close(weights, (lonely - lonely.flatten(1).logsumexp(1)[0]).exp())
        assert torch.equal(pooled, torch.ones(1, 3))
        [gradient] = torch.autograd.grad(weights[0, 0, 0], scores, retain_graph=True)
        assert gradient.isfinite().all() and gradient.any()
    assert joined(second, second)[2].isneginf().all() and not joined(second, second)[1].any()


def heaviest_that_share_no_word(weights, count):
    """{place: weight} of so many spans, one after another, the heaviest first; weights: {(text, start, end):
    weight}.
    """
    heaviest = {}
    for place, weight in sorted(weights.items(), key=lambda item: -item[1]):
        text, start, end = place
        apart = all(text != other or end <= first or start >= last for other, first, last in heaviest)
        if apart and len(heaviest) < count:
            heaviest[place] = weight
    return heaviest


@pytest.mark.parametrize(
    "settings",
    [*FORMS, {"interaction": "feed_forward"}, {"of": "second"}, {"spans": "with_content"}],
    ids=str,
)
def test_the_answer_is_that_of_the_heaviest_spans_alone(settings):
    """They are the heaviest that share no word, their weights made to sum to 1; and the head reads their weighted
    sum.
    """
    plain, few = tiny_composed("span", **settings), tiny_composed("span", n_heaviest=3, **settings)
    for model in (plain, few):
        model.network.double()
    for text in (PAIR, SINGLE):
        every = span_weights(plain, text)
        heaviest = heaviest_that_share_no_word(every, 3)
        expected = {place: weight / sum(heaviest.values()) for place, weight in heaviest.items()}
        assert span_weights(few, text) == pytest.approx(expected)
        row = few.encode(as_examples([text])).rows[0]
        states = span_states(few, row)
        first, last = states.weights.nonzero(as_tuple=True)
        vectors, weights = states.vectors(first, last), states.weights[first, last]
        torch.testing.assert_close(states.own_logits(weights @ vectors), few.trace([row]).logits[0].detach())


def test_the_heaviest_spans_learn_and_others_do_not():
    vectors = torch.randn(1, 4, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    u = torch.randn(5, dtype=torch.float64, generator=torch.Generator().manual_seed(4)).requires_grad_()
    legal = torch.ones(4, 4).triu().bool()
    scores = (vectors @ u).masked_fill(~legal, -torch.inf)
    shown, pooled, log_normaliser = attend_to_heaviest(scores, 2, lambda i, j: vectors[[[0]], i, j], u)
    every = {(0, i, j + 1): float(scores[0, i, j].detach()) for i, j in legal.nonzero().tolist()}
    best = sorted(heaviest_that_share_no_word(every, 2).values())
    assert sorted(shown[shown > -torch.inf].tolist()) == pytest.approx(best)
    weights = softmax_over(best)
    places = [(scores[0] == score).nonzero()[0].tolist() for score in best]
    expected = sum(weight * vectors[0, i, j] for weight, (i, j) in zip(weights, places, strict=True))
    torch.testing.assert_close(pooled[0].detach(), expected)
    torch.testing.assert_close(log_normaliser[0], torch.tensor(best, dtype=torch.float64).logsumexp(0))
    [gradient] = torch.autograd.grad(pooled.sum(), u)
    assert gradient.any()


def test_where_few_spans_are_left_that_share_no_word_fewer_are_read():
    vectors = torch.arange(27.0, dtype=torch.float64).view(1, 3, 3, 3)
    u = torch.tensor([1.0, 0, 0], dtype=torch.float64)
    every = torch.full((1, 3, 3), -torch.inf, dtype=torch.float64)
    for span, count in (((0, 0), 1), ((0, 2), 1), (None, 0)):
        scores = every.clone()
        if span:
            scores[0][span] = 5.0
        shown, pooled, log_normaliser = attend_to_heaviest(scores, 2, lambda i, j: vectors[[[0]], i, j], u)
        places = (shown[0] > -torch.inf).nonzero().tolist()
        assert len(places) == count and places == ([list(span)] if span else [])
        torch.testing.assert_close(pooled[0], vectors[0][span] if span else torch.zeros(3, dtype=torch.float64))
        assert log_normaliser.isfinite().all() == bool(span)


def test_an_explanation_by_few_spans_shows_all_that_was_read_and_its_sums_hold():
    model = tiny_composed("span", n_heaviest=2)
    analysis = pellucid.spans(model, [PAIR], k=5)[0]
    assert len(analysis.spans) <= 2 == len(analysis.explanation.units)
    assert analysis.identity_gap < 1e-5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"of": "third"}, "of='third' is not possible"),
        ({"n_heaviest": 0}, "n_heaviest=0 is too small"),
        ({"layer": 0}, "layer=0 is too small"),
        ({"n_heaviest": 2, "weights": "uniform"}, "n_heaviest chooses spans by their weights"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, words):
    with pytest.raises(BadSetting, match=words):
        tiny_composed("span", **settings)


def test_each_text_by_itself_is_not_analysed_as_one_sum():
    with pytest.raises(ModelCannot, match="weighs the spans of each text by themselves"):
        pellucid.spans(tiny_composed("span", of="each"), [PAIR])


def test_a_lower_layer_is_the_encoder_without_its_upper_blocks(encoder, tmp_path):
    """Its states are those that the whole encoder has there; the folder keeps the blocks that are used, and loads."""
    plan = Plan(str(encoder), "span", {"layer": 2}, LABELS)
    network, tokenizer = compose(plan, 0)
    whole, _ = compose(Plan(str(encoder), "span", {}, LABELS), 0)
    ids = {
        "input_ids": torch.tensor([[2, 7, 9, 11, 3]]),
        "attention_mask": torch.ones(1, 5, dtype=torch.long),
    }
    with torch.no_grad():
        lower = whole.encoder.eval()(**ids, output_hidden_states=True).hidden_states[2]
        torch.testing.assert_close(network.encoder.eval()(**ids).last_hidden_state, lower)
    save_composed(network, tokenizer, plan, tmp_path)
    loaded = load_composed(tmp_path)
    assert loaded.n_layers == 2 and not any("layer.2." in name for name in loaded.network.state_dict())


def test_a_layer_that_is_not_there_is_refused(encoder):
    with pytest.raises(BadSetting, match="layer=9 is more than the 3 blocks"):
        compose(Plan(str(encoder), "span", {"layer": 9}, LABELS), 0)
    plan = Plan("bilstm", "span", {"layer": 1}, LABELS, encoder_settings={"vectors": "random"})
    with pytest.raises(BadSetting, match="or give encoder_settings layers"):
        compose(plan, 0)
    with pytest.raises(BadSetting, match="layer_mix=True needs an encoder that gives the states of all layers"):
        compose(replace(plan, pooler_settings={"layer_mix": True}), 0)


def test_a_mix_of_layers_is_their_weighted_mean_and_says_which(tmp_path):
    model = tiny_composed("span", layer_mix=True)
    mix = model.network.layer_mix
    with torch.no_grad():
        mix.scores.copy_(torch.tensor([0.0, 1.0, -1.0, 0.5]))
    weights = softmax_over(mix.scores.tolist())
    row = model.encode(as_examples([SINGLE])).rows[0]
    pieces = model.place([row])["pieces"]
    with torch.no_grad():
        columns = {**pieces.of_encoder(), "token_type_ids": pieces.token_type_ids}
        layers = model.network.encoder(**columns, output_hidden_states=True).hidden_states
        expected = sum(weight * states for weight, states in zip(weights, layers, strict=True))
        torch.testing.assert_close(model.network.states(pieces), expected)
    [explanation] = ask(model, [SINGLE], "span_attention")
    expected = sum(number * weight for number, weight in enumerate(weights))
    assert explanation.diagnostics["mean_layer"] == pytest.approx(expected, abs=1e-5)
    assert "mean_layer" not in ask(tiny_composed("span"), [SINGLE], "span_attention")[0].diagnostics


def test_what_comes_from_outside_a_span_is_measured_by_reading_it_alone():
    """Nothing comes from outside a span that is the whole text; and a pooler on word vectors alone reads no context."""
    model = tiny_composed("span")
    batch = model.encode(as_examples([SINGLE]))
    states = span_states(model, batch.rows[0])
    assert outside_share(model, states, range(4), batch.rows[0]) == pytest.approx(0, abs=1e-6)
    first = pellucid.spans(model, SINGLE, k=1)[0].spans[0]
    assert 0 < first.outside < 3
    contextless = tiny_composed("span", layer_mix=True)
    with torch.no_grad():
        contextless.network.layer_mix.scores.copy_(torch.tensor([100.0, 0.0, 0.0, 0.0]))
    analysis = pellucid.spans(contextless, PAIR[1], k=3)[0]
    assert [span.outside for span in analysis.spans] == pytest.approx([0] * len(analysis.spans), abs=1e-5)


def test_random_spans_are_drawn_from_texts_that_have_spans():
    of_second, of_both = (
        pellucid.explain(tiny_composed("span", of=of), [PAIR], "span_attention", progress=False)[0]
        for of in ("second", "all")
    )
    assert {*texts_with_spans(of_second.units)} == {-1, 1}
    assert {*texts_with_spans(of_both.units)} == {0, 1}
