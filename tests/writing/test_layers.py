"""Layers of models that write: each is a cut through the network, and what is read there is what the library
computes.
"""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.kinds import policies
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.packing import scheduler_for
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from tests.shared.asking import FEW
from tests.shared.tiny_writing import KINDS, TRANSLATORS, tiny_lstm, tiny_writing

PAIR, SHORT = ("A good film about a dog.", "A fine story, well told."), ("Dull.", "A long film.")
OTHER = ("A dog about a good film.", "A story, fine told well.")  # as many pieces, for every tokenizer here
STATES = Want(hidden=True)


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return tiny_writing(request.param)


@pytest.fixture(scope="module", params=[*KINDS, "lstm"])
def any_model(request):
    return tiny_lstm() if request.param == "lstm" else tiny_writing(request.param)


def of_pairs(model, *pairs):
    return model.encode(as_examples(list(pairs)))


def pass_over(model, *pairs):
    return ForwardPass(model, of_pairs(model, *pairs), scheduler_for(model))


@torch.no_grad()
def test_a_layer_has_all_that_what_comes_later_reads(any_model):
    """With another text's states in one layer, the network writes what it writes for the other text."""
    model = any_model
    (row,), (other,) = of_pairs(model, PAIR).rows, of_pairs(model, OTHER).rows
    assert row.ids != other.ids and row.types == other.types
    there = model.trace([other], STATES)
    for layer in range(model.n_layers + 1):
        moved = model.trace([row], STATES, there.hidden[layer], layer)
        torch.testing.assert_close(moved.written.logits, there.written.logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(moved.hidden[layer], there.hidden[layer])


def test_the_gradient_by_a_layer_is_that_of_a_pass_which_starts_there(any_model):
    """Each block counts once, though the decoder's blocks all read the encoder's states."""
    model, run = any_model, pass_over(any_model, PAIR, SHORT)
    target = pellucid.Word(2).resolve(run.batch, model)
    for layer in range(model.n_layers + 1):
        here = run.at(run.state(layer), layer).gradient(target, layer)
        torch.testing.assert_close(run.gradient(target, layer), here, rtol=1e-3, atol=1e-5)
        assert here.any()


@torch.no_grad()
def test_states_do_not_depend_on_neighbours_and_stop_where_they_are_deep_enough(any_model):
    model, batch = any_model, of_pairs(any_model, PAIR, SHORT)
    together = model.trace(batch.rows, STATES).hidden
    for number, length in enumerate(batch.lengths):
        alone = model.trace([batch.rows[number]], STATES).hidden
        for layer in range(model.n_layers + 1):
            torch.testing.assert_close(together[layer][number, :length], alone[layer][0], rtol=1e-4, atol=1e-4)
    for deepest in (0, model.n_layers - 1):
        stopped = model.trace(batch.rows, Want(hidden=True, deepest=deepest))
        torch.testing.assert_close(stopped.hidden[deepest], together[deepest])
        assert stopped.logits.shape == (2, 0)


@torch.no_grad()
def test_attention_is_the_librarys_own():
    """For a translator half of each look, at what was written and at the source."""
    for kind in ("bart", "gpt2"):
        model = tiny_writing(kind)
        (row,) = of_pairs(model, PAIR).rows
        (weights,) = model.trace([row], Want(attention=True)).attention[-1]
        model.network.set_attn_implementation("eager")
        tracks = model.form.tracks([row], model.device)
        if kind == "gpt2":
            answer = model.network(input_ids=tracks[0].ids, output_attentions=True)
            expected = answer.attentions[-1][0]
        else:
            answer = model.network(input_ids=tracks[0].ids, decoder_input_ids=tracks[1].ids, output_attentions=True)
            n_source, n_written = tracks[0].ids.shape[1], len(row) - tracks[0].ids.shape[1]
            expected = torch.eye(len(row)).repeat(2, 1, 1)
            expected[:, n_source:, :n_source] = answer.cross_attentions[-1][0] / 2
            expected[:, n_source:, n_source:] = answer.decoder_attentions[-1][0, :, :n_written, :n_written] / 2
        torch.testing.assert_close(weights, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_blocks_joined_while_the_network_runs_are_those_joined_at_the_end(model):
    rows, seen = of_pairs(model, PAIR, SHORT).rows, []
    every = model.trace(rows, Want(attention=True, head_values=True))
    last = model.trace(
        rows, Want(attention=True, head_values=True, keep=lambda _, block: (seen.append(block), block)[1:])
    )
    assert len(seen) == 2 * model.n_layers == 2 * len(every.attention)
    for (block,), joined in ((last.attention, every.attention), (last.head_values, every.head_values)):
        assert torch.equal(block, joined[-1])


@pytest.mark.parametrize("method", ("attention", "attention_heads", "attention_norm"))
@pytest.mark.parametrize("flow", ("last_layer", "rollout"))
def test_weights_are_those_of_the_place_that_writes_a_word(model, method, flow):
    """A word of one piece reads all that stands before it: its row adds up to 1."""
    settings = {} if method == "attention_heads" else {"flow": flow}
    (words,) = pellucid.Word().resolve(of_pairs(model, PAIR), model).words
    word = pellucid.Word(next(word.step for word in words if len(word.pieces) == 1))
    (one,) = pellucid.explain(model, [PAIR], method, target=word, progress=False, **settings)
    assert (one.scores >= 0).all() and one.scores.any()
    if method == "attention" or (method, flow) == ("attention_norm", "rollout"):
        assert one.scores.sum() == pytest.approx(1.0, abs=1e-4)


def test_an_attention_gradient_is_what_changes_when_a_weight_grows(model):
    """The target's gradient times the weights, added up, is the same for joined weights as for the network's own."""
    run = ForwardPass(model, of_pairs(model, PAIR), scheduler_for(model), open_attention=True)
    target = pellucid.Word(3).resolve(run.batch, model)
    joined = [
        (weights * gradient).sum()
        for weights, gradient in zip(run.attention, run.attention_gradient(target), strict=True)
    ]
    trace = model.trace(run.batch.rows, Want(gradients=True, attention=True))
    value = target.values(target.readout.answers(trace, run.batch.rows)).sum()
    for part, total in zip(trace.attention.parts, joined, strict=True):
        own = torch.autograd.grad(value, part.tensors, retain_graph=True)
        expected = sum((weights * gradient).sum() for weights, gradient in zip(part.tensors, own, strict=True))
        torch.testing.assert_close(total, expected.detach(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("policy", ("alpha_beta", "attnlrp", "cp", "epsilon"))
def test_relevance_of_a_word_is_conserved(model, policy):
    assert policy in policies.names()
    for target in (pellucid.Word(3), pellucid.Word("story", against="film"), pellucid.Word("text")):
        results = pellucid.explain(
            model, [PAIR, (SHORT[0], PAIR[1])], "relevance", policy=policy, target=target, progress=False
        )
        assert max(one.diagnostics["conservation_gap"] for one in results) < 1e-3


@pytest.mark.parametrize("kind", ("t5", "llama"))
def test_every_layer_has_the_same_relevance_where_no_bias_takes_any(kind):
    model = tiny_writing(kind)
    run = pass_over(model, PAIR)
    target, under = pellucid.Word("story", against="film").resolve(run.batch, model), run.under("cp")
    gradients, value = under.gradients(target), float(run.values(target))
    for layer in (None, *range(model.n_layers + 1)):
        total = float((gradients.by(layer) * under.state(layer)).sum())
        assert total == pytest.approx(value, rel=1e-3), layer


def test_differences_add_up(model):
    (one,) = pellucid.explain(model, [PAIR], "deep_lift_shap", progress=False)
    assert max(row["completeness_gap"] for row in one.row_diagnostics) < 1e-3


@pytest.mark.parametrize("kind", ("bart", "gpt2"))
def test_paths_add_up_in_every_layer(kind):
    model = tiny_writing(kind)
    for layer in range(model.n_layers + 1):
        settings = {"target": pellucid.Word(3), "layer": layer, "progress": False}
        (one,) = pellucid.explain(model, [PAIR], "integrated_gradients", **settings)
        assert one.diagnostics["completeness_gap"] < 0.03, layer


@pytest.mark.parametrize("kind", ("marian", "gpt2"))
@pytest.mark.parametrize("method", ("retained_information", "guan_perturbation", "guan_gradient", "occlusion"))
def test_a_decoders_state_at_a_step_knows_nothing_of_later_words(kind, method):
    """The state that writes a word is that of the piece before it."""
    model = tiny_writing(kind)
    row = of_pairs(model, PAIR).rows[0]
    step = [piece for piece, id in enumerate(row.written) if id >= 0][2]
    state = pellucid.HiddenState(model.n_layers - 1, positions=(step,))
    (one,) = pellucid.explain(model, [PAIR], method, target=state, progress=False, **FEW.get(method, {}))
    pieces = of_pairs(model, PAIR).units[0]
    written = np.array(one.units.segment) == 1
    later = written & (np.array(one.units.start) >= pieces.start[step + 1])
    assert later.any() and not one.scores[later].any() and one.scores[~later].any()


def test_reference_texts_are_cut_in_the_middle():
    model = tiny_writing("gpt2")
    settings = FEW["retained_information"] | {"reference": ("A good film.", "Dull")}
    (one,) = pellucid.explain(
        model,
        [PAIR],
        "retained_information",
        target=pellucid.HiddenState(1, positions=(3,)),
        progress=False,
        **settings,
    )
    assert one.scores.any() and np.isfinite(one.scores).all()


@pytest.mark.parametrize("kind", TRANSLATORS)
def test_layers_are_counted_through_the_encoder_and_then_the_decoder(kind):
    model = tiny_writing(kind)
    assert model.n_layers == 4 and {"hidden_states", "attention"} <= model.capabilities
    (row,) = of_pairs(model, PAIR).rows
    with torch.no_grad():
        hidden = model.trace([row], STATES).hidden
    written = [piece for piece, type in enumerate(row.types) if type == 1]
    read = [piece for piece, type in enumerate(row.types) if type == 0]
    for layer in (1, 2):  # the encoder's: what is written waits
        torch.testing.assert_close(hidden[layer][0, written], hidden[0][0, written])
        assert not torch.equal(hidden[layer][0, read], hidden[layer - 1][0, read])
    torch.testing.assert_close(hidden[4][0, read], hidden[3][0, read])  # the decoder's: the source is read
    assert not torch.equal(hidden[4][0, written], hidden[3][0, written])
