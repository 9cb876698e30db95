"""Training goes on after it was killed and ends with the same bytes; dev alone chooses the epoch."""

import json
import random
import re
import shutil

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from sklearn.metrics import f1_score, matthews_corrcoef

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, NotEnoughMemory
from pellucid.base.manifest import MANIFEST
from pellucid.models.composed.composed import load_composed
from pellucid.text.example import Example
from pellucid.training import loop
from pellucid.training.checkpoint import best_epoch
from pellucid.training.recipe import Recipe
from pellucid.training.steps import Steps
from pellucid.training.trained_folder import BEST, CHECKPOINT, LOG
from pellucid.training.training_loss import check_measure
from tests.results.test_storage import full_disk
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny_training import parts, trained

pytestmark = pytest.mark.whole

STEPS, EVERY = 12, 3


def run(encoder, folder, fatal=-1):
    """Train, and count moments and steps."""
    with Moments(fatal) as moments:
        trained(encoder, folder, moments.progress)
    return moments


@pytest.fixture(scope="module")
def whole(encoder, tmp_path_factory):
    """An uninterrupted run: its folder and its moments."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(encoder, folder)


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(encoder, whole, tmp_path):
    finished, moments = whole
    assert moments.steps == STEPS
    fatal = random.Random(20).sample(range(moments.count), 5)
    for number, moment in enumerate([*fatal, moments.count - 1]):
        folder = tmp_path / str(number)
        killed(run, encoder, folder, moment)
        run(encoder, folder)
        assert files_of(folder) == files_of(finished), f"killed at moment {moment}"


def test_a_run_killed_again_and_again_ends_with_the_same_bytes(encoder, whole, tmp_path):
    finished, _ = whole
    for moment in (20, 12, 9):
        killed(run, encoder, tmp_path, moment)
    run(encoder, tmp_path)
    assert files_of(tmp_path) == files_of(finished)


@pytest.mark.parametrize(
    "message",
    ("CUDA out of memory.", "Expected mha_graph.execute(handle).is_good() to be true, but got false."),
)
def test_a_step_without_room_says_so_and_the_run_goes_on_later(encoder, whole, tmp_path, monkeypatch, message):
    def step(steps, indices, done):
        if done == 7:
            raise RuntimeError(message)
        return own_step(steps, indices, done)

    own_step = Steps.step
    with monkeypatch.context() as patched:
        patched.setattr(Steps, "step", step)
        with pytest.raises(NotEnoughMemory, match=r"learn from 8 texts at once \(batch_size\)"):
            trained(encoder, tmp_path)
    trained(encoder, tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


def test_no_more_than_the_steps_since_the_last_checkpoint_are_done_again(encoder, whole, tmp_path):
    _, moments = whole
    of_manifest = 6  # its writing has so many moments
    killed(run, encoder, tmp_path, moments.count - of_manifest - 1)  # all steps are done, the model is being saved
    assert (tmp_path / CHECKPOINT).exists() and (tmp_path / BEST).exists()
    assert run(encoder, tmp_path).steps <= 1


class Stop(Exception):
    """The user's Ctrl-C."""


def stopped_at(step):
    def progress(_, done, __):
        if done == step:
            raise Stop

    return progress


@pytest.mark.parametrize("step", (1, 5, 9))
def test_a_stopped_run_goes_on_from_its_last_checkpoint(encoder, whole, tmp_path, step):
    with pytest.raises(Stop):
        trained(encoder, tmp_path, stopped_at(step))
    done = []
    trained(encoder, tmp_path, lambda *_: done.append(1))
    assert len(done) == STEPS - {1: 0, 5: 4, 9: 8}[step]  # epochs of four steps: after 3, 4, 7, 8, 11, 12
    assert files_of(tmp_path) == files_of(whole[0])


def test_a_finished_run_is_loaded_and_nothing_is_written(encoder, whole):
    folder, _ = whole
    before = files_of(folder)
    moments = run(encoder, folder)
    assert (moments.steps, moments.count) == (1, 1)
    assert files_of(folder) == before
    tokenizer = {"tokenizer.json", "tokenizer_config.json"}
    own = {"config.json", "model.safetensors", LOG, "trained_texts.txt", MANIFEST}
    assert set(before) == own | tokenizer


def test_the_global_state_is_as_before(encoder, whole, tmp_path):
    torch.manual_seed(5)
    before = torch.get_rng_state(), random.getstate(), torch.is_grad_enabled()
    trained(encoder, tmp_path / "whole")
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (random.getstate(), torch.is_grad_enabled()) == before[1:]
    with pytest.raises(Stop):
        trained(encoder, tmp_path / "stopped", stopped_at(5))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert files_of(tmp_path / "whole") == files_of(whole[0])  # and what it was does not matter


OTHERWISE = (
    ({"seed": 1}, "(seed was 0 and is 1)"),
    ({"epochs": 2}, "(epochs was 3 and is 2)"),
    ({"learning_rate": 2e-3}, "(learning_rate was 0.001 and is 0.002)"),
    ({"penalties": {"concentration": 0.5}}, "(penalties.concentration was 1.0 and is 0.5)"),
    (
        {"pooler": "first_token"},
        "(pooler was 'span' and is 'first_token', penalties.concentration was 1.0 and is not set)",
    ),
    ({"pooler_settings": {"max_width": 3}}, "(pooler_settings.max_width was not set and is 3)"),
    ({"route": "onednn"}, "(route was not set and is 'onednn')"),
    ({"data": {**parts(), "train": parts()["train"][:-1]}}, "(with other texts, labels or marks"),
    ({"data": {**parts(), "dev": parts()["dev"][:-1]}}, "(with other texts, labels or marks"),
)


@pytest.fixture(scope="module")
def unfinished(encoder, tmp_path_factory):
    """A folder in which a training stopped; to be read alone."""
    folder = tmp_path_factory.mktemp("unfinished")
    with pytest.raises(Stop):
        trained(encoder, folder, stopped_at(5))
    return folder


@pytest.mark.parametrize(("change", "differs"), OTHERWISE)
def test_another_run_in_the_same_folder_raises(encoder, whole, unfinished, change, differs):
    with pytest.raises(BadFile, match=re.escape(f"trained otherwise {differs}")):
        trained(encoder, whole[0], **change)
    before = files_of(unfinished)
    of_texts = differs == "(with other texts, labels or marks"
    differs = "(with another encoder, other texts, labels or marks" if of_texts else differs
    with pytest.raises(BadFile, match=re.escape(f"unfinished run that began otherwise {differs}")):
        trained(encoder, unfinished, **change)
    assert files_of(unfinished) == before


def test_a_folder_with_another_model_is_not_overwritten(encoder, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"precious")
    with pytest.raises(BadFile, match="holds another model"):
        trained(encoder, tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == b"precious"


@pytest.mark.parametrize("part", ("train", "dev"))
def test_an_empty_part_raises(encoder, tmp_path, part):
    with pytest.raises(BadInput, match=f"The {part} part has no examples"):
        trained(encoder, tmp_path, data={**parts(), part: []})


@pytest.mark.parametrize("part", ("train", "dev"))
def test_a_label_that_is_no_class_raises(encoder, tmp_path, part):
    with pytest.raises(BadInput, match="'joy'"):
        trained(encoder, tmp_path, data={**parts(), part: [Example(("text",), label="joy")]})


def test_a_broken_checkpoint_raises(encoder, tmp_path):
    with pytest.raises(Stop):
        trained(encoder, tmp_path, stopped_at(5))
    path = tmp_path / CHECKPOINT
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(BadFile, match="no checkpoint of ours"):
        trained(encoder, tmp_path)


def rewritten(path, **changes):
    """A checkpoint whose progress tells something else."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    progress = json.loads(metadata["progress"])
    save_file(load_file(path), path, {**metadata, "progress": json.dumps({**progress, **changes})})


IMPOSSIBLE = {
    "epoch is -1, not 0 to 3": {"epoch": -1},
    "epoch is 4, not 0 to 3": {"epoch": 4},
    "epoch is 1.0, not 0 to 3": {"epoch": 1.0},
    "epoch is True, not 0 to 3": {"epoch": True},
    "step is 5, not 0 to 4": {"step": 5},
    "step is -1, not 0 to 4": {"step": -1},
    "best is 1, not 0": {"best": 1},
    "best is -1, not 0": {"best": -1},
    "loss_sum is '0', not a number": {"loss_sum": "0"},
    "loss_sum is nan": {"loss_sum": float("nan")},
    "its history is not that of 1 epochs": {"history": []},
    "an epoch of its history is 7, not 0": {
        "history": [{"epoch": 7, "train_loss": 1.0, "dev_accuracy": 1.0, "dev_loss": 1.0}]
    },
    "dev_loss": {"history": [{"epoch": 0, "train_loss": 1.0, "dev_accuracy": 1.0}]},
    "the optimizer's step is 4, not 1 to 3": {"epoch": 0, "step": 3, "history": [], "best": -1},
}


@pytest.fixture(scope="module")
def stopped(encoder, tmp_path_factory):
    """A run that was stopped after its first epoch."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.raises(Stop):
        trained(encoder, folder, stopped_at(5))
    return folder


@pytest.mark.parametrize("why", IMPOSSIBLE)
def test_progress_that_no_run_comes_to_is_refused(encoder, stopped, tmp_path, why):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    rewritten(tmp_path / CHECKPOINT, **IMPOSSIBLE[why])
    with pytest.raises(BadFile, match=re.escape(why) + r".*; remove it to start again"):
        trained(encoder, tmp_path)


def test_optimizer_state_of_another_network_is_refused(encoder, stopped, tmp_path):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    path = tmp_path / CHECKPOINT
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    name = next(name for name in tensors if name.endswith(".exp_avg"))
    save_file({**tensors, name: torch.zeros(7)}, path, metadata)
    with pytest.raises(BadFile, match=r"exp_avg of parameter \d+ is of another shape"):
        trained(encoder, tmp_path)


@pytest.mark.parametrize("other", ("none", "another run's", "another epoch's"))
def test_weights_that_are_not_the_best_epochs_are_refused(encoder, stopped, tmp_path, other):
    shutil.copytree(stopped, tmp_path / "run")
    best = tmp_path / "run" / BEST
    best.unlink()
    if other != "none":
        change = {"seed": 1} if other == "another run's" else {}
        with pytest.raises(Stop):
            trained(encoder, tmp_path / "other", stopped_at(5), **change)
        tensors, of = load_file(tmp_path / "other" / BEST), {"fingerprint": "", "epoch": 0}
        if other == "another run's":
            best.write_bytes((tmp_path / "other" / BEST).read_bytes())
        else:
            with safe_open(tmp_path / "other" / BEST, framework="pt") as file:
                of |= json.loads(file.metadata()["of"])
            save_file(tensors, best, {"of": json.dumps({**of, "epoch": 2})})
    with pytest.raises(BadFile, match="missing or not of this run's best epoch; remove"):
        trained(encoder, tmp_path / "run")


def changed(encoder, folder):
    """The encoder again, in another folder, with other weights."""
    shutil.copytree(encoder, folder)
    tensors = load_file(folder / "model.safetensors")
    tensors = {name: tensor + 0.01 for name, tensor in tensors.items()}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


def test_other_weights_under_the_encoders_path_are_another_run(encoder, whole, tmp_path):
    copy = tmp_path / "encoder"
    shutil.copytree(encoder, copy)
    with pytest.raises(Stop):
        trained(copy, tmp_path / "stopped", stopped_at(5))
    trained(copy, tmp_path / "whole")
    assert trained(copy, tmp_path / "whole").labels  # the same weights
    shutil.rmtree(copy)
    changed(encoder, copy)
    with pytest.raises(BadFile, match=r"unfinished run that began otherwise \(with another encoder"):
        trained(copy, tmp_path / "stopped")
    with pytest.raises(BadFile, match=r"the files of the encoder .* are not what they were"):
        trained(copy, tmp_path / "whole")
    shutil.rmtree(copy)  # a trained model needs its encoder no more
    assert trained(copy, tmp_path / "whole").labels


def test_other_weights_in_a_finished_folder_are_refused(encoder, whole, tmp_path):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    name = next(iter(tensors))
    save_file({**tensors, name: tensors[name] + 1}, tmp_path / "model.safetensors")
    with pytest.raises(BadFile, match="other weights than were trained in it; remove it"):
        trained(encoder, tmp_path)


@pytest.mark.parametrize("missing", (LOG, "trained_texts.txt"))
def test_what_is_missing_from_a_finished_folder_is_written_again(encoder, whole, tmp_path, missing):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / missing).unlink()
    assert trained(encoder, tmp_path).trained_texts
    assert files_of(tmp_path) == files_of(whole[0])


def test_a_folder_of_an_earlier_version_is_loaded(encoder, whole, tmp_path):
    """Which knows no digest of its encoder's files, nor of its weights, and has no manifest, which is written."""
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    for name in ("encoder_files", "weights"):
        del config["trained"][name]
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / MANIFEST).unlink()
    before = files_of(tmp_path)
    assert trained(encoder, tmp_path).labels
    assert {name: content for name, content in files_of(tmp_path).items() if name != MANIFEST} == before
    assert pellucid.verify(tmp_path).is_whole


def test_a_full_disk_raises_and_the_run_can_go_on(encoder, whole, tmp_path):
    with pytest.raises(Stop):
        trained(encoder, tmp_path, stopped_at(4))
    with full_disk(20_000), pytest.raises(BadFile, match="Cannot write"):
        trained(encoder, tmp_path)
    trained(encoder, tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


SCRIPT = (
    (
        {"dev_accuracy": 0.5, "dev_loss": 1.0},
        {"dev_accuracy": 0.9, "dev_loss": 2.0},
        {"dev_accuracy": 0.8, "dev_loss": 0.1},
    ),
    (
        {"dev_accuracy": 0.9, "dev_loss": 1.0},
        {"dev_accuracy": 0.9, "dev_loss": 0.5},
        {"dev_accuracy": 0.9, "dev_loss": 0.5},
    ),
    (
        {"dev_accuracy": 0.9, "dev_loss": 1.0},
        {"dev_accuracy": 0.1, "dev_loss": 0.5},
        {"dev_accuracy": 0.9, "dev_loss": 1.1},
    ),
)


@pytest.mark.parametrize(("script", "best"), tuple(zip(SCRIPT, (1, 1, 0), strict=True)), ids=str)
def test_the_epoch_that_is_best_on_dev_is_saved(encoder, tmp_path, monkeypatch, script, best):
    seen = []

    def on_dev(run):
        weights = run.classifier.network.state_dict()
        seen.append({name: tensor.clone() for name, tensor in weights.items()})
        return script[len(seen) - 1]

    monkeypatch.setattr(loop, "_on_dev", on_dev)
    trained(encoder, tmp_path)
    saved = load_file(tmp_path / "model.safetensors")
    assert [all(torch.equal(saved[name], weights[name]) for name in saved) for weights in seen] == [
        n == best for n in range(3)
    ]


def test_the_log_has_the_numbers_of_dev(encoder, whole):
    folder, _ = whole
    lines = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [0, 1, 2]
    assert lines == json.loads((folder / "config.json").read_text())["trained"]["history"]
    classifier = load_composed(folder)
    dev = parts()["dev"]
    with torch.no_grad():
        logits = torch.stack([classifier.plain_logits(example) for example in dev])
    right = [classifier.labels[number] == example.label for number, example in zip(logits.argmax(-1), dev, strict=True)]
    best = max(lines, key=lambda line: (line["dev_accuracy"], -line["dev_loss"]))
    assert sum(right) / len(right) == pytest.approx(best["dev_accuracy"])


@pytest.mark.parametrize("measure", ("mcc", "f1", "loss"))
def test_the_measure_of_the_recipe_chooses_the_best_epoch(encoder, tmp_path, measure):
    trained(encoder, tmp_path, keep_best_by=measure)
    lines = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    best = max(lines, key=lambda line: (line["dev_measure"], -line["dev_loss"]))
    classifier, dev = load_composed(tmp_path), parts()["dev"]
    with torch.no_grad():
        logits = torch.stack([classifier.plain_logits(example) for example in dev])
    answers, labels = [classifier.labels[index] for index in logits.argmax(-1)], [example.label for example in dev]
    measured = {
        "mcc": lambda: matthews_corrcoef(labels, answers),
        "f1": lambda: f1_score(labels, answers, average="macro", zero_division=0),
        "loss": lambda: -best["dev_loss"],
    }[measure]()
    assert best["dev_measure"] == pytest.approx(measured)
    assert best_epoch([{"dev_accuracy": 0.9, "dev_loss": 1.0, "dev_measure": 0.1}, {**best, "dev_measure": 0.2}]) == 1


def test_correlation_of_several_labels_is_refused_before_the_work(encoder, tmp_path):
    with pytest.raises(BadSetting, match="keep_best_by='mcc' correlates one class a text"):
        check_measure(Recipe(keep_best_by="mcc"), "multi_label")
    with pytest.raises(BadSetting, match="keep_best_by"):
        Recipe(keep_best_by="roc")


@pytest.mark.parametrize("pooler", ("span", "first_token", "mean"))
def test_training_learns(encoder, tmp_path, pooler):
    """Two made-up words decide the label; a trained model gets them all right."""
    data = [
        Example((f"the {word} film {number}",), label=label)
        for number in range(8)
        for word, label in (("good", "positive"), ("bad", "negative"))
    ]
    classifier = trained(
        encoder, tmp_path, data={"train": data, "dev": data}, pooler=pooler, epochs=20, learning_rate=2e-3
    )
    with torch.no_grad():
        predicted = [classifier.labels[int(classifier.plain_logits(example).argmax())] for example in data]
    assert predicted == [example.label for example in data]
