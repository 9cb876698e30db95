"""A translator is trained, saved, loaded and gone on with: the same bytes, whatever came between."""

import filecmp
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot, UnknownName
from pellucid.text.example import Example
from pellucid.writing import train_translator as loop
from pellucid.writing.translation_loss import batches, epoch_order
from tests.shared.tiny_writing import tiny_writing
from tests.writing.conftest import LSTM, PAIRS, SETTINGS, SHORT, parts

pytestmark = pytest.mark.whole


def test_it_learns_its_pairs_and_comes_back_from_its_folder(either):
    model = pellucid.load(either)
    written = pellucid.translate(model, [source for source, _ in PAIRS])
    assert [one.text for one in written] == [target for _, target in PAIRS]
    assert not any(one.is_cut for one in written)
    assert "span_weights" in model.capabilities
    assert sorted(path.name for path in either.iterdir()) == [
        "config.json",
        "metrics.jsonl",
        "model.safetensors",
        "pellucid-manifest.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "trained_texts.txt",
    ]


def test_beam_one_is_greedy_search(either):
    model = pellucid.load(either)
    (written,) = pellucid.translate(model, "a dog sees the beach", beam=1)
    ids = model.tokenizer("a dog sees the beach", return_tensors="pt")
    decoded = [model.network.config.decoder_start_token_id]
    with torch.no_grad():
        for _ in range(128):
            decoder = torch.tensor([decoded])
            logits = model.network(**ids, decoder_input_ids=decoder, use_cache=False).logits
            decoded.append(int(logits[0, -1].argmax()))
            if decoded[-1] == model.tokenizer.eos_token_id:
                break
    assert written.text == model.tokenizer.decode(decoded, skip_special_tokens=True).strip()


@pytest.mark.parametrize("network", [{}, LSTM], ids=["transformer", "lstm"])
def test_an_interrupted_training_ends_with_the_same_bytes(tmp_path, monkeypatch, network):
    recipe = SHORT | network
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    pellucid.train_translator(parts(), out=whole, **recipe)
    step = loop._step
    for last in (1, 4, 5, 8):  # in an epoch, at its end, in the next one

        def until(run, optimizer, indices, done, last=last):
            if done == last:
                raise KeyboardInterrupt
            return step(run, optimizer, indices, done)

        monkeypatch.setattr(loop, "_step", until)
        with pytest.raises(KeyboardInterrupt):
            pellucid.train_translator(parts(), out=cut, **recipe)
        assert not (cut / "config.json").exists()
    monkeypatch.setattr(loop, "_step", step)
    pellucid.train_translator(parts(), out=cut, **recipe)
    names = sorted(path.name for path in whole.iterdir())
    assert names == sorted(path.name for path in cut.iterdir())
    assert filecmp.cmpfiles(whole, cut, names, shallow=False)[0] == names


def test_the_process_keeps_its_random_state(tmp_path):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    pellucid.train_translator(parts(), out=tmp_path / "en-de", **SHORT)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_finished_folder_is_loaded_and_another_training_refused(tmp_path):
    folder = tmp_path / "en-de"
    first = pellucid.train_translator(parts(), out=folder, **SHORT)
    assert pellucid.train_translator(parts(), out=folder, **SHORT).hash == first.hash
    with pytest.raises(BadFile, match=r"trained otherwise \(recipe.seed was 0 and is 1\)"):
        pellucid.train_translator(parts(), out=folder, **SHORT, seed=1)
    with pytest.raises(BadFile, match=r"trained otherwise \(with other pairs\)"):
        pellucid.train_translator(parts(7), out=folder, **SHORT)
    weights = load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    assert config["trained"]["pairs"] == 8 and len(config["trained"]["history"]) == 3
    assert config["source_spans"]["after"] == 1 and any("source_spans" in name for name in weights)


def test_the_model_is_the_mean_of_the_last_epochs_up_to_the_best(tmp_path, monkeypatch):
    seen = {}
    mean = loop.TranslatorOut.load_mean

    def watched(out, network, epochs, seal):
        for epoch in epochs:
            seen[epoch] = load_file(out.epoch_weights(epoch, seal).path)
        mean(out, network, epochs, seal)

    monkeypatch.setattr(loop.TranslatorOut, "load_mean", watched)
    model = pellucid.train_translator(parts(), out=tmp_path / "en-de", **SHORT, averaged=2)
    assert len(seen) == 2  # the loss falls in all three epochs
    name = "model.decoder.source_spans.span_part.weight"
    expected = sum(weights[name].double() for weights in seen.values()) / 2
    torch.testing.assert_close(model.network.state_dict()[name], expected.float())


def test_a_plain_twin_has_no_spans(tmp_path):
    model = pellucid.train_translator(parts(), out=tmp_path / "plain", pooler="none", **SHORT)
    assert "span_weights" not in model.capabilities
    assert pellucid.translate(model, "a dog", max_pieces=3)[0].explanation is None
    with pytest.raises(ModelCannot, match="has no span weights"):
        pellucid.explain(model, Example(PAIRS[0]), "span_attention")


def test_another_translator_is_upgraded(tmp_path):
    old = tiny_writing("bart")
    old.network.save_pretrained(tmp_path / "bart")
    old.tokenizer.save_pretrained(tmp_path / "bart")
    few = {"train": [("A good film.", "A fine story.")] * 2, "dev": [("A film.", "A story.")]}
    recipe = {"epochs": 1, "progress": False, "precision": "float32"}
    model = pellucid.train_translator(few, out=tmp_path / "new", start_from=tmp_path / "bart", **recipe)
    settings = json.loads((tmp_path / "new" / "config.json").read_text())["source_spans"]
    assert (settings["before"], settings["after"]) == (1, 1)
    explanation = pellucid.explain(model, Example(("A good film.", "A fine story.")))[0]
    assert explanation.method == "span_attention"
    assert all(span.text in "A good film." for span in explanation.row("1 A").spans(3))


def test_batches_fill_their_pieces_and_every_epoch_has_as_many():
    lengths = [3, 9, 4, 4, 30, 2, 7, 7, 5, 3]
    cut = batches(lengths, 14)
    assert sorted(index for batch in cut for index in batch) == list(range(10))
    assert all(len(batch) * max(lengths[i] for i in batch) <= 14 or len(batch) == 1 for batch in cut)
    orders = [epoch_order(lengths, 14, 0, epoch) for epoch in range(4)]
    assert {len(order) for order in orders} == {len(cut)} and orders[0] != orders[1]
    assert orders[0] == epoch_order(lengths, 14, 0, 0)


def refused(tmp_path, error, message, pairs=None, **settings):
    with pytest.raises(error, match=message):
        pellucid.train_translator(pairs or parts(), out=tmp_path / "en-de", **SHORT | settings)
    assert not (tmp_path / "en-de").exists()


def test_what_does_not_fit_is_refused_before_the_work(tmp_path):
    one = {"train": ["a dog", "a cat"], "dev": ["a cat"]}
    refused(tmp_path, BadInput, "has one text; a translator learns from pairs", one)
    long = {"train": [("a " * 600, "ein")], "dev": [("a", "ein")]}
    refused(tmp_path, BadInput, "leave such pairs out, or shorten them", long)
    refused(tmp_path, BadSetting, "pooler='mean' is not possible", pooler="mean")
    refused(tmp_path, BadSetting, "has 'before', which is no setting", pooler_settings={"before": 3})
    refused(
        tmp_path,
        BadSetting,
        "give an even width that heads divides",
        network_settings={"width": 30, "heads": 4},
    )
    refused(tmp_path, BadSetting, "does not fit a translator", penalties={"conicity": 1.0})
    refused(tmp_path, UnknownName, "sharpness", penalties={"sharpness": 1.0})
    refused(tmp_path, BadSetting, "leave them away with pooler='none'", penalties={"entropy": 1.0}, pooler="none")
    settings = {"pooler": "none", "pooler_settings": {"max_width": 4}}
    refused(tmp_path, BadSetting, "are of spans; leave them away with pooler='none'", **settings)
    refused(tmp_path, BadSetting, "No setting of a translator is called 'lr'", lr=1.0)
    refused(tmp_path, BadSetting, "pieces", pieces=12)
    refused(tmp_path, BadSetting, "network='gru' is not possible", network="gru")
    refused(tmp_path, BadSetting, "has 'heads', which is no setting", network="lstm")
    odd = {"network": "lstm", "network_settings": {"width": 31}}
    refused(tmp_path, BadSetting, "each direction has half of it", **odd)
    refused(tmp_path, BadSetting, "leave them away with start_from", start_from="nowhere")


def test_classifiers_and_language_models_do_not_translate():
    with pytest.raises(ModelCannot, match="continues texts and does not translate"):
        pellucid.translate(tiny_writing("gpt2"), "A film.")


@pytest.mark.parametrize("spoilt", ["weights", "spans", "config"])
def test_a_spoilt_folder_ends_in_one_sentence(tmp_path, spoilt):
    folder = tmp_path / "en-de"
    pellucid.train_translator(parts(), out=folder, **SHORT | {"epochs": 1})
    config = json.loads((folder / "config.json").read_text())
    if spoilt == "weights":
        (folder / "model.safetensors").write_bytes(b"nothing")
    elif spoilt == "spans":
        config["source_spans"] = None
    else:
        config["source_spans"]["max_width"] = -3
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadFile) as caught:
        pellucid.load(folder)
    assert "\n" not in str(caught.value)


def test_a_folder_of_an_earlier_version_computes_as_it_was_trained(tmp_path):
    folder = tmp_path / "en-de"
    unscaled = {"pooler_settings": {"scale": False}}
    pellucid.train_translator(parts(), out=folder, **SHORT | {"epochs": 1} | unscaled)
    trained = pellucid.explain(pellucid.load(folder), Example(PAIRS[0]), "span_attention")[0]
    config = json.loads((folder / "config.json").read_text())
    assert config["source_spans"].pop("scale") is False
    (folder / "config.json").write_text(json.dumps(config))
    read = pellucid.explain(pellucid.load(folder), Example(PAIRS[0]), "span_attention")[0]
    np.testing.assert_array_equal(read.scores, trained.scores)
    config["source_spans"]["scale"] = True
    (folder / "config.json").write_text(json.dumps(config))
    other = pellucid.explain(pellucid.load(folder), Example(PAIRS[0]), "span_attention")[0]
    assert not np.allclose(other.scores, trained.scores, atol=1e-4)


def test_a_penalty_of_weight_0_is_the_same_training(tmp_path):
    first = pellucid.train_translator(parts(), out=tmp_path / "en-de", **SHORT)
    again = pellucid.train_translator(parts(), out=tmp_path / "en-de", **SHORT, penalties={"entropy": 0.0})
    assert again.hash == first.hash


def test_penalties_sharpen(tmp_path):
    def spread(**settings):
        folder = tmp_path / "-".join(["model", *settings])
        model = pellucid.train_translator(parts(), out=folder, **SETTINGS, epochs=20, batch_pieces=200, **settings)
        explanations = pellucid.explain(model, [Example(pair) for pair in PAIRS], "span_attention")
        return sum(facts[0]["effective_spans"] for one in explanations for facts in [one.row_diagnostics])

    assert spread(penalties={"entropy": 1.0}) < spread()
