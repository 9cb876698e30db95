"""Vectors of source spans and the layer that reads them, beside their formulas."""

import pytest
import torch

from pellucid.models.translation.source_spans import (
    SourceSpans,
    SpanChoice,
    SpanSettings,
    span_places,
    span_vectors,
)

CPU = torch.device("cpu")


def literal_reading(choice, states, source, mask):
    """[step] -> {(i, j): alpha}, pooled [width]: equations 4 and 6, one span and one step at a time, for one text."""
    there = [place for place in range(len(source)) if mask is None or mask[place]]
    settings = choice.settings
    text = there[settings.before : len(there) - settings.after]
    spans = [
        (i, j) for i in text for j in text if i <= j and (settings.max_width is None or j - i < settings.max_width)
    ]
    product = choice.product(source)
    vectors = {
        (i, j): torch.tanh(
            choice.start(source[i])
            + choice.end(source[j])
            + choice.difference.weight @ (source[i] - source[j])
            + product[i] * product[j]
        )
        for i, j in spans
    }
    readings = []
    for state in states:
        queries = choice.query if settings.query == "static" else choice.query(state)
        scores = torch.stack([queries @ vectors[span] for span in spans])
        scores = scores / len(state) ** 0.5 if settings.scale else scores
        if settings.weights == "uniform":
            scores = torch.zeros_like(scores)
        weights = scores.softmax(0)
        pooled = sum(weight * vectors[span] for weight, span in zip(weights, spans, strict=True))
        readings.append((dict(zip(spans, weights.tolist(), strict=True)), pooled))
    return readings


def states(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("width", [None, 1, 3])
def test_vectors_are_those_of_the_formula_with_its_gradients(width):
    a, c, p = (states(seed, 2, 5, 4).requires_grad_() for seed in range(3))
    places = span_places(5, width, CPU)
    literal = torch.tanh(a[:, places.first] + c[:, places.last] + p[:, places.first] * p[:, places.last])
    torch.testing.assert_close(span_vectors(a, c, p, places), literal)
    assert torch.autograd.gradcheck(lambda *tensors: span_vectors(*tensors, places), (a, c, p))
    reach = 5 if width is None else width
    assert list(zip(places.first.tolist(), places.last.tolist(), strict=True)) == [
        (i, j) for i in range(5) for j in range(i, min(5, i + reach))
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_width": 2},
        {"query": "static"},
        {"scale": False},
        {"weights": "uniform"},
        {"before": 1, "after": 1, "max_width": 3},
    ],
)
def test_the_layer_reads_what_its_formula_reads(settings):
    torch.manual_seed(0)
    choice = SpanChoice(6, SpanSettings(**settings)).double()
    decoder, source = states(1, 2, 3, 6), states(2, 2, 5, 6)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 1, 0]])
    reading = choice(decoder, source, mask)
    for row in range(2):
        for step, (weights, pooled) in enumerate(literal_reading(choice, decoder[row], source[row], mask[row])):
            torch.testing.assert_close(reading.pooled[row, step], pooled)
            first, last = reading.places.first.tolist(), reading.places.last.tolist()
            read = dict(zip(zip(first, last, strict=True), reading.weights[row, step].tolist(), strict=True))
            assert {span for span, weight in read.items() if weight} == set(weights)
            assert all(read[span] == pytest.approx(weight) for span, weight in weights.items())


def test_at_the_start_of_a_training_the_weights_are_spread_over_the_spans():
    """Scores that are not divided put the weight on one span before the layer has learnt where to look."""
    of_both = []
    for scale in (True, False):
        torch.manual_seed(0)
        reading = SpanChoice(256, SpanSettings(scale=scale))(
            states(1, 1, 9, 256).float(), states(2, 1, 15, 256).float(), None
        )
        of_both.append(float((1 / reading.concentration.detach()).mean()))
    assert of_both[0] > 60 and of_both[1] < 6  # of 105 spans


def test_the_state_that_writes_is_the_sum_of_its_parts():
    torch.manual_seed(0)
    layer = SourceSpans(6, SpanSettings()).double()
    torch.nn.init.normal_(layer.decoder_part.weight)
    decoder, source = states(1, 2, 3, 6), states(2, 2, 5, 6)
    reading = layer.choose(decoder, source, None)
    each = span_vectors(*layer.choose._folded(source), reading.places)
    parts = torch.einsum("bts,bsw->btw", reading.weights, layer.span_part(each))
    torch.testing.assert_close(
        layer(decoder, source, None), decoder + layer.decoder_part(decoder) + parts, rtol=1e-5, atol=1e-5
    )


def test_a_source_without_any_span_adds_nothing_and_spoils_no_gradient():
    torch.manual_seed(0)
    layer = SourceSpans(6, SpanSettings(after=1)).double()
    decoder, source = states(1, 2, 3, 6).requires_grad_(), states(2, 2, 4, 6)
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 1]])  # of the first only the end token is left
    written = layer(decoder, source, mask)
    torch.testing.assert_close(written[0], decoder[0])
    written.sum().backward()
    assert torch.isfinite(decoder.grad).all()
    assert all(torch.isfinite(each.grad).all() for each in layer.parameters())


def test_padding_changes_nothing():
    torch.manual_seed(0)
    layer = SourceSpans(6, SpanSettings()).double()
    decoder, source = states(1, 1, 3, 6), states(2, 1, 6, 6)
    mask = torch.tensor([[1, 1, 1, 1, 0, 0]])
    torch.testing.assert_close(layer(decoder, source, mask), layer(decoder, source[:, :4], None))


def test_penalties_of_one_span_and_of_equal_weights():
    choice = SpanChoice(6, SpanSettings(weights="uniform", after=0)).double()
    reading = choice(states(1, 1, 1, 6), states(2, 1, 3, 6), None)
    assert float(reading.concentration) == pytest.approx(1 / 6)
    assert float(reading.entropy) == pytest.approx(float(torch.tensor(6.0).log()), rel=1e-5)
