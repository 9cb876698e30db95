"""What a process has only once: loading and tokenising in several threads leave it as it was, and nobody's text is
cut.
"""

import threading
from contextlib import suppress

import pytest
import torch
from transformers import PreTrainedModel
from transformers.utils import logging as hugging_face_logging

import pellucid
from pellucid.base.torch_state import OwnDraws
from pellucid.models.composed import composed
from pellucid.models.composed import composed as composing
from pellucid.models.composed.composed import compose, load_composed, save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.folders.library_network import quiet
from pellucid.text.example import as_examples
from tests.shared.threads import PATIENCE, elsewhere, hurried_switching, together
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier, tiny_composed
from tests.shared.tiny_training import save_encoder

TEXT = "A gripping, lovely film."


def test_a_truncating_call_of_the_tokenizer_elsewhere_cuts_no_text(monkeypatch):
    """It comes between the moment when the tokenizer is set up for our text and the moment when it reads it."""
    model = tiny_classifier("bert")
    alone = model.encode(as_examples([TEXT])).rows
    own = model.plain_logits(as_examples([TEXT])[0])
    kind = type(model.tokenizer)
    set_up, busy = kind.set_truncation_and_padding, []

    def users_call():
        short = tokenizer(["a film", "a"], truncation=True, max_length=3, padding="max_length")["input_ids"]
        assert [len(ids) for ids in short] == [3, 3]

    def interrupted(self, **settings):
        set_up(self, **settings)
        if not busy:
            busy.append(True)
            elsewhere(users_call)
            busy.clear()

    fresh = tiny_classifier("bert")
    tokenizer = fresh.tokenizer
    monkeypatch.setattr(kind, "set_truncation_and_padding", interrupted)
    assert fresh.encode(as_examples([TEXT])).rows == alone
    assert torch.equal(fresh.plain_logits(as_examples([TEXT])[0]), own)


def test_models_loaded_at_the_same_time_leave_the_library_as_it_was(tmp_path):
    """The library loads with a changed class; put back in the wrong order, every later network would be built
    untied.
    """
    folder = save_tiny(tmp_path, "bert", LABELS)
    tie_weights, expected = PreTrainedModel.tie_weights, pellucid.load(folder).hash
    with hurried_switching():
        models = together(*[lambda: pellucid.load(folder)] * 4)
    assert PreTrainedModel.tie_weights is tie_weights
    assert {model.hash for model in models} == {expected}


class SomeError(Exception):
    """The test's own."""


@pytest.mark.parametrize("error", (None, SomeError))
def test_who_leaves_first_switches_no_warnings_on_for_others(error):
    """And the last one to leave brings the user's own setting back."""
    before = hugging_face_logging.get_verbosity(), hugging_face_logging.is_progress_bar_enabled()
    silent = 50, False
    inside, leave = ([threading.Event(), threading.Event()] for _ in range(2))

    def work(number):
        with suppress(SomeError), quiet():
            inside[number].set()
            leave[number].wait(PATIENCE)
            if error is not None:
                raise error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for number, thread in enumerate(threads):
        thread.start()
        assert inside[number].wait(PATIENCE)
    for number, thread in enumerate(threads):
        assert (
            hugging_face_logging.get_verbosity(),
            hugging_face_logging.is_progress_bar_enabled(),
        ) == silent
        leave[number].set()
        thread.join(PATIENCE)
    assert (hugging_face_logging.get_verbosity(), hugging_face_logging.is_progress_bar_enabled()) == before


def test_own_draws_are_those_of_the_seed_and_leave_the_random_state_alone():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        expected = torch.nn.LSTM(4, 4).state_dict()
    before = torch.get_rng_state()
    with OwnDraws(3):
        drawn = torch.nn.LSTM(4, 4).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(drawn[name], tensor) for name, tensor in expected.items())


@pytest.mark.parametrize("seed", (None, 5), ids=("loaded", "composed"))
def test_a_model_that_begins_elsewhere_moves_nobodys_draws(seed, tmp_path, monkeypatch):
    """This thread draws while the other one is in the middle of building its network."""
    plan = Plan(str(tmp_path / "encoder"), "span", {}, LABELS)
    save_encoder(tmp_path / "encoder")
    model = tiny_composed("span")
    save_composed(model.network, model.tokenizer, plan, tmp_path / "model")
    inside, go_on = threading.Event(), threading.Event()
    room = composed if seed is None else composing
    build = room.composed_network

    def slowly(*args):
        inside.set()
        assert go_on.wait(PATIENCE)
        return build(*args)

    def begin():
        return load_composed(tmp_path / "model") if seed is None else compose(plan, seed)

    monkeypatch.setattr(room, "composed_network", slowly)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        expected = [float(torch.rand(1)) for _ in range(6)]
        thread = threading.Thread(target=begin)
        thread.start()
        assert inside.wait(PATIENCE)
        torch.manual_seed(3)
        drawn = [float(torch.rand(1)) for _ in range(3)]
        go_on.set()
        thread.join(PATIENCE)
        assert drawn + [float(torch.rand(1)) for _ in range(3)] == expected
