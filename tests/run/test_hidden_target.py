"""A hidden state as target: the state that transformers itself shows, by every method that takes a target."""

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.explaining.explain import explain
from pellucid.models.classifiers.function import from_function
from pellucid.run.hidden_target import HiddenState
from pellucid.run.windows import in_windows
from pellucid.text.example import as_examples
from tests.shared.asking import FEW, ask, ask_all, reads_states
from tests.shared.tiny import FAMILIES, tiny_classifier

TEXT = "A gripping, lovely film."
PAIR = ("The café was closed.", "Nobody could eat there.")
BLIND = {
    "attention",
    "attention_heads",
    "attention_norm",
    "rationale",
    "span_attention",
    "chance",
    "unit_attention",
    "information_bottleneck",
    "linear_coefficients",
}  # the last two have no states or refuse them; the others' scores are the same for every target


def states_of(model, segments, layer):
    """[piece width]: the states of the single text that transformers returns."""
    inputs = model.tokenizer(*segments, return_tensors="pt")
    with torch.no_grad():
        return model.network(**inputs, output_hidden_states=True).hidden_states[layer][0]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_value_is_the_length_of_the_models_own_state(family):
    model = tiny_classifier(family)
    states = [states_of(model, segments, 2) for segments in ((TEXT,), PAIR)]
    for positions, places in (("first", [0]), ("last", [-1]), ((1, 2), [1, 2])):
        explanations = ask(model, [TEXT, PAIR], "gradient", target=HiddenState(2, positions))
        for one, state in zip(explanations, states, strict=True):
            assert one.target.value == pytest.approx(float(state[places].mean(0).norm()), rel=1e-4), positions
            assert str(one.target).startswith("hidden state") and str(one.target).endswith("of layer 2")


def test_positions_in_a_list_are_those_in_a_tuple(bert):
    target = HiddenState(2, [1, 2])
    assert target == HiddenState(2, (1, 2))
    scores = [ask(bert, [TEXT], "gradient", target=one)[0].scores for one in (target, HiddenState(2, (1, 2)))]
    assert np.array_equal(*scores)
    with pytest.raises(BadSetting, match="names piece 50"):
        ask(bert, [TEXT], "gradient", target=HiddenState(2, [50]))


@pytest.mark.parametrize("method", [name for name in attributions.names() if name not in BLIND])
def test_every_method_explains_a_state_alone_and_in_a_batch(method, having, fresh, texts):
    model = having(method)
    choice, target = (method, FEW.get(method, {})), HiddenState(1)
    some, other_model = texts[:3], fresh(model)
    together = ask(model, some, choice, target=target)
    of_class = ask(model, some, choice)
    for text, one, other in list(zip(some, together, of_class, strict=True))[::-1]:
        alone = ask(other_model, [text], choice, target=target)[0]
        room = 1e-5 * max(1.0, float(np.abs(alone.scores).max()))
        np.testing.assert_allclose(one.scores, alone.scores, rtol=0, atol=room)
        # The first steps of a mask have one size, whatever the gradient; what reads states explains no class.
        if method != "preservation_mask" and not reads_states(method):
            assert not np.allclose(one.scores, other.scores), "the state is explained, not the class"


def project(model, segments, layer, direction, embeddings=None):
    inputs = model.tokenizer(*segments, return_tensors="pt")
    table = model.network.get_input_embeddings()
    handle = table.register_forward_hook(lambda _, __, out: out if embeddings is None else embeddings)
    try:
        states = model.network(**inputs, output_hidden_states=True).hidden_states[layer][0]
    finally:
        handle.remove()
    content = [n is not None for n in model.tokenizer(*segments).sequence_ids(0)]
    return states[content].mean(0), (states[content].mean(0) * direction).sum()


def test_the_gradient_is_that_of_the_length_along_the_texts_own_direction(bert):
    state, _ = project(bert, (TEXT,), 2, torch.zeros(1))
    direction = (state / state.norm()).detach()
    inputs = bert.tokenizer(TEXT, return_tensors="pt")
    words = bert.network.get_input_embeddings()(inputs["input_ids"]).detach().requires_grad_()
    _, value = project(bert, (TEXT,), 2, direction, words)
    gradient = torch.autograd.grad(value, words)[0][0]
    explanation = ask(bert, [TEXT], "gradient", target=HiddenState(2))[0]
    np.testing.assert_allclose(explanation.scores, gradient.norm(dim=-1), rtol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_occlusion_reads_the_state_of_what_is_left(family):
    """Also in families whose absent pieces stay in the row and are masked."""
    model = tiny_classifier(family)
    batch = model.encode(as_examples([TEXT]))
    explanation = ask(model, [TEXT], ("occlusion", {"unit": "piece"}), target=HiddenState(2))[0]
    whole = model.trace(batch.rows, HiddenState(2).readout.want).hidden[2][0].detach()
    content = list(batch.units[0].content)
    state = whole[content].mean(0)
    direction = state / state.norm()
    for removed in content:
        columns = model.inputs.arguments(batch.rows, spread=True).columns
        columns["attention_mask"][0, removed] = 0  # the literal way: everything computed, one piece not attended
        with torch.no_grad():
            states = model.network(**columns, output_hidden_states=True).hidden_states[2][0]
        left = states[[piece for piece in content if piece != removed]].mean(0)
        expected = float((state - left) @ direction)
        assert explanation.scores[removed] == pytest.approx(expected, abs=2e-4 * max(1.0, float(state.norm())))


def test_blocks_above_the_state_do_not_run_for_variants(bert):
    calls = []
    handles = [
        block.register_forward_hook(lambda *_, number=number: calls.append(number))
        for number, block in enumerate(bert.blocks)
    ]
    try:
        ask(bert, [TEXT], "occlusion", target=HiddenState(1))
    finally:
        for handle in handles:
            handle.remove()
    assert calls.count(0) > calls.count(2) > 0


def test_a_state_of_removed_pieces_is_zero(bert):
    batch = bert.encode(as_examples([TEXT]))
    readout = HiddenState(1, (2,)).readout
    row = batch.edited(0, [2], "absent")
    assert readout.answers(bert.trace([row], readout.want), [row]).abs().max() == 0


LONG = " ".join(f"{word} number {number}" for number, word in enumerate(["gripping", "dull", "lovely"] * 40))


def windows_of(model, text=LONG):
    """For each window of a text the numbers of its pieces."""
    return in_windows(model.encode(as_examples([text])))[0].parts


def state_in(model, pieces, place, layer, removed=(), text=LONG):
    """[width]: the state of a piece that transformers returns for a window read by itself, without the deleted
    pieces.
    """
    ids = torch.tensor(model.tokenizer(text)["input_ids"])
    left = [piece for piece in pieces if piece not in removed]
    with torch.no_grad():
        states = model.network(ids[left][None], output_hidden_states=True).hidden_states[layer]
    return states[0, left.index(place)]


@pytest.mark.parametrize("family", ("bert", "roberta", "gpt2"))
def test_positions_of_a_long_text_are_the_texts(family):
    """A piece in one window is read there, a piece in two windows in both; other windows read nothing."""
    model = tiny_classifier(family)
    parts = windows_of(model)
    early, late = (3, parts[-1][-5])
    [both] = sorted(set(parts[0]) & set(parts[1]) - set(parts[2]))[:1]
    for place in (early, both, late):
        holding = [pieces for pieces in parts if place in pieces]
        assert len(holding) == 1 + (place == both)
        sizes = [float(state_in(model, pieces, place, 1).norm()) for pieces in holding]
        explanation = ask(model, [LONG], "gradient", target=HiddenState(1, (place,)))[0]
        assert explanation.target.value == pytest.approx(np.mean(sizes), rel=1e-4)
        pieces_in_parts = {piece for pieces in holding for piece in pieces}
        assert set(np.flatnonzero(explanation.scores)) <= pieces_in_parts
        assert explanation.scores[place] > 0
        assert explanation.diagnostics["windows"] == len(parts)
        assert any(f"{len(holding)} of {len(parts)} windows" in caveat for caveat in explanation.caveats)


@pytest.mark.parametrize("operator", ("absent", "mask", "delete"))
def test_a_state_of_a_long_text_is_read_where_the_piece_went(operator):
    """Only a window with the piece is read, and there by the piece's own number."""
    model = tiny_classifier("bert")
    parts = windows_of(model)
    place = parts[1][60]
    choice = ("occlusion", {"unit": "piece", "operator": operator})
    explanation = ask(model, [LONG], choice, target=HiddenState(2, (place,)))[0]
    [holding] = [pieces for pieces in parts if place in pieces]
    whole = state_in(model, holding, place, 2)
    assert (
        explanation.scores[place] == pytest.approx(float(whole.norm()), rel=1e-4) or operator == "mask"
    )  # a mask has a state
    assert not explanation.scores[[n for n in range(len(explanation.scores)) if n not in holding]].any()
    if operator == "delete":
        for removed in holding[50:58]:
            left = state_in(model, holding, place, 2, {removed})
            assert explanation.scores[removed] == pytest.approx(
                float((whole - left) @ whole / whole.norm()), abs=2e-4 * float(whole.norm())
            )


def test_first_and_last_of_a_long_text_are_the_texts(models):
    """A decoder reads no special tokens: the text's first piece is in one window, and so is its last."""
    for family, windows in (("gpt2", 1), ("bert", None)):
        model = models[family]
        parts = windows_of(model)
        for positions, where in (("first", 0), ("last", -1)):
            place = parts[where][where]
            explanation = ask(model, [LONG], "gradient", target=HiddenState(1, positions))[0]
            holding = [pieces for pieces in parts if place in pieces]
            assert len(holding) == (windows or len(parts))
            sizes = [float(state_in(model, pieces, place, 1).norm()) for pieces in holding]
            assert explanation.target.value == pytest.approx(np.mean(sizes), rel=1e-4)


def test_a_removed_piece_has_no_state_though_another_moves_to_its_position(bert):
    """Deleting closes positions up: the named piece is looked for by its number in the text as it was."""
    batch = bert.encode(as_examples([TEXT]))
    readout = HiddenState(1, (2,)).readout
    removed, moved = (batch.edited(0, [number], "delete") for number in (2, 1))
    assert readout.answers(bert.trace([removed], readout.want), [removed]).abs().max() == 0
    trace = bert.trace([moved], readout.want)
    torch.testing.assert_close(readout.answers(trace, [moved])[0], trace.hidden[1][0, 1])


def test_rows_that_differ_only_in_the_numbers_of_their_pieces_have_answers_of_their_own(bert):
    """Either of two equal pieces of a word can be deleted: the rows that remain are equal except for the numbers of
    their pieces.
    """
    row = bert.encode(as_examples(["zzz film"])).rows[0]
    assert (row.ids[2], row.word_index[2]) == (row.ids[3], row.word_index[3])
    explanation = ask(
        bert,
        ["zzz film"],
        ("occlusion", {"unit": "piece", "operator": "delete"}),
        target=HiddenState(1, (2,)),
    )[0]
    assert explanation.scores[2] == pytest.approx(explanation.target.value, rel=1e-5)
    assert abs(explanation.scores[3]) < 0.9 * explanation.target.value


def test_a_method_that_reads_no_target_scores_the_whole_text_all_the_same(bert):
    target, methods = HiddenState(1, (3,)), [("chance", {"n_draws": 3}), "gradient"]
    both = ask_all(bert, [TEXT, LONG], methods, target=target)
    for method, explanations in zip(methods, both.values(), strict=True):
        for one, other in zip(explanations, ask(bert, [TEXT, LONG], method, target=target), strict=True):
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
    own = next(iter(both.values()))
    for one, other in zip(own, ask(bert, [TEXT, LONG], methods[0]), strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


def test_short_and_long_texts_together_keep_their_positions(bert):
    place = windows_of(bert)[1][60]
    target = HiddenState(1, "first")
    texts = [TEXT, LONG, "fine"]
    for text, one in zip(texts, ask(bert, texts, "gradient", target=target), strict=True):
        np.testing.assert_allclose(one.scores, ask(bert, [text], "gradient", target=target)[0].scores, atol=1e-5)
    with pytest.raises(BadSetting, match=f"positions names piece {place}"):
        ask(bert, texts, "gradient", target=HiddenState(1, (place,)))
    with pytest.raises(BadSetting, match="positions names piece 9999"):
        ask(bert, [LONG], "gradient", target=HiddenState(1, (3, 9999)))


def test_layer_zero_is_what_the_first_block_reads(bert):
    explanation = ask(bert, [TEXT], "gradient", target=HiddenState(0, "first"))[0]
    assert explanation.target.value == pytest.approx(float(states_of(bert, (TEXT,), 0)[0].norm()), rel=1e-5)
    assert np.flatnonzero(explanation.scores).tolist() == [0]


@pytest.mark.parametrize(
    "make_state, message",
    [
        (lambda: HiddenState(-1), "layer=-1"),
        (lambda: HiddenState("two"), "whole number"),
        (lambda: HiddenState(np.zeros(3)), "whole number"),
        (lambda: HiddenState(1, "middle"), "middle"),
        (lambda: HiddenState(1, ()), "numbers of pieces"),
        (lambda: HiddenState(1, (-1,)), "numbers of pieces"),
    ],
)
def test_impossible_states_say_what_is_possible(make_state, message):
    with pytest.raises(BadSetting, match=message):
        make_state()


def test_a_layer_or_piece_that_is_not_there(bert):
    with pytest.raises(BadSetting, match="give a number from 0 to 3, or all"):
        explain(bert, [TEXT], "gradient", target=HiddenState(4))
    with pytest.raises(BadSetting, match="positions names piece 99"):
        explain(bert, [TEXT], "gradient", target=HiddenState(1, (99,)))
    with pytest.raises(BadSetting, match="no probability"):
        explain(bert, [TEXT], "gradient", target=HiddenState(1), output="probability")


def test_a_function_of_texts_has_no_states():
    model = from_function(lambda texts: np.tile([0.0, 1.0], (len(texts), 1)), labels=("a", "b"))
    with pytest.raises(ModelCannot, match="no hidden states"):
        explain(model, [TEXT], "occlusion", target=HiddenState(1))
