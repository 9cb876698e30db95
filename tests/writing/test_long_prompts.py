"""Long prompts: a graph that fits, and edited prompts that share what they begin with. Both give what plain passes
give.
"""

import gc
from itertools import pairwise

import numpy as np
import pytest
import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

import pellucid
from pellucid.models.writing import recomputed_blocks
from pellucid.models.writing.shared_beginnings import keeps_keys
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.trace import Want
from pellucid.run.word import WordReadout
from pellucid.text.example import Example
from tests.writing.test_chats import tokenizer  # noqa: F401  # a fixture

SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2}
OTHERS = {"vocab_size": 260, "bos_token_id": 0, "eos_token_id": 1, "initializer_range": 0.3}
SENTENCES = [f"The guest of room {number} said that the soup was cold and the bed too short." for number in range(8)]
PROMPT, ANSWER = " ".join(SENTENCES), "no soup"
NETWORKS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, **OTHERS, num_key_value_heads=1)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=3, n_head=2, **OTHERS)),
    "bloom": lambda: BloomForCausalLM(BloomConfig(hidden_size=32, n_layer=3, n_head=2, **OTHERS)),
}


def network_of(name):
    torch.manual_seed(3)
    return NETWORKS[name]().double().eval()


@pytest.fixture(scope="module", params=NETWORKS)
def model(request, tokenizer):  # noqa: F811
    return pellucid.load(network_of(request.param), tokenizer)


def live_bytes():
    """Of all tensors that Python sees, each storage once.

    The type is asked, since `isinstance` follows weak proxies, also those whose object is gone.
    """
    tensors = [each for each in gc.get_objects() if issubclass(type(each), torch.Tensor)]
    return sum({each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in tensors}.values())


def gradient_of(model, rows, policy=None):
    """Of the answer by the words, and how many bytes the graph takes before it is computed."""
    before = live_bytes()
    trace = model.trace(rows, Want(gradients=True, hidden=True, under=policy))
    size = live_bytes() - before
    by = [trace.embeddings, *trace.hidden.parts[1].tensors]
    first = torch.autograd.grad(trace.logits.sum(), by, retain_graph=True)
    again = torch.autograd.grad(trace.logits.sum(), by)
    assert all(torch.equal(*pair) for pair in zip(first, again, strict=True))
    return first, size


def test_a_long_pass_keeps_only_what_blocks_read_and_gives_the_same_gradients(model, monkeypatch):
    rows = model.encode([Example((PROMPT, ANSWER))]).rows
    monkeypatch.setattr(recomputed_blocks, "LONG", 100)
    whole, whole_size = gradient_of(model, rows)
    monkeypatch.setattr(recomputed_blocks, "ROOM", 0)
    model.network.train()  # the blocks run again as they ran, whatever the network does meanwhile
    few, few_size = gradient_of(model, rows)
    model.network.eval()
    assert few_size < whole_size / 4
    for ours, theirs in zip(few, whole, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", ["relevance", "gradient_x_input", "integrated_gradients"])
def test_methods_give_the_same_with_a_graph_that_fits(method, tokenizer, monkeypatch):  # noqa: F811
    settings = {"n_steps": 2} if method == "integrated_gradients" else {}
    explain = lambda: pellucid.explain(  # noqa: E731
        pellucid.load(network_of("llama"), tokenizer), [(PROMPT, ANSWER)], method, progress=False, **settings
    )[0]
    whole = explain()
    monkeypatch.setattr(recomputed_blocks, "LONG", 100)
    monkeypatch.setattr(recomputed_blocks, "ROOM", 0)
    few = explain()
    np.testing.assert_allclose(few.scores, whole.scores, rtol=1e-6, atol=1e-9)
    assert few.diagnostics == pytest.approx(dict(whole.diagnostics), abs=1e-9)


def test_the_models_own_call_asks_the_head_for_the_answer_alone(model):
    pellucid.explain(model, [(PROMPT, ANSWER)], "gradient", progress=False)  # trials of the network, once
    places = []
    handle = model.head.register_forward_hook(lambda _, __, output: places.append(output.shape[1]))
    pellucid.explain(model, [(PROMPT, ANSWER)], "gradient", progress=False)
    handle.remove()
    assert max(places) <= len(ANSWER) + 1  # the tokenizer makes a piece of each character


def edited_rows(model, operator):
    """The prompt without each of its last sentences, without two of them, and without a piece that is written."""
    batch = model.encode([Example((PROMPT, ANSWER))])
    begins = [PROMPT.index(sentence) for sentence in (*SENTENCES, "room 7")]
    pieces = [
        [piece for piece in batch.units[0].content if first <= batch.units[0].start[piece] < end]
        for first, end in pairwise(begins)
    ]
    removed = [*pieces[3:], pieces[3] + pieces[6], [len(batch.rows[0]) - 2]]
    return [batch.edited(0, each, operator) for each in removed]


def answers_and_places(model, rows):
    """[row piece] log-probabilities, and how many places were computed."""
    places = []
    embedding = model.network.get_input_embeddings()
    handle = embedding.register_forward_hook(lambda _, args, __: places.append(args[0].numel()))
    answers = evaluate_rows(model, scheduler_for(model), rows, WordReadout(len(ANSWER)))
    handle.remove()
    return answers, sum(places)


@pytest.mark.parametrize("operator", ["absent", "delete", "pad"])
def test_edited_prompts_share_what_they_begin_with(model, operator, monkeypatch):
    rows = edited_rows(model, operator)
    answers_and_places(model, rows)  # a trial, once
    ours, shared = answers_and_places(model, rows)
    assert model.beginnings[1024, operator == "absent"]
    monkeypatch.setitem(model.__dict__, "_keeps_keys", False)
    theirs, every = answers_and_places(model, rows)
    assert shared < every / 2
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)  # BLOOM has biases of attention in float32


def test_a_network_that_answers_otherwise_after_a_beginning_runs_every_row_whole(tokenizer, monkeypatch):  # noqa: F811
    model = pellucid.load(network_of("llama"), tokenizer)
    forward = model.network.model.rotary_emb.forward
    monkeypatch.setattr(  # its positions count from where a pass begins
        model.network.model.rotary_emb,
        "forward",
        lambda states, position_ids: forward(states, position_ids - position_ids[:, :1]),
    )
    rows = edited_rows(model, "absent")
    ours, _ = answers_and_places(model, rows)
    assert model.beginnings == {(1024, True): False}
    alone = [model.trace([row]).written for row in rows]
    expected = torch.cat([written.log_probabilities(written.ids) for written in alone])
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)


def test_networks_that_forget_share_nothing():
    window = MistralConfig(**SIZES, **OTHERS, sliding_window=64)
    assert keeps_keys(network_of("llama")) and not keeps_keys(MistralForCausalLM(window))
    assert keeps_keys(MistralForCausalLM(MistralConfig(**SIZES, **OTHERS, sliding_window=None)))
