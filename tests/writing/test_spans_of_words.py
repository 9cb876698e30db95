"""What a translator's own spans say of each word: parts of the model's own number, of nothing that comes later."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.models.translation.source_spans import span_vectors
from pellucid.models.translation.translator_folder import source_spans_of
from pellucid.text.example import Example
from tests.writing.conftest import PAIRS

pytestmark = pytest.mark.whole

PAIR = PAIRS[4]


@pytest.fixture(scope="module")
def model(either):
    return pellucid.load(either)


def literal_shares(model, logits, of_spans, ids, weights):
    """(share of each word, None where a piece of it does not lead; of Hund against Katze; the weights there), piece by
    piece.
    """
    words = pellucid.Word().resolve(model.encode([Example(PAIR)]), model).words[0]
    shares = []
    for word in words:
        through = lead = 0.0
        for piece in word.pieces:
            own = int(ids[piece])
            rival = max((id for id in range(len(logits[piece])) if id != own), key=lambda id: logits[piece, id])
            through += float(of_spans[piece, own] - of_spans[piece, rival])
            one = float(logits[piece, own] - logits[piece, rival])
            lead = lead + one if one > 0 else float("-inf")
        shares.append(through / lead if lead > 0 else None)
    other = model.tokenizer(PAIR[1].replace("Hund", "Katze"))["input_ids"]
    piece = next(number for number, (one, two) in enumerate(zip(ids.tolist(), other, strict=False)) if one != two)
    own, rival = int(ids[piece]), other[piece]
    named = (of_spans[piece, own] - of_spans[piece, rival]) / (logits[piece, own] - logits[piece, rival])
    return shares, float(named), weights[piece].numpy()


def test_a_words_number_is_the_decoders_part_and_the_spans_parts(model):
    """With a pass of our own: logit = U (d + A d) + sum of alpha U B t."""
    layer, network = source_spans_of(model.network), model.network
    ids = torch.tensor([model.tokenizer(PAIR[0])["input_ids"]])
    labels = torch.tensor([model.tokenizer(PAIR[1])["input_ids"]])
    seen = []
    remove = layer.register_forward_hook(lambda _, args, output: seen.append((*args, output)))
    with torch.no_grad():
        logits = network(input_ids=ids, labels=labels).logits
    remove.remove()
    ((states, source, _, written),) = seen
    reading = layer.choose(states, source, None)
    vectors = span_vectors(*layer.choose._folded(source), reading.places)
    head = network.get_output_embeddings().weight
    own = (states + layer.decoder_part(states)) @ head.T
    of_spans = torch.einsum("bts,bsw,vw->btv", reading.weights, layer.span_part(vectors), head)
    torch.testing.assert_close(own + of_spans, logits, rtol=1e-4, atol=1e-4)
    shares, named, weights = literal_shares(
        model, logits[0], of_spans[0].detach(), labels[0], reading.weights[0].detach()
    )
    whole = pellucid.explain(model, Example(PAIR), "span_attention")[0]
    for numbers, share in zip(whole.row_diagnostics, shares, strict=True):
        assert numbers.get("carried") == (None if share is None else pytest.approx(share, abs=1e-3))
    assert any(share is not None for share in shares)
    target = pellucid.Word("Hund", against="Katze")
    against = pellucid.explain(model, Example(PAIR), "span_attention", target=target)[0]
    assert against.diagnostics["carried_against"] == pytest.approx(named, abs=1e-3)
    assert "carried" not in against.diagnostics
    np.testing.assert_allclose(np.sort(against.scores)[-3:], np.sort(weights)[-3:], atol=1e-5)
    assert written.shape == states.shape


def test_weights_of_a_word_sum_to_one_and_lie_in_the_source(model):
    explanation = pellucid.explain(model, Example(PAIR), "span_attention")[0]
    np.testing.assert_allclose(explanation.scores.sum(-1), 1, atol=1e-5)
    assert list(explanation.rows[0][1]) == ["1 der", "2 Hund", "3 rennt", "4 am", "5 Strand"]
    for label in explanation.rows[0][1]:
        assert all(PAIR[0][span.start : span.end] == span.text for span in explanation.row(label).spans(3))
    words = explanation.words()
    assert set(words.units.segment) == {0}


def test_later_words_change_no_weight_of_earlier_ones(model):
    changed = (PAIR[0], "der Hund schläft am Strand")
    one, other = pellucid.explain(model, [Example(PAIR), Example(changed)], "span_attention")
    for label in ("1 der", "2 Hund"):
        np.testing.assert_allclose(one.row(label).scores, other.row(label).scores, atol=1e-6)
    assert not np.allclose(one.scores[4], other.scores[4])


def test_alone_is_as_among_others(either):
    together = pellucid.explain(pellucid.load(either), [Example(pair) for pair in PAIRS], "span_attention")
    for pair, one in zip(PAIRS, together, strict=True):
        alone = pellucid.explain(pellucid.load(either), Example(pair), "span_attention")[0]
        np.testing.assert_allclose(one.scores, alone.scores, atol=1e-5)


def test_one_word_and_the_text(model):
    whole = pellucid.explain(model, Example(PAIR), "span_attention")[0]
    one = pellucid.explain(model, Example(PAIR), "span_attention", target=pellucid.Word("Hund"))[0]
    np.testing.assert_allclose(one.scores, whole.row("2 Hund").scores, atol=1e-6)
    text = pellucid.explain(model, Example(PAIR), "span_attention", target=pellucid.Word("text"))[0]
    assert text.scores.sum() == pytest.approx(1, abs=1e-5)


def test_other_methods_explain_it_with_parity(model):
    for method in ("occlusion", "gradient_x_input", "integrated_gradients"):
        explanation = pellucid.explain(model, Example(PAIR), method)[0]
        assert explanation.diagnostics.get("parity", 0) < 1e-4
        assert np.abs(explanation.scores[0]).max() > 0


def test_terminal_and_page_show_the_spans_of_each_word(model, tmp_path):
    (done,) = pellucid.translate(model, PAIR[0])
    text = str(done.explanation)
    assert "2 Hund" in text and "through the spans" in text
    page = pellucid.report([done.explanation], path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The spans before each written word" in page and "Each of the 5 words" in page
