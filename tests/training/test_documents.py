"""Training on texts longer than the encoder reads: in windows that are joined, and a few texts at a time."""

import json
import os
import random
from pathlib import Path

import pytest
import torch
from transformers import AutoModel

import pellucid
from pellucid.base.errors import BadInput
from pellucid.base.processes import silent
from pellucid.data.load import load_examples
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import load_composed
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example
from pellucid.training import steps
from pellucid.training.train import train_model
from tests.shared.asking import ask, residual
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import tiny_network, word_piece
from tests.shared.tiny_training import LABELS, recipe

WINDOW, LONGEST = 48, 512


def save_short_encoder(folder, **config):
    """An encoder on disk that reads 48 pieces."""
    network = tiny_network("bert", max_position_embeddings=WINDOW, **config)
    AutoModel.from_config(network.config).save_pretrained(folder)
    word_piece().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def short_encoder(tmp_path_factory):
    return save_short_encoder(tmp_path_factory.mktemp("short"))


def documents(split, count):
    """Texts of three sentences of the pocket corpus, with the label of the first."""
    texts = load_examples("pocket", split)
    return [
        Example((" ".join(each.text for each in texts[n : n + 3]),), texts[n].label, id=f"{split}{n}")
        for n in range(count)
    ]


def parts():
    return {"train": documents("train", 12), "dev": documents("dev", 4)}


def trained(encoder, folder, progress=silent, max_length=LONGEST, **changes):
    plan = Plan(str(encoder), "span", {"within": "sentence"}, LABELS, max_length=max_length)
    changes = {"epochs": 2, "batch_size": 4, "checkpoint_every": 2, **changes}
    return train_model(parts(), plan, recipe(**changes), folder, "cpu", progress=progress)


def run(encoder, folder, fatal=-1):
    """Train in parts of batches and groups of windows, and count moments and steps."""
    with Moments(fatal) as moments, pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "LONGEST", 256)
        patch.setattr("pellucid.models.composed.joined_windows.default_budget", lambda _: 2 * WINDOW)
        trained(encoder, folder, moments.progress)
    return moments


@pytest.mark.whole
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(short_encoder, tmp_path):
    moments = run(short_encoder, tmp_path / "whole")
    assert moments.steps == 6
    for number, moment in enumerate(random.Random(5).sample(range(moments.count), 2)):
        folder = tmp_path / str(number)
        killed(run, short_encoder, folder, moment)
        run(short_encoder, folder)
        assert files_of(folder) == files_of(tmp_path / "whole"), f"killed at moment {moment}"
    explanation = ask(load_composed(tmp_path / "whole"), [documents("test", 1)[0]], "span_attention")[0]
    assert explanation.diagnostics["parity"] <= 1e-4 and "windows" not in explanation.diagnostics


def first_gradients(encoder, folder, monkeypatch, pieces):
    """What the first step would clip: the gradients of its whole batch; and into how many parts it was cut."""
    seen, clip, place = [], torch.nn.utils.clip_grad_norm_, Classifier.place
    parts = []

    def noted(parameters, highest):
        parameters = list(parameters)
        seen.append([None if each.grad is None else each.grad.clone() for each in parameters])
        return clip(parameters, highest)

    def counted(classifier, rows):
        parts.append(len(rows))
        return place(classifier, rows)

    with monkeypatch.context() as patch:
        patch.setattr(steps, "LONGEST", pieces)
        patch.setattr(torch.nn.utils, "clip_grad_norm_", noted)
        patch.setattr(Classifier, "place", counted)
        trained(encoder, folder, epochs=1, batch_size=12)
    return seen[0], parts


@pytest.mark.whole
def test_a_batch_in_parts_is_the_batch(tmp_path, monkeypatch):
    """Losses and penalties are means over texts, so the gradients of parts, each by its share of texts, add up."""
    calm = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    encoder = save_short_encoder(tmp_path / "encoder", **calm)
    whole, one = first_gradients(encoder, tmp_path / "whole", monkeypatch, 4096)
    gradients, several = first_gradients(encoder, tmp_path / "parts", monkeypatch, 350)
    assert one == [12] and sum(several) == 12 and len(set(several)) > 1  # parts of different sizes
    for gradient, expected in zip(gradients, whole, strict=True):
        if expected is not None:
            torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()) + 1e-9)


@pytest.mark.whole
def test_the_lines_of_the_how_to(short_encoder, tmp_path):
    for split, count in (("train", 8), ("dev", 4)):
        rows = [{"id": each.id, "text": each.text, "label": each.label} for each in documents(split, count)]
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = pellucid.train(
        tmp_path,
        encoder=short_encoder,
        pooler="span",
        pooler_settings={"within": "sentence"},
        max_length=LONGEST,
        out=tmp_path / "model",
        epochs=1,
    )
    long = " ".join(each.text for each in documents("test", 3))
    explanation = pellucid.explain(pellucid.load(tmp_path / "model"), long, method="span_attention")[0]
    assert explanation.model_hash == model.hash and "windows" not in explanation.diagnostics
    assert explanation.scores.sum() == pytest.approx(1, abs=1e-5)
    assert len(explanation.spans(3)) == 2 and explanation._repr_html_()


@pytest.mark.long
@pytest.mark.skipif("PELLUCID_DATA" not in os.environ, reason="PELLUCID_DATA is not set")
def test_film_reviews_with_the_real_encoder(tmp_path):
    """ERASER's movie reviews, a sentence a line: longer than the encoder reads, read and explained as one."""
    reviews = load_examples(Path(os.environ["PELLUCID_DATA"]) / "movies", "dev")
    long = [each for each in reviews if len(each.text.split()) > 700][:8]
    few = {"train": long[:6], "dev": long[6:]}
    plan = Plan("minilm", "span", {"within": "sentence"}, ("negative", "positive"), max_length=4096)
    model = train_model(few, plan, recipe(epochs=1, batch_size=3), tmp_path, "cpu", progress=silent)
    explanation = pellucid.explain(model, long[0], method="span_attention")[0]
    assert explanation.diagnostics["parity"] <= 1e-4 and "windows" not in explanation.diagnostics
    assert explanation.scores.sum() == pytest.approx(1, abs=1e-5)
    places = (explanation.units.characters(number) for number in range(len(explanation.units)))
    assert not any("\n" in long[0].text[start:end] for _, start, end in places)


def test_texts_longer_than_max_length_are_refused_with_what_to_do(short_encoder, tmp_path):
    with pytest.raises(
        BadInput,
        match=r"12 of the training texts are longer than the 48 pieces .* give max_length \(--max-length\)",
    ):
        trained(short_encoder, tmp_path / "none", max_length=None)
    with pytest.raises(BadInput, match="longer than the 64 pieces"):
        trained(short_encoder, tmp_path / "few", max_length=64)


@pytest.mark.whole
@pytest.mark.parametrize("form", ("reinforce", "hard_kuma"))
def test_who_chooses_words_learns_from_long_texts(short_encoder, tmp_path, form, monkeypatch):
    """Both readings get gradients through their windows, and the share that is read is the one asked for."""
    plan = Plan(str(short_encoder), "rationale", {"coverage": 0.3, "form": form}, LABELS, max_length=LONGEST)
    monkeypatch.setattr(steps, "LONGEST", 100)
    model = train_model(
        parts(),
        plan,
        recipe(penalties={}, epochs=1, batch_size=4),
        tmp_path / "model",
        "cpu",
        progress=silent,
    )
    assert float(model.network.steering.steps) == 3  # not one for each part of a batch
    explanations = ask(model, documents("train", 12), "rationale")
    assert all("windows" not in each.diagnostics and residual(each) <= 1e-4 for each in explanations)
    read = sum(float((each.scores[~each.special] > 0.5).sum()) for each in explanations)
    assert read / sum(int((~each.special).sum()) for each in explanations) == pytest.approx(0.3, abs=0.05)
