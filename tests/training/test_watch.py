"""A watched training: what was seen, the same bytes as without, and going on after it was killed."""

import json
import random
import shutil

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadSetting, ModelCannot, UnknownName
from pellucid.base.manifest import MANIFEST
from pellucid.models.composed.composed import load_composed
from pellucid.run.hidden_target import HiddenState
from pellucid.training.watch import Watch, sample, watch_of
from tests.shared.asking import ask
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny_training import parts, trained

pytestmark = pytest.mark.whole

WATCH = Watch(every=5, n_texts=3, method="gradient", layers=(0, 2), positions="pooled")
STEPS = (0, 5, 10, 12)  # of twelve; a checkpoint stands after 3, 4, 7, 8, 11 and 12


def run(encoder, folder, fatal=-1, watch=WATCH):
    with Moments(fatal) as moments:
        trained(encoder, folder, moments.progress, watch=watch)
    return moments


@pytest.fixture(scope="module")
def whole(encoder, tmp_path_factory):
    """An uninterrupted watched run: its folder and its moments."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(encoder, folder)


def unwatched(files):
    """Without the looks, and without the manifest, which lists them too."""
    own = {name: content for name, content in files.items() if not name.startswith("watched/")}
    return own | {MANIFEST: b""}


def test_the_trained_bytes_are_those_of_an_unwatched_run(encoder, whole, tmp_path):
    for name, watch in {
        "none": None,
        "often": Watch(1, 12, "smooth_gradient", {"n_samples": 2}, (1,), "first"),
    }.items():
        run(encoder, tmp_path / name, watch=watch)
        assert unwatched(files_of(tmp_path / name)) == unwatched(files_of(whole[0])), name
    assert len(list((tmp_path / "often/watched").glob("*.parquet"))) == 13


def test_every_look_stands_beside_the_training(whole):
    folder, _ = whole
    names = {path.name for path in (folder / "watched").iterdir()}
    assert names == {"about.json", *(f"step-{step:08d}.parquet" for step in STEPS)}
    results = pellucid.read(folder)
    assert len(results) == len(STEPS) * 2 * 3
    assert [one.model for one in results][:: 2 * 3] == [f"step {step}" for step in STEPS]
    assert {str(one.target) for one in results} == {f"hidden state (pooled) of layer {n}" for n in (0, 2)}
    assert [one.example for one in results][:3] == sample(parts()["dev"], 3)
    assert not np.allclose(results[0].scores, results[6].scores)


def test_the_last_look_is_at_the_trained_model(encoder, whole, tmp_path):
    """Where the last epoch is the best one, its weights are those that the last look saw."""
    folder = tmp_path / "one"
    trained(encoder, folder, watch=WATCH, epochs=1)
    model = load_composed(folder)
    last = [one for one in pellucid.read(folder) if one.model == "step 4"]
    expected = [
        explanation
        for layer in (0, 2)
        for explanation in ask(model, sample(parts()["dev"], 3), "gradient", target=HiddenState(layer))
    ]
    for one, other in zip(last, expected, strict=True):
        assert one.model_hash == model.hash
        np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-6)


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(encoder, whole, tmp_path):
    finished, moments = whole
    fatal = random.Random(3).sample(range(moments.count), 2)
    for number, moment in enumerate([*fatal, moments.count - 1]):
        folder = tmp_path / str(number)
        killed(run, encoder, folder, moment)
        run(encoder, folder)
        assert files_of(folder) == files_of(finished), f"killed at moment {moment}"


class Stop(Exception):
    """The user's Ctrl-C."""


def stopped_at(step):
    def progress(_, done, __):
        if done == step:
            raise Stop

    return progress


def test_a_look_that_is_there_is_left_as_it_is(encoder, whole, tmp_path):
    with pytest.raises(Stop):
        trained(encoder, tmp_path, stopped_at(6), watch=WATCH)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "watched").iterdir()}
    assert len(before) == 3
    trained(encoder, tmp_path, watch=WATCH)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert files_of(tmp_path) == files_of(whole[0])
    files = files_of(tmp_path)
    trained(encoder, tmp_path, watch=WATCH)  # it is finished
    trained(encoder, tmp_path)
    assert files_of(tmp_path) == files


def test_a_folder_of_another_watch_is_refused(encoder, whole, tmp_path):
    with pytest.raises(BadFile, match="watched otherwise"):
        trained(encoder, whole[0], watch=Watch(4, method="gradient", positions="pooled"))
    with pytest.raises(Stop):
        trained(encoder, tmp_path, stopped_at(6))
    with pytest.raises(BadFile, match="step 0 was not watched; train without watch"):
        trained(encoder, tmp_path, watch=WATCH)
    trained(encoder, tmp_path)
    with pytest.raises(BadFile, match="step 0 was not watched"):
        trained(encoder, tmp_path, watch=WATCH)
    shutil.copytree(whole[0], tmp_path / "copy")
    (tmp_path / "copy/watched/step-00000012.parquet").unlink()
    with pytest.raises(BadFile, match="step 12 was not watched"):
        trained(encoder, tmp_path / "copy", watch=WATCH)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"every": 0}, BadSetting, "watch=0"),
        ({"n_texts": 0}, BadSetting, "n_texts=0"),
        ({"layers": "late"}, BadSetting, "layers='late'"),
        ({"layers": ()}, BadSetting, "numbers such as"),
        ({"layers": (9,)}, BadSetting, "layer=9 is no layer"),
        ({"method": "gradients"}, UnknownName, "gradient"),
        ({"method": "rationale"}, ModelCannot, "rationale does not work"),
        ({"positions": "all"}, BadSetting, "gradient explains one number"),
    ],
)
def test_what_cannot_be_watched_is_refused_before_a_step(encoder, tmp_path, settings, error, message):
    steps = []
    with pytest.raises(error, match=message):
        trained(encoder, tmp_path, lambda *_: steps.append(1), watch=Watch(**{**vars(WATCH), **settings}))
    assert not steps


def test_settings_need_a_watch_and_are_known():
    assert watch_of(None, None) is None and watch_of(None, {}) is None
    with pytest.raises(BadSetting, match="give watch= too"):
        watch_of(None, {"n_texts": 3})
    with pytest.raises(UnknownName, match="n_texts"):
        watch_of(5, {"texts": 3})


def test_the_door_and_the_command_watch(encoder, tmp_path, capsys):
    from pellucid.cli import app

    pellucid.write_json_lines(parts()["train"], tmp_path / "data" / "train.jsonl")
    pellucid.write_json_lines(parts()["dev"], tmp_path / "data" / "dev.jsonl")
    settings = {"method": "gradient", "positions": "pooled", "layers": [1], "n_texts": 2}
    usual = {"encoder": encoder, "epochs": 1, "batch_size": 8, "pooler": "mean", "progress": False}
    pellucid.train(tmp_path / "data", out=tmp_path / "door", watch=3, watch_settings=settings, **usual)
    words = ["train", tmp_path / "data", "--out", tmp_path / "command", "--encoder", encoder, "--epochs", 1]
    words += ["--batch-size", 8, "--pooler", "mean", "--watch", 3]
    for name, value in settings.items():
        words += ["--watch-set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    app([str(word) for word in words], standalone_mode=False)
    door, command = (files_of(tmp_path / name / "watched") for name in ("door", "command"))
    assert door == command and len(door) == 1 + 3
