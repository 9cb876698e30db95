"""Decoders with a classification head are read at their last token: in any batch, with or without a padding token."""

import copy
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import ModelCannot
from pellucid.models.load import load_classifier
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.reference import attributions as literal
from tests.shared.asking import ask
from tests.shared.tiny import DECODERS, LABELS, save_tiny, tiny_classifier

LABEL = 1
TEXTS = ("A gripping, lovely film.", "fine", ("The café was closed.", "Nobody could eat there."))


@pytest.fixture(scope="module", params=DECODERS)
def decoder(request, tmp_path_factory):
    return load_classifier(save_tiny(tmp_path_factory.mktemp(request.param), request.param, LABELS))


def own_logits(classifier, text):
    """The user's own call."""
    segments = (text,) if isinstance(text, str) else text
    with torch.no_grad():
        return classifier.network(**literal.inputs_of(classifier, segments)).logits[0]


def alone(classifier, row):
    """The network's answer to the row's ids at its positions, alone and unpadded."""
    ids, places = torch.tensor([row.ids]), torch.tensor([row.positions])
    attended = torch.ones_like(ids)
    with torch.no_grad():
        return classifier.network(ids, attention_mask=attended, position_ids=places).logits[0]


def test_a_batch_gives_what_each_text_gives_alone(decoder, texts):
    rows = decoder.encode(as_examples(texts)).rows
    assert len({len(row) for row in rows}) > 3
    for logits, text in zip(decoder.trace(rows).logits, texts, strict=True):
        torch.testing.assert_close(logits, own_logits(decoder, text), rtol=0, atol=2e-5)


@pytest.mark.parametrize("side", ("left", "right"))
def test_the_tokenizers_padding_side_is_no_matter(decoder, side):
    before = decoder.tokenizer.padding_side
    expected = ask(decoder, TEXTS, "gradient")
    try:
        decoder.tokenizer.padding_side = side
        explanations = ask(decoder, TEXTS, "gradient")
    finally:
        decoder.tokenizer.padding_side = before
    for one, other in zip(explanations, expected, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("named", (None, -1, 0, 40))
def test_any_padding_token_of_the_configuration_is_answered_as_the_network_answers(decoder, named, texts):
    """Also where it is an ordinary token, at which texts may end: the network then reads the token before."""
    twin = copy.deepcopy(decoder)
    twin.network.config.pad_token_id = named
    ends = [twin.encode(as_examples([text])).rows[0].ids[-1] for text in texts]
    for number in {named, ends[0]} - {-1}:
        twin.network.config.pad_token_id = number
        every = twin.trace(twin.encode(as_examples(texts)).rows).logits
        for logits, text in zip(every, texts, strict=True):
            torch.testing.assert_close(logits, own_logits(twin, text), rtol=0, atol=2e-5)
        assert ask(twin, texts, "occlusion")


def test_a_text_that_spells_the_padding_token_keeps_parity():
    classifier = tiny_classifier("qwen2")
    pad = classifier.tokenizer.pad_token
    spelt = [f"A lovely film{pad}", f"A {pad} lovely film", f"A lovely film {pad}{pad}", pad, "A lovely film"]
    explanations = ask(classifier, spelt, "integrated_gradients", budget=1000)
    for explanation, text in zip(explanations, spelt, strict=True):
        assert explanation.diagnostics["parity"] <= 1e-5
        np.testing.assert_allclose(explanation.prediction.logits, own_logits(classifier, text), atol=1e-5)
    assert explanations[0].prediction.logits == pytest.approx(explanations[-1].prediction.logits, abs=1e-5)


def test_neither_the_network_nor_its_configuration_is_touched(decoder, texts):
    config, before = decoder.network.config, decoder.network.config.to_dict()
    ask(decoder, texts, "occlusion")
    assert decoder.network.config is config
    assert config.to_dict() == before


def test_a_configuration_shared_by_two_networks_in_two_threads_is_no_matter():
    one = tiny_classifier("gpt2")
    other = replace(one, network=copy.deepcopy(one.network))
    other.network.config = one.network.config
    with torch.no_grad():
        other.network.score.weight.mul_(-1)
    expected = {name: ask(model, TEXTS, "occlusion") for name, model in (("one", one), ("other", other))}
    by_model = {}

    def run(name, model):
        by_model[name] = [ask(model, TEXTS, "occlusion", budget=4 + n) for n in range(12)]

    threads = [threading.Thread(target=run, args=pair) for pair in (("one", one), ("other", other)) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, runs in by_model.items():
        for again in runs:
            for now, before in zip(again, expected[name], strict=True):
                np.testing.assert_allclose(now.scores, before.scores, atol=1e-5)


def test_absent_pieces_leave_the_row_that_is_left(decoder, texts):
    """The last token that is there is read, as if the text ended with it; positions of the others are kept."""
    batch = decoder.encode(as_examples(texts))
    rows = []
    for number, row in enumerate(batch.rows):
        content = batch.units[number].content
        rows += [batch.edited(number, removed, "absent") for removed in (content[-1:], content[: len(content) // 2])]
        rows += [batch.edited(number, [n for n in content[::2] if n != len(row) - 1], "absent")]
    together = decoder.trace(rows).logits
    for logits, row in zip(together, rows, strict=True):
        torch.testing.assert_close(logits, decoder.trace([row]).logits[0], rtol=0, atol=2e-5)
        gaps = row.positions != tuple(range(len(row)))
        if len(row) and not (gaps and "Mistral" in type(decoder.network).__name__):
            torch.testing.assert_close(logits, alone(decoder, row), rtol=0, atol=2e-5)


def test_a_window_of_attention_counts_absent_places(tmp_path_factory):
    """Mistral looks back over so many places: what is absent takes its place, as behind an attention mask."""
    classifier = tiny_classifier("mistral")
    assert [classifier.skips_gaps(length) for length in (16, 64)] == [True, False]
    batch = classifier.encode(as_examples(["A gripping, lovely film, and not a minute too long, says nobody."]))
    length = batch.lengths[0]
    removed = [n for n in batch.units[0].content[::2] if n != length - 1]
    inputs = literal.inputs_of(classifier, batch.examples[0].segments)
    with torch.no_grad():
        expected = literal.without(classifier, inputs, removed)
    logits = classifier.trace([batch.edited(0, removed, "absent")]).logits[0]
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)


def test_an_emptied_text_is_one_padding_token(decoder):
    batch = decoder.encode(as_examples(TEXTS))
    empty = [batch.edited(number, range(batch.lengths[number]), "absent") for number in range(len(batch))]
    assert not any(map(len, empty))
    with torch.no_grad():
        expected = decoder.network(input_ids=torch.tensor([[literal.pad_of(decoder)]])).logits[0]
        emptied_ = decoder.trace([*empty, *batch.rows]).logits[: len(empty)]
        alone_ = decoder.trace(empty[:1]).logits
    for logits in (*emptied_, *alone_):
        torch.testing.assert_close(logits, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("operator", ("absent", "delete", "pad"))
def test_occlusion_works_with_every_operator_that_needs_no_mask(decoder, operator):
    together = ask(decoder, TEXTS, ("occlusion", {"operator": operator}), budget=1000)
    for text, explanation in zip(TEXTS, together, strict=True):
        assert explanation.scores.any()
        single = ask(decoder, [text], ("occlusion", {"operator": operator}))[0]
        np.testing.assert_allclose(explanation.scores, single.scores, atol=2e-5)


def test_the_error_for_a_missing_mask_token_names_what_works(decoder):
    with pytest.raises(ModelCannot, match="no mask token; use the operator 'absent' or 'delete'"):
        ask(decoder, TEXTS, ("occlusion", {"operator": "mask"}))
    with pytest.raises(ModelCannot, match="no mask token; use baselines='zero'"):
        ask(decoder, TEXTS, ("integrated_gradients", {"baselines": "mask"}))


def test_without_any_token_for_nothing_the_error_says_what_works():
    classifier = tiny_classifier("gpt2")
    classifier = replace(classifier, tokenizer=without_specials(classifier.tokenizer))
    assert ask(classifier, TEXTS, "occlusion")
    assert ask(classifier, TEXTS, ("integrated_gradients", {"baselines": "zero"}))
    with pytest.raises(ModelCannot, match="no pad token; use baselines='zero'"):
        ask(classifier, TEXTS, "integrated_gradients")


def without_specials(tokenizer):
    bare = copy.deepcopy(tokenizer)
    bare.eos_token = bare.bos_token = bare.unk_token = None
    return bare


def test_units_without_special_tokens():
    classifier = tiny_classifier("gpt2")
    explanations = ask(classifier, TEXTS, "integrated_gradients")
    for explanation in explanations:
        assert not explanation.special.any()
        assert explanation.scores.all()


def test_later_pieces_change_nothing_before_them_and_the_last_is_read(decoder):
    """Attention is causal: the hidden states of a beginning do not depend on what follows, and all depend on the
    last.
    """
    batch = decoder.encode(as_examples(TEXTS[:1]))
    explanation = ask(decoder, TEXTS[:1], ("occlusion", {"unit": "piece"}), target=Target(LABEL))[0]
    assert explanation.scores[-1] != 0
    shorter = batch.edited(0, [batch.lengths[0] - 1], "absent")
    fall = own_logits(decoder, TEXTS[0])[LABEL] - alone(decoder, shorter)[LABEL]
    assert explanation.scores[-1] == pytest.approx(float(fall), abs=2e-5)


def test_long_texts_are_read_in_windows_each_at_its_last_token(decoder):
    text = "A gripping, lovely film that repays patience. " * 12
    short = replace(decoder, window=40)
    explanation = ask(short, [text, "fine"], "occlusion")[0]
    assert explanation.diagnostics["windows"] > 1
    rows = short.encode(as_examples([text])).rows
    whole = literal.inputs_of(decoder, (text,))["input_ids"][0]
    answers = []
    with torch.no_grad():
        for window in rows[0].windows:
            ids = torch.cat([whole[first:last] for first, last in window])[None]
            answers.append(decoder.network(ids).logits[0])
    mean = torch.stack(answers).mean(0)
    torch.testing.assert_close(torch.tensor(explanation.prediction.logits), mean, rtol=0, atol=2e-5)


@pytest.mark.parametrize("dtype", ("bfloat16", "float64"))
def test_other_number_types(dtype, tmp_path):
    classifier = load_classifier(save_tiny(tmp_path, "llama", LABELS), dtype=dtype)
    for method in ("occlusion", "gradient"):
        assert all(np.isfinite(explanation.scores).all() for explanation in ask(classifier, TEXTS, method))
