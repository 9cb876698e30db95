"""Concepts of a tiny model: names above chance alone, effects as by hand, folders that go on, and plain sentences."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.base.kinds import concept_judges
from pellucid.discovery import states as state_parts
from pellucid.discovery.effects import concept_pass
from pellucid.discovery.naming import standing_out
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.states import StateSample
from pellucid.drawing.wording import signed
from pellucid.text.example import as_examples
from tests.drawing.test_escaping import harmless
from tests.hostile.command_line import run
from tests.shared.moments import files_of
from tests.shared.sample_results import HOSTILE
from tests.shared.tiny import LABELS, save_tiny

FEW = {"n": 4, "n_texts": 6, "progress": False}
TEXT = "A gripping, lovely film about dull people."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder, labels=LABELS)
    return folder


@pytest.fixture(scope="module")
def texts():
    return [example.text for example in pellucid.examples("pocket", "train")[:60]]


@pytest.fixture(scope="module")
def learnt(folder, texts):
    return pellucid.find_concepts(folder, [*texts, HOSTILE], 1, method="svd", **FEW)


def test_a_word_stands_out_where_it_has_more_than_chance_and_noise_has_no_name():
    rng = np.random.default_rng(0)
    words = [[f"word{number}"] for number in rng.integers(40, size=2000)]
    places = np.stack([np.arange(2000), *np.zeros((3, 2000), int)], axis=1)
    activations = rng.exponential(size=(2000, 20))
    activations[[word == ["word7"] for word in words], 0] += 2
    stands = standing_out(activations, StateSample(np.zeros((2000, 1)), places, 2000), words, 0)
    assert [word.word for word in stands[0].words] == ["word7"]
    assert sum(bool(concept.words) for concept in stands[1:]) <= 3


def test_a_word_of_two_texts_names_nothing_however_often_it_stands_there():
    words = [["rare"]] * 50 + [["usual"]] * 50
    places = np.stack([np.r_[np.zeros(25), np.ones(25), np.arange(50)], *np.zeros((3, 100))], axis=1).astype(int)
    activations = np.r_[np.ones(50), np.zeros(50)][:, None]
    (stands,) = standing_out(activations, StateSample(np.zeros((100, 1)), places, 100), words, 0)
    assert "rare" not in [word.word for word in stands.words]


@pytest.mark.parametrize("level", ["word", "text"])
def test_an_answer_without_a_concept_is_the_librarys_own_from_changed_states(folder, texts, level):
    """The layer's output is changed by a hook of PyTorch's, beside everything of ours."""
    concepts = pellucid.find_concepts(folder, texts, 1, method="nmf", level=level, **FEW)
    result = pellucid.text_concepts(folder, TEXT, concepts)
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    read = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    tested = concept_pass(pellucid.load(folder), as_examples([TEXT]), 1, level, concepts.dictionary)
    number = result.concepts[0].id - 1
    part = tested.activations[..., number, None] * torch.from_numpy(concepts.dictionary.atoms[number])
    assert part.abs().max() > 0 and part[:, 0].abs().max() == 0  # special tokens keep their states
    own = network(**read).logits[0]
    with_hook = network.bert.encoder.layer[0].register_forward_hook(lambda *call: _less(call[-1], part))
    without = network(**read).logits[0]
    with_hook.remove()
    answered = LABELS.index(result.label)
    assert result.concepts[0].removal == pytest.approx(float((own - without)[answered].detach()), abs=1e-5)


def _less(output, part):
    return (output[0] - part, *output[1:]) if isinstance(output, tuple) else output - part


def test_contributions_add_up_to_the_answer_less_the_error_of_the_reconstruction(folder, learnt):
    result = pellucid.text_concepts(folder, TEXT, learnt)
    total = result.rest + result.gap + result.error + sum(concept.by_path for concept in result.concepts)
    assert total == pytest.approx(result.answer, abs=1e-5)
    assert abs(result.gap) < 0.01 * max(abs(result.answer - result.rest), 0.1)
    tested = concept_pass(pellucid.load(folder), as_examples([TEXT]), 1, "word", learnt.dictionary)
    rebuilt = tested.values_at([partial(tested.along, 1.0)])[0, 0]
    assert result.answer - result.error == pytest.approx(float(rebuilt), abs=1e-5)


def test_interrupted_work_goes_on_and_ends_with_the_same_bytes(folder, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(state_parts, "PART", 16)
    find = partial(pellucid.find_concepts, folder, texts, 1, method="svd", **FEW)
    whole = find(out=tmp_path / "whole")

    def interrupt(stage, done, total):
        if done >= 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find(out=tmp_path / "cut", progress=interrupt)
    assert (tmp_path / "cut" / "parts" / "0001.safetensors").exists()
    assert (
        find(out=tmp_path / "cut") == whole == LearntConcepts.read(tmp_path / "cut") == pellucid.read(tmp_path / "cut")
    )
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")
    (tmp_path / "cut" / "concepts.safetensors").write_bytes(b"")
    with pytest.raises(BadFile, match="find them anew"):
        LearntConcepts.read(tmp_path / "cut")
    with pytest.warns(Warning, match="Made again"):
        assert find(out=tmp_path / "cut") == whole
    with pytest.raises(BadFile, match="another search for concepts"):
        find(out=tmp_path / "cut", n=3)


def test_a_sample_of_states_has_about_the_wanted_size_and_is_of_all_texts(folder, texts):
    few = pellucid.find_concepts(folder, texts, 1, method="svd", most_states=100, **FEW)
    assert 60 < few.about["states"] < 140 < few.about["states of all texts"]


def test_pages_and_prints_show_every_concept_and_no_text_becomes_markup(folder, learnt, tmp_path):
    result = pellucid.text_concepts(folder, HOSTILE, learnt)
    for drawn in (learnt, result):
        page = pellucid.report(drawn, path=tmp_path / "page.html").read_text(encoding="utf-8")
        harmless(page.removeprefix("<!doctype html>"))
        assert "\x1b" not in str(drawn)
        for concept in drawn.concepts:
            assert f"{concept.id} " in str(drawn) and concept.name in page
    assert json.loads(json.dumps(learnt.record()))["concepts"][0]["id"] == 1


def test_what_lies_below_rounding_is_printed_as_nothing(folder, learnt):
    result = pellucid.text_concepts(folder, TEXT, learnt)
    largest = max(abs(part) for part in (result.answer, result.rest, *(each.by_path for each in result.concepts)))
    first, *rest = result.concepts
    tiny = replace(first, activation=1.0, by_path=-3e-8 * largest, by_gradient=1e-4 * largest)
    result = replace(result, concepts=(tiny, *rest), gap=2e-9)
    for drawn in (str(result), result._repr_html_()):
        assert all(signed(value) not in drawn for value in (tiny.by_path, result.gap))
        assert "0.00" in drawn and signed(tiny.by_gradient) in drawn


def test_the_command_finds_asks_and_refuses(folder, texts, tmp_path):
    data, out = tmp_path / "texts.jsonl", tmp_path / "out"
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    small = ["--n", "3", "--n-texts", "4", "--method", "svd", "--out", str(out)]
    status, printed, err = run(["concepts", "find", str(folder), str(data), "--layer", "1", *small])
    assert status == 0, err
    assert "3 concepts have a name" in " ".join(printed.split())
    status, printed, _ = run(["concepts", str(folder), TEXT, "--learnt", str(out)])
    assert status == 0 and "without concepts" in printed
    status, printed, _ = run(["compare", str(folder), str(data), "--learnt", str(out), "--json"])
    assert status == 0 and len(json.loads(printed)["verdicts"]) == len(concept_judges.names())
    for words, sentence in (
        (["compare", str(folder), str(data), "--learnt", str(out), "--methods", "gradient"], "--methods"),
        (["concepts", str(folder), TEXT], "--word W"),
        (["concepts", str(folder), TEXT, "--learnt", str(out), "--most", "3"], "--most"),
        (["concepts", str(folder), TEXT, "--learnt", str(tmp_path / "none")], "holds no concepts"),
    ):
        status, _, err = run(words)
        assert status == 2 and sentence in err


def test_what_cannot_have_concepts_is_refused_in_a_sentence(folder, texts, learnt):
    function = pellucid.from_function(lambda batch: [[0.0, 1.0]] * len(batch), ["a", "b"])
    with pytest.raises(ModelCannot, match="shows no hidden states"):
        pellucid.find_concepts(function, texts, 1, **FEW)
    with pytest.raises(BadSetting, match="layer=9 is no layer"):
        pellucid.find_concepts(folder, texts, 9, **FEW)
    with pytest.raises(BadInput, match="more texts"):
        pellucid.find_concepts(folder, texts[:4], 1, level="text", **FEW)
    twin = pellucid.load(folder)
    with torch.no_grad():
        next(iter(twin.network.parameters())).add_(1.0)
    with pytest.raises(BadFile, match="with other weights"):
        pellucid.text_concepts(twin, TEXT, learnt)
