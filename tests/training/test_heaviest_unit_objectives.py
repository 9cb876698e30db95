"""Objectives on the heaviest units, with margins or by fading: what they are by a loop, on weights of spans and of
units.
"""

import math

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.run.batch import edit
from pellucid.run.trace import SpanTrace
from pellucid.text.example import Example
from pellucid.training.cut_texts import heaviest_parts, part_weights
from tests.reference import evidence_objectives as reference
from tests.shared.tiny import tiny_composed
from tests.training.test_evidence_objectives import EXAMPLES, objective_of, part_of, weights_of

NAMES = {"comprehensiveness_margin": True, "sufficiency_margin": False}  # whether the heaviest are left out
TOP = [0.05, 0.2, 0.5]


@pytest.fixture(scope="module", params=("span", "additive"))
def classifier(request):
    model = tiny_composed(request.param)
    model.network.double()
    return model


def label_loss(classifier, number):
    """A function from units of a text to -log of its label's probability, read from these units alone."""
    batch = classifier.encode(EXAMPLES)
    pieces = batch.pieces_of(number, "word")
    gold = classifier.labels.index(EXAMPLES[number].label)

    def loss(units):
        removed = [piece for unit, own in enumerate(pieces) if unit not in units for piece in own]
        row = edit(batch.rows[number], removed, "absent", batch.special)
        return -math.log(classifier.trace([row]).logits[0].detach().softmax(-1)[gold])

    return loss, len(pieces)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("margin", (0.0, 0.1, 1.0))
def test_it_is_the_mean_of_margins_over_shares(classifier, name, margin):
    objective, part = objective_of(classifier, name, margin=margin, top=TOP), part_of(classifier)
    for number, value in enumerate(objective.losses(part).tolist()):
        loss, units = label_loss(classifier, number)
        if part.output.spans is None:
            weights = part.output.units.weights[number, :units].tolist()
        else:
            weights = reference.weights_of_units(weights_of(part.output.spans, number), units)
        expected = reference.margin(weights, TOP, margin, loss, left_out=NAMES[name])
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_share_of_the_texts_costs_the_same_in_the_mean(classifier, name):
    objective, part = objective_of(classifier, name, share=0.5), part_of(classifier)
    whole = objective_of(classifier, name).losses(part).tolist()
    for value, full in zip(objective.losses(part).tolist(), whole, strict=True):
        assert value == 0 or value == pytest.approx(2 * full)
    assert objective_of(classifier, name, share=0.01).losses(part).tolist() == [0, 0, 0]


def test_a_unit_weighs_as_much_as_the_spans_that_it_lies_in():
    scores = torch.tensor([[[0.0, 1.0, -1.0], [-torch.inf, 0.5, 0.3], [-torch.inf, -torch.inf, 0.2]]])
    trace = SpanTrace(scores, scores.flatten(1).logsumexp(1), (3,), "word", None)
    expected = reference.weights_of_units(weights_of(trace, 0), 3)
    torch.testing.assert_close(part_weights(trace)[0], torch.tensor(expected))


def test_the_heaviest_are_at_least_one_and_of_equal_ones_the_first():
    assert heaviest_parts([0.1, 0.4, 0.4, 0.1], [0.01, 0.5, 0.99]) == [{1}, {1, 2}, {0, 1, 2, 3}]
    assert heaviest_parts([], [0.5]) == [set()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("settings", "words"),
    (
        ({"margin": -1}, "margin=-1 is out of range"),
        ({"top": []}, r"top=\[\] is not possible; give a list of shares"),
        ({"top": 0.2}, "top=0.2 is not possible; give a list of shares"),
        ({"top": [0.2, 1]}, "a share in top=1 is out of range"),
        ({"share": 0}, "share=0 is out of range"),
    ),
)
def test_what_cannot_be_is_refused(classifier, name, settings, words):
    with pytest.raises(BadSetting, match=words):
        objective_of(classifier, name, **settings)


@pytest.mark.parametrize("name", NAMES)
def test_it_works_with_several_labels(name):
    model = tiny_composed("additive", problem="multi_label")
    values = objective_of(model, name).losses(part_of(model))
    assert values.isfinite().all() and (values >= 0).all()


def unit_weights(part, number, units):
    if part.output.spans is None:
        return part.output.units.weights[number, :units].tolist()
    return reference.weights_of_units(weights_of(part.output.spans, number), units)


def test_soft_sufficiency_is_the_divergence_of_the_answer_to_the_faded_text(classifier):
    objective, part = objective_of(classifier, "soft_sufficiency"), part_of(classifier)
    batch = classifier.encode(EXAMPLES)
    for number, value in enumerate(objective.losses(part).tolist()):
        pieces = batch.pieces_of(number, "word")
        weights = unit_weights(part, number, len(pieces))
        vectors = classifier.embed(torch.tensor(batch.rows[number].ids)).detach()
        for unit, own in enumerate(pieces):
            for piece in own:
                vectors[piece] = vectors[piece] * weights[unit] / max(weights)
        faded = classifier.trace([batch.rows[number]], embeddings=vectors[None]).logits[0].detach()
        whole = part.output.logits[number].detach()
        expected = reference.divergence(whole.softmax(-1).tolist(), faded.softmax(-1).tolist())
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_soft_sufficiency_moves_the_weights_themselves(classifier):
    """Their gradient does not come through the states alone."""
    objective, part = objective_of(classifier, "soft_sufficiency"), part_of(classifier)
    trace = part.output.units if part.output.spans is None else part.output.spans
    trace.scores.retain_grad()
    objective.losses(part).sum().backward()
    assert trace.scores.grad.abs().sum() > 0


def test_soft_sufficiency_reads_joined_windows():
    model = tiny_composed("span", max_length=100, positions=12)
    long = [Example(("Dull and long, and in the end not worth the evening. " * 2,), label="negative")]
    values = objective_of(model, "soft_sufficiency", examples=long).losses(part_of(model, long))
    assert values.isfinite().all() and float(values.detach()) > 0
