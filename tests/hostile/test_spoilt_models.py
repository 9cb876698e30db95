"""Models in which something is wrong: refused in a sentence, or they answer; never a guess, never without bounds."""

import json
import os
import pickle
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import nn

import pellucid
from pellucid.base.errors import BadFile, ParityBroken, PellucidError
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.training.checkpoint import TrainingState, load_checkpoint, save_checkpoint
from tests.hostile.assertions import assert_good_message, assert_valid
from tests.hostile.generated_cases import generated
from tests.hostile.spoilt_strategies import spoilt_bytes, spoilt_json, spoilt_safetensors
from tests.shared.tiny import LABELS, save_tiny, tiny_composed

ROOT = Path(__file__).parents[2]
FILES = (
    "config.json",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
    "model.safetensors",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The files of a Hugging Face classifier and of a composed one, by kind and name."""
    hugging_face = save_tiny(tmp_path_factory.mktemp("hugging_face"), labels=LABELS)
    composed, classifier = tmp_path_factory.mktemp("composed"), tiny_composed("span")
    save_composed(classifier.network, classifier.tokenizer, Plan("tiny", "span", {}, LABELS), composed)
    return {
        kind: {path.name: path.read_bytes() for path in place.iterdir()}
        for kind, place in (("hugging_face", hugging_face), ("composed", composed))
    }


def written(files, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def answer_of(folder):
    """What a model answers, or None after an error that says what is wrong."""
    try:
        [explanation] = pellucid.explain(pellucid.load(folder), "A fine, fine film.", "gradient", progress=False)
    except PellucidError as error:
        assert_good_message(error)
        return None
    assert_valid(explanation)
    return explanation


@generated(25, 700, drawn=st.data(), kind=st.sampled_from(["hugging_face", "composed"]), name=st.sampled_from(FILES))
def test_a_spoilt_model_is_refused_or_answers(good, folder, drawn, kind, name):
    whole = good[kind][name]
    if not drawn.draw(st.integers(0, 3)):
        content = drawn.draw(spoilt_bytes(whole))
    elif name.endswith(".json"):
        content = drawn.draw(spoilt_json(whole))
    else:
        content = drawn.draw(spoilt_safetensors(whole))
    answer_of(written({**good[kind], name: content}, folder / kind))


@generated(30, 400, drawn=st.data())
def test_a_spoilt_checkpoint_is_refused_or_goes_on(folder, drawn):
    path = folder / "checkpoint.safetensors"
    network, optimizer = _trained()
    save_checkpoint(path, network, optimizer, TrainingState("f", step=1))
    whole = path.read_bytes()
    path.write_bytes(drawn.draw(st.one_of(spoilt_bytes(whole), spoilt_safetensors(whole))))
    with torch.random.fork_rng():
        try:
            load_checkpoint(path, *_trained(), fingerprint="f", epochs=1, steps=1)
        except PellucidError as error:
            assert_good_message(error)


def _trained():
    network = nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(network.parameters())
    network(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return network, optimizer


@pytest.mark.parametrize("kind", ["hugging_face", "composed"])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_refused(good, tmp_path, kind, wrong):
    place = written(good[kind], tmp_path / kind)
    tensors = load_file(place / "model.safetensors")
    for tensor in tensors.values():
        tensor.view(-1)[0] = wrong
    save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
    model = pellucid.load(place)
    for method in ("gradient", "attention", "chance", "occlusion"):
        with pytest.raises(ParityBroken, match="its weights are not numbers"):
            pellucid.explain(model, "A fine film.", method)
    with pytest.raises(PellucidError):
        pellucid.accuracy(model, [pellucid.Example(("A fine film.",), "positive")])


@pytest.mark.parametrize(
    "lost", ["bert.encoder.layer.1.output.dense.weight", "bert.pooler.dense.bias", "classifier.bias"]
)
def test_a_model_without_some_of_its_weights_is_refused(good, tmp_path, lost):
    place = written(good["hugging_face"], tmp_path / "model")
    tensors = load_file(place / "model.safetensors")
    del tensors[lost]
    save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(PellucidError, match=lost):
        pellucid.load(place)


class Planted:
    """What a pickle would run."""

    def __reduce__(self):
        return (os.mkdir, (os.environ["PLANTED"],))


def test_no_pickle_is_ever_opened(good, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED", str(tmp_path / "opened"))
    code = pickle.dumps(Planted())
    for kind in good:
        files = {name: code if name.endswith("safetensors") else whole for name, whole in good[kind].items()}
        place = written({**files, "pytorch_model.bin": code, "training_args.bin": code}, tmp_path / kind)
        assert answer_of(place) is None
        (place / "model.safetensors").unlink()
        assert answer_of(place) is None
    (tmp_path / "a.parquet").write_bytes(code)
    with pytest.raises(BadFile):
        pellucid.read(tmp_path / "a.parquet")
    assert not (tmp_path / "opened").exists()


FORGED = (
    ("config.json", ("vocab_size",), 3 * 10**7),
    ("config.json", ("hidden_size",), 40_000),
    ("config.json", ("num_hidden_layers",), 10**9),
    ("config.json", ("max_position_embeddings",), 10**11),
    ("config.json", ("intermediate_size",), 10**8),
    ("config.json", ("num_labels",), 10**9),
    ("tokenizer.json", ("model", "vocab", "fine"), 2**31),
)


@pytest.mark.whole
def test_forged_sizes_take_neither_memory_nor_time(good, tmp_path):
    """In a process of its own, that may take little more memory than loading a good model does."""
    places = [
        forged(written(good[kind], tmp_path / f"{kind}{number}"), kind, *change)
        for kind in good
        for number, change in enumerate(FORGED)
    ]
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *map(str, places)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30)),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused") == len(places)


def forged(place, kind, name, way, value):
    """A model's folder in which one number says what cannot be."""
    whole = json.loads((place / name).read_text())
    part = whole["encoder_config"] if kind == "composed" and name == "config.json" else whole
    for step in way[:-1]:
        part = part[step]
    part[way[-1]] = value
    (place / name).write_text(json.dumps(whole))
    return place


LOADING = """
import sys, pellucid
for place in sys.argv[1:]:
    try:
        pellucid.load(place)
    except pellucid.PellucidError as error:
        assert "allocate" not in str(error), error
        print("refused", error)
"""


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"0": "a", "1": "a", "2": "b"},
        {"0": "a", "1": "b"},
        {"0": "a", "1": "b", "2": "\ud800"},
        {"0": None, "1": [], "2": {}},
        {"0": "", "1": "<script>window.__ran=1</script>", "2": "\u202e"},
        {str(number): f"class {number}" for number in range(10_000)},
        {"x": "a"},
        [],
        "abc",
        {"0": "x" * 10**5, "1": "y", "2": "z"},
    ],
)
def test_absurd_class_names_are_refused_or_shown(good, tmp_path, names):
    place = written(good["hugging_face"], tmp_path / "model")
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, "id2label": names, "label2id": {}}))
    explanation = answer_of(place)
    assert explanation is None or len(explanation.prediction.labels) == 3


PLANS = (
    ("labels", "abc"), ("labels", []), ("labels", ["a", "a", "b"]), ("labels", [1, 2, 3]), ("labels", {"a": 1}), ("labels", None),
    ("problem", "one_logit"), ("problem", "gelu"), ("problem", ["single_label"]), ("pooler", "os.system"), ("pooler", None),
    ("encoder_settings", 3), ("strip_final_full_stop", "yes"), ("started_from", 7),
    ("pooler_settings", {"unit": "sentence"}), ("pooler_settings", {"width": 3}), ("pooler_settings", []), ("trained", 3),
    ("encoder_config", {}), ("encoder_config", {"model_type": "gpt2"}), ("encoder_config", {"auto_map": {"x": "y"}}),
    ("form", "pellucid-composed-9"),
)  # fmt: skip


@pytest.mark.parametrize(("field", "value"), PLANS)
def test_a_composed_model_with_a_wrong_plan_is_refused(good, tmp_path, field, value):
    place = written(good["composed"], tmp_path / "model")
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, field: value}))
    explanation = answer_of(place)
    assert explanation is None or (field, value) == ("pooler_settings", [])  # no settings at all
