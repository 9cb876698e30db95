"""Models handed over in memory that are no classifier as Hugging Face made it: one sentence with the way out."""

import copy
from contextlib import suppress

import pytest
import torch
from torch import nn

import pellucid
from pellucid.base.errors import BadInput, ModelCannot, PellucidError
from tests.shared.asking import ask
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier, tiny_network, word_piece


def test_a_plain_network_is_sent_to_its_own_door():
    with pytest.raises(ModelCannot, match="from_network"):
        pellucid.load(nn.Linear(3, 2), word_piece())


def test_a_wrapped_model_is_refused_with_the_way_out():
    with pytest.raises(ModelCannot, match=r"DataParallel.*load\(model.module, tokenizer\)"):
        pellucid.load(nn.DataParallel(tiny_network()), word_piece())
    with pytest.raises(ModelCannot, match=r"load\(model._orig_mod, tokenizer\)"):
        pellucid.load(torch.compile(tiny_network()), word_piece())


def test_an_encoder_without_a_head_is_refused():
    with pytest.raises(ModelCannot, match="without a classification head"):
        pellucid.load(tiny_network().base_model, word_piece())


@pytest.mark.parametrize("source", (None, 3, ["a"], b"model", {}))
def test_what_is_no_model_at_all_is_refused(source):
    with pytest.raises(BadInput, match=type(source).__name__):
        pellucid.load(source)


def test_a_model_without_blocks_is_refused_or_answers(tmp_path):
    model = pellucid.load(save_tiny(tmp_path, labels=LABELS, num_hidden_layers=0))
    for method in pellucid.methods():
        with suppress(PellucidError):
            pellucid.explain(model, "A fine film.", method["name"])


def test_weights_are_read_without_threads(tmp_path, monkeypatch):
    """A thread that has no memory to begin with is waited for without end."""

    def start(self):
        raise MemoryError

    folder = save_tiny(tmp_path, labels=LABELS)
    monkeypatch.setattr("threading.Thread.start", start)
    assert pellucid.load(folder).labels == LABELS


def test_weights_of_inference_mode_are_named():
    usual = tiny_classifier("bert")
    with torch.inference_mode():
        network = copy.deepcopy(usual.network)
    model = pellucid.load(network, usual.tokenizer)
    with pytest.raises(ModelCannot, match=r"made under torch\.inference_mode.*outside of that"):
        ask(model, ["A fine film."], "gradient")
    assert ask(model, ["A fine film."], "occlusion")[0].scores.any()
