"""A model that chooses its words decides by those alone, the same words for every padding, and says which."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.run.trace import GateTrace
from pellucid.text.example import Example, as_examples
from pellucid.training.training_loss import set_threshold
from tests.reference.joined_windows import joined_states
from tests.shared.asking import ask
from tests.shared.tiny import tiny_composed

SETTINGS = (
    {},
    {"form": "hard_kuma"},
    {"unit": "piece"},
    {"generator": "lstm"},
    {"form": "hard_kuma", "generator": "lstm", "unit": "piece"},
)


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def chooser(request):
    """A tiny chooser that reads some words and not others."""
    return tiny_composed("rationale", **request.param)


def test_words_that_are_not_read_do_not_matter(chooser, texts):
    rows = chooser.encode(as_examples(texts[:1])).rows
    pieces = chooser.place(rows)["pieces"]
    with torch.no_grad():
        gates = chooser.network.choose(pieces)
        expected = chooser.network(pieces, gates).logits
        assert torch.equal(chooser.network(pieces).logits, expected)
        numbers = _piece_values(gates, pieces)
        other = pieces.input_ids.where(numbers > 0, 50)
        assert (other != pieces.input_ids).any()
        logits = chooser.network(replace(pieces, input_ids=other), gates).logits
        torch.testing.assert_close(logits, expected, rtol=0, atol=0)
        other = pieces.input_ids.where(numbers == 0, 50)
        assert not torch.allclose(chooser.network(replace(pieces, input_ids=other), gates).logits, logits)


def _piece_values(gates, pieces):
    """Each piece's gate, looked up one by one; special tokens are always read."""
    words, segments = pieces.word_index[0].tolist(), pieces.segments[0].tolist()
    of_parts, of_pieces, seen = gates.values[0].tolist(), [], []
    for piece, (word, segment) in enumerate(zip(words, segments, strict=True)):
        part = (segment, word if gates.unit == "word" else piece)
        if segment >= 0 and part not in seen:
            seen.append(part)
        of_pieces.append(1.0 if segment < 0 else of_parts[seen.index(part)])
    return torch.tensor([of_pieces])


def test_scores_say_what_is_read(chooser, texts):
    batch = chooser.encode(as_examples(texts))
    gates = chooser.trace(batch.rows).gates
    for number, explanation in enumerate(ask(chooser, texts, "rationale")):
        assert explanation.units.kind == gates.unit
        scores = explanation.scores[~explanation.special]
        assert ((scores > 0.5) == (gates.values[number, : len(scores)] > 0).numpy()).all()
        assert not explanation.scores[explanation.special].any()
        assert explanation.diagnostics["coverage"] == pytest.approx(float((scores > 0.5).mean()), abs=1e-6)


def test_what_is_absent_has_no_gate_and_moves_nothing(chooser, texts):
    """Rows with gaps give what the same row gives behind an attention mask."""
    batch = chooser.encode(as_examples(texts[3:4]))
    removed = [piece for word in batch.pieces_of(0, "word")[1:4] for piece in word]
    row = batch.edited(0, removed, "absent")
    outputs = []
    with torch.no_grad():
        for spread in (True, False):
            output = chooser.network(**chooser.inputs.arguments([row], spread).keywords())
            outputs.append((output.logits, output.gates.chances, output.gates.runs))
    for one, other in zip(*outputs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


LONG = "Long, winding and in the end rather dull. The second part asks for more patience. Avoid! A fine film it is not."
WINDOW = 24


@pytest.fixture(scope="module", params=({}, {"generator": "lstm", "unit": "piece"}), ids=str)
def of_documents(request):
    """A tiny chooser whose encoder reads fewer pieces at once than the texts have."""
    return tiny_composed("rationale", max_length=128, positions=WINDOW, **request.param)


def test_long_texts_are_read_through_the_gates_in_joined_windows(of_documents):
    """What is read are the words times their gates: written out with an encoder whose embeddings are changed so."""
    network = of_documents.network
    row = of_documents.encode(as_examples([LONG])).rows[0]
    assert len(row) > WINDOW and not row.windows
    pieces = of_documents.place([row])["pieces"]
    with torch.no_grad():
        gates = network.choose(pieces)
        values = _piece_values(gates, pieces)
        assert 0 < values.mean() < 1
        words = of_documents.embed(pieces.input_ids) * values[..., None]
        seen = []
        handle = network.pooler.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
        logits = network(pieces, gates).logits
        handle.remove()
        states = _joined_by_hand(of_documents, row, words[0])
        torch.testing.assert_close(seen[0][0], states, rtol=1e-4, atol=1e-5)
        vector = (states * values[0, :, None]).sum(0) / values.sum()
        torch.testing.assert_close(logits[0], network.head(vector), rtol=1e-4, atol=1e-5)


def _joined_by_hand(classifier, row, words):
    """The reference's joined states of a row whose word embeddings [piece width] are given."""
    embedding = classifier.embedding
    before = embedding.weight.data.clone()
    distinct = replace(row, ids=tuple(range(len(row))))  # one id a piece, so that every piece has a vector of its own
    try:
        embedding.weight.data[: len(row)] = words
        return joined_states(classifier, distinct, distinct, WINDOW)
    finally:
        embedding.weight.data.copy_(before)


def test_methods_keep_their_promises_on_long_texts(of_documents):
    examples = as_examples([LONG, "A fine film.", (LONG[:60], "Nobody could eat there.")])
    for method in ("rationale", "gradient_x_input", "integrated_gradients", "relevance", "occlusion"):
        together = ask(of_documents, examples, method)
        for example, explanation in zip(examples, together, strict=True):
            assert explanation.diagnostics["parity"] <= 1e-4 and "windows" not in explanation.diagnostics
            alone = ask(of_documents, [example], method)[0]
            room = 1e-4 * max(1.0, float(np.abs(alone.scores).max()))
            np.testing.assert_allclose(explanation.scores, alone.scores, rtol=0, atol=room)


@pytest.mark.parametrize("coverage", (0.1, 0.4, 0.8))
def test_the_threshold_keeps_coverage(chooser, texts, coverage):
    rows, pooler = chooser.encode(as_examples(texts)).rows, chooser.network.pooler
    before = pooler.threshold.clone(), pooler.coverage
    pooler.coverage = coverage
    set_threshold(chooser, rows)
    gates = chooser.trace(rows).gates
    pooler.coverage = before[1]
    pooler.threshold.copy_(before[0])
    read, words = int((gates.values > 0).sum()), int((gates.runs >= 0).sum())
    assert abs(read / words - coverage) <= 1 / words


def test_training_draws_gates_and_evaluation_does_not(chooser, texts):
    pieces = chooser.place(chooser.encode(as_examples(texts)).rows)["pieces"]
    network = chooser.network
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        assert torch.equal(network.choose(pieces).values, network.choose(pieces).values)
        network.train()
        drawn = [network.choose(pieces).values for _ in range(20)]
        network.eval()
    assert any(not torch.equal(drawn[0], other) for other in drawn)


def test_gradients_are_those_of_the_words_that_were_read(chooser, texts):
    example = as_examples(texts[:1])
    (read,) = ask(chooser, example, "rationale")
    (explanation,) = ask(chooser, example, "gradient")
    if chooser.network.pooler.unit == "word":
        explanation = explanation.words()
    gradients = np.abs(explanation.scores)
    assert (gradients[~explanation.special] > 0).tolist() == (read.scores[~read.special] > 0.5).tolist()
    assert any("held fixed" in caveat for caveat in explanation.caveats)


def test_changes_are_counted_within_a_text():
    chances = torch.tensor([[1.0, 0.0, 1.0, 1.0], [0.5, 0.5, 0.0, 0.0]])
    runs = torch.tensor([[0, 0, 1, 1], [0, 0, -1, -1]])
    gates = GateTrace(chances, chances, runs, "word")
    assert gates.expected_changes.tolist() == [0.25, 0.25]
    assert gates.expected_coverage.tolist() == [0.75, 0.5]
    assert gates.coverage.tolist() == [0.75, 0.0]


def test_gates_choose_from_both_texts_of_a_pair():
    chooser = tiny_composed("rationale")
    rows = chooser.encode([Example(("A fine film.", "A dull book."))]).rows
    runs = chooser.trace(rows).gates.runs[0]
    assert set(runs.tolist()) == {0, 1}


@pytest.mark.parametrize(
    "wrong",
    ({"coverage": 1.5}, {"coverage": -0.1}, {"form": "sparsemax"}, {"unit": "letter"}, {"generator": "cnn"}),
    ids=str,
)
def test_a_setting_that_makes_no_sense_raises(wrong):
    with pytest.raises(BadSetting):
        tiny_composed("rationale", **wrong)


def test_a_text_of_which_nothing_is_left_has_an_answer(chooser, texts):
    batch = chooser.encode(as_examples(texts))
    rows = [batch.edited(0, batch.units[0].content, "absent"), batch.rows[1]]
    with torch.no_grad():
        assert chooser.trace(rows).logits.isfinite().all()
        assert chooser.trace(rows[:1]).logits.isfinite().all()
