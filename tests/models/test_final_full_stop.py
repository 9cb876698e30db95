"""A full stop at the end of a text is passed over once, wherever the tokenizer comes from, and offsets stay right."""

import copy
from dataclasses import replace

import pytest
import torch

from pellucid.models.classifiers.hugging_face import wrap
from pellucid.models.composed.composed import as_classifier, compose, save_composed, strip_final_full_stop
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import FAMILIES, LABELS, TOKENIZERS, tiny_composed, tiny_network

ENDS = {
    "A fine film.": "A fine film",
    "A fine film .  ": "A fine film",
    "A fine film": "A fine film",
    "Fine? Yes!": "Fine? Yes!",
    "Fine.. .": "Fine..",
    "One.\nTwo.": "One.\nTwo",
    ".": ".",
    " . ": ".",
}


def stripped(family):
    tokenizer = copy.deepcopy(TOKENIZERS[family]())
    strip_final_full_stop(tokenizer)
    return wrap(tiny_network(family), tokenizer)


def read(classifier, text):
    """What pieces cover of a single text, and of both texts of a pair with itself."""
    single, pair = classifier.encode(as_examples([text, (text, text)])).units
    covered = []
    for units, segment in ((single, 0), (pair, 0), (pair, 1)):
        places = [n for n in units.content if units.segment[n] == segment]
        covered.append(text[min(units.start[n] for n in places) : max(units.end[n] for n in places)].strip())
    return covered


@pytest.mark.parametrize("family", FAMILIES)
def test_one_full_stop_at_the_end_of_each_text_is_not_read(family):
    classifier = stripped(family)
    for text, expected in ENDS.items():
        assert read(classifier, text) == [expected] * 3, text


@pytest.mark.parametrize("family", ("bert", "roberta", "albert"))
def test_twice_is_once(family):
    tokenizer = copy.deepcopy(TOKENIZERS[family]())
    strip_final_full_stop(tokenizer)
    once = tokenizer.backend_tokenizer.to_str()
    strip_final_full_stop(tokenizer)
    assert tokenizer.backend_tokenizer.to_str() == once


def test_a_saved_model_remembers(tmp_path):
    """MiniLM's tokenizer loses it on the way to disk, others keep it; either way one full stop goes."""
    tiny, minilm = tiny_composed("span"), Plan("bilstm", "mean", {}, LABELS, strip_final_full_stop=True)
    network, tokenizer = compose(replace(minilm, strip_final_full_stop=False), 0)
    plan = Plan("tiny", "span", {}, LABELS, strip_final_full_stop=True)
    kinds = ((tiny.network, tiny.tokenizer, plan), (network.eval(), tokenizer, minilm))
    for number, (network, tokenizer, plan) in enumerate(kinds):
        reading_all = as_classifier(network, tokenizer, plan, "all").hash
        tokenizer = copy.deepcopy(tokenizer)
        strip_final_full_stop(tokenizer)
        save_composed(network, tokenizer, plan, tmp_path / str(number))
        loaded = load_classifier(tmp_path / str(number))
        saved = as_classifier(network, tokenizer, plan, "saved")
        assert read(loaded, "Fine..") == ["Fine."] * 3
        assert loaded.hash == saved.hash != reading_all


def test_explanations_leave_it_out_and_words_stay_where_they_are():
    network, tokenizer = compose(Plan("minilm", "span", {}, LABELS, strip_final_full_stop=True), 0)
    model = as_classifier(network.eval(), tokenizer, Plan("minilm", "span", {}, LABELS), "stripped")
    text = "Mr. Smith liked it ."
    (explanation,) = ask(model, [text], "span_attention")
    parts = explanation.units.parts
    assert [text[parts.start[n] : parts.end[n]] for n in parts.content] == ["Mr", ".", "Smith", "liked", "it"]
    with torch.no_grad():
        assert torch.equal(model.plain_logits(as_examples(text)[0]), model.plain_logits(as_examples(text[:-2])[0]))


def test_the_text_is_read_whole_unless_one_asks_for_it():
    (row,) = tiny_composed("span").encode(as_examples("A fine film.")).units
    assert row.labels[row.content[-1]] == "."
