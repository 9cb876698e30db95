"""Every registered pooler keeps the promises that all share; a new file in poolers/ is tested because it exists."""

import pytest
import torch

from pellucid.base.kinds import poolers
from pellucid.models.composed.networks import Plan
from pellucid.models.pooling.pooler import Pooler
from tests.models.composed_promises import (
    TEXTS,
    assert_alone_is_together,
    assert_reads_an_empty_text,
    assert_survives_a_folder,
    rows_of,
)
from tests.shared.tiny import LABELS, tiny_composed

NAMES = poolers.names()


def check_alone_and_together(name):
    """A longer neighbour and its padding change nothing."""
    assert_alone_is_together(tiny_composed(name))


def check_own_weights(name):
    """Who claims to explain leaves weights that sum to 1, or gates between 0 and 1; who does not leaves none."""
    classifier, explains = tiny_composed(name), poolers.get(name).facts["explains"]
    trace = classifier.trace(rows_of(classifier, *TEXTS))
    own = (trace.spans, trace.gates, trace.units)
    assert bool(explains) == any(weights is not None for weights in own)
    assert bool(explains) == (explains in classifier.capabilities)
    if trace.spans is not None:
        sums = trace.spans.weights.sum((1, 2))
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-5)
    if trace.units is not None:
        sums = trace.units.weights.sum(1)
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-5)
    if trace.gates is not None:
        assert ((trace.gates.values >= 0) & (trace.gates.values <= 1)).all()
        assert ((trace.gates.chances >= 0) & (trace.gates.chances <= 1)).all()


def check_empty_text(name):
    """A text of which nothing is left has finite logits, alone and beside others."""
    assert_reads_an_empty_text(tiny_composed(name))


def check_gradients_and_training(name):
    """Gradients are finite, also of a pair and of one word; a second step can follow the first, and moves the
    weights.
    """
    classifier = tiny_composed(name)
    network, arguments = classifier.network.train(), classifier.place(rows_of(classifier, *TEXTS))
    optimiser = torch.optim.SGD(network.parameters(), lr=1e-3)
    before = network.head.weight.detach().clone()
    for _ in range(2):
        optimiser.zero_grad()
        network(**arguments).logits.square().mean().backward()
        gradients = [each.grad for each in network.parameters() if each.grad is not None]
        assert gradients and all(gradient.isfinite().all() for gradient in gradients)
        optimiser.step()
    assert not torch.equal(network.head.weight, before)
    assert network.eval()(**arguments).logits.isfinite().all()


def check_folder(name, folder):
    """A saved model has the weights and the answers of the one that was saved."""
    assert_survives_a_folder(tiny_composed(name), Plan("tiny", name, {}, LABELS), folder)


def check_all(name, folder):
    """Every promise, for a pooler of any name."""
    for check in (
        check_alone_and_together,
        check_own_weights,
        check_empty_text,
        check_gradients_and_training,
    ):
        check(name)
    check_folder(name, folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_pooler_is_a_class_with_a_sentence(name):
    entry = poolers.get(name)
    assert isinstance(entry.make, type) and issubclass(entry.make, Pooler)
    assert entry.make.__name__ != name and entry.summary and entry.make.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_a_text_alone_and_in_a_batch_are_one(name):
    check_alone_and_together(name)


@pytest.mark.parametrize("name", NAMES)
def test_own_weights_are_weights(name):
    check_own_weights(name)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_text_has_logits(name):
    check_empty_text(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_trained_twice(name):
    check_gradients_and_training(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_survives_a_folder(name, tmp_path):
    check_folder(name, tmp_path)
