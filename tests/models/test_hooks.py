"""What looks into a network ends with its `with`, and is the business of one thread."""

import threading
from contextlib import contextmanager, suppress

import pytest
import torch
from torch import nn

from pellucid.models.classifiers.function import from_function
from pellucid.models.classifiers.hooks import (
    Enough,
    evaluating,
    hidden_states,
    output_through,
    word_embeddings,
)
from tests.shared.asking import ask
from tests.shared.small_networks import Bag
from tests.shared.threads import PATIENCE, elsewhere, hurried_switching, together
from tests.shared.tiny import LABELS


class SomeError(Exception):
    """The test's own."""


def modes(network):
    return [module.training for module in network.modules()]


@contextmanager
def half_in_training():
    """A network of which some parts are in training mode, and its modes."""
    network = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(), nn.Linear(2, 2)))
    network.train()
    network[1][1].eval()
    before = modes(network)
    assert set(before) == {True, False}
    yield network
    assert modes(network) == before


@pytest.mark.parametrize("error", (None, SomeError))
@pytest.mark.parametrize("first_leaves_first", (True, False))
def test_who_leaves_first_takes_evaluation_mode_from_nobody(error, first_leaves_first):
    """Two threads overlap; the modes come back when the last has left, in whatever order and with or without an
    error.
    """
    inside = [threading.Event(), threading.Event()]
    leave = [threading.Event(), threading.Event()]

    with half_in_training() as network:

        def work(number):
            with suppress(SomeError), evaluating(network):
                inside[number].set()
                assert leave[number].wait(PATIENCE)
                assert not any(modes(network))
                if error is not None:
                    raise error

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for number, thread in enumerate(threads):
            thread.start()
            assert inside[number].wait(PATIENCE)
        for number in (0, 1) if first_leaves_first else (1, 0):
            assert not any(modes(network))
            leave[number].set()
            threads[number].join(PATIENCE)


def test_a_part_of_a_network_is_evaluated_with_it():
    """As an encoder that two models share."""
    with half_in_training() as network:
        with evaluating(network):
            with evaluating(network[1]):
                assert not any(modes(network))
            assert not any(modes(network))
        with evaluating(network[1]):
            assert network[0].training
            assert not any(modes(network[1]))


def test_many_threads_that_come_and_go_leave_the_modes_as_they_were():
    with half_in_training() as network:

        def work():
            for turn in range(200):
                with suppress(SomeError), evaluating(network):
                    assert not any(modes(network))
                    if turn % 5 == 0:
                        raise SomeError

        with hurried_switching():
            together(*[work] * 8)


def test_a_mode_that_the_user_sets_meanwhile_stays():
    """In evaluation mode before, and set to training by its user while we work."""
    network = nn.Linear(2, 2).eval()
    with evaluating(network):
        network.train()
    assert network.training


LOOKS = {
    "word_embeddings": lambda module, seen: word_embeddings(module, seen, instead=torch.zeros(1, 2, 8), gradients=True),
    "output_through": lambda module, seen: output_through(module, torch.zeros_like),
    "hidden_states": lambda module, seen: hidden_states(nn.ModuleList([module]), seen, deepest=1),
}


@pytest.mark.parametrize("name", LOOKS)
def test_another_thread_meets_no_hook(name):
    module, ids, seen = Bag().embedding, torch.tensor([[1, 2]]), []
    own = module(ids)
    with LOOKS[name](module, seen):
        assert torch.equal(elsewhere(lambda: module(ids)), own)
        assert not seen


def test_another_thread_may_meet_a_hook_without_its_options():
    """As when it is removed between torch's look at the hook and its look at what the hook is called with."""
    module, ids = Bag().embedding, torch.tensor([[1, 2]])
    own = module(ids)
    with hidden_states(nn.ModuleList([module]), [], deepest=None):
        module._forward_pre_hooks_with_kwargs.clear()
        assert torch.equal(elsewhere(lambda: module(ids)), own)


def test_hooks_that_come_and_go_elsewhere_do_not_hide_that_it_is_enough():
    """Torch, told of an `Exception` in a network, walks over hooks that other threads may be adding to."""
    blocks = nn.ModuleList([nn.Linear(2, 2)])
    with hidden_states(blocks, [], deepest=1):

        def come_and_go(*_):
            elsewhere(lambda: blocks[0].register_forward_hook(lambda *_: None))

        blocks[0].register_forward_hook(come_and_go, always_call=True, prepend=True)
        blocks[0].register_forward_hook(come_and_go, always_call=True)
        with pytest.raises(Enough):
            blocks[0](torch.ones(1, 2))


def test_two_threads_can_be_in_their_passes_at_once():
    """Each function waits for the other one's call, which a lock around passes would never let come."""
    both = threading.Barrier(2)

    def predict(texts):
        if not both.broken:
            both.wait(100)
        return [[0.5, 0.25, 0.25]] * len(texts)

    def work():
        model = from_function(predict, LABELS)
        return ask(model, ["fine"], "chance")

    one, other = together(work, work)
    assert one == other
