"""A lens's training goes on after it was killed and ends with the same bytes; its folder is of one model, texts and
recipe.
"""

import random

import pytest
import torch

from pellucid.base.errors import BadFile
from pellucid.base.manifest import MANIFEST
from pellucid.models.language_heads.lens import ENCODER
from pellucid.models.language_heads.lens_folder import RECORD, WEIGHTS
from tests.results.test_storage import full_disk
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import tiny_classifier
from tests.shared.tiny_lens import lens_parts, trained_lens
from tests.training.test_resume import Stop, stopped_at

pytestmark = pytest.mark.whole


def run(folder, fatal=-1):
    """Train, and count moments and steps."""
    with Moments(fatal) as moments:
        trained_lens(folder, moments.progress)
    return moments


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run: its folder and its moments."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(folder)


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(whole, tmp_path):
    finished, moments = whole
    fatal = random.Random(3).sample(range(moments.count), 4)
    for number, moment in enumerate([*fatal, moments.count - 1]):
        folder = tmp_path / str(number)
        killed(run, folder, moment)
        run(folder)
        assert files_of(folder) == files_of(finished), f"killed at moment {moment}"


def test_a_run_killed_again_and_again_ends_with_the_same_bytes(whole, tmp_path):
    finished, moments = whole
    for moment in (moments.count // 2, 9, 6):
        killed(run, tmp_path, moment)
    run(tmp_path)
    assert files_of(tmp_path) == files_of(finished)


def test_no_more_than_the_steps_since_the_last_checkpoint_are_repeated(tmp_path):
    steps = []
    with pytest.raises(Stop):
        trained_lens(tmp_path, stopped_at(5))
    trained_lens(tmp_path, lambda stage, done, _: steps.append((stage, done)))
    assert [done for stage, done in steps if stage == "training the head"] == [5, 6]
    assert [done for stage, done in steps if stage == "training the translators"] == [1, 2, 3, 4]


def test_the_folder_holds_the_lens_alone(whole):
    assert set(files_of(whole[0])) == {RECORD, WEIGHTS, MANIFEST}


def test_a_finished_lens_is_loaded_and_nothing_is_written(whole):
    before = files_of(whole[0])
    moments = run(whole[0])
    assert (moments.steps, files_of(whole[0])) == (0, before)


OTHERWISE = (
    {"seed": 1},
    {"head_steps": 7},
    {"mask_share": 0.2},
    {"trained_on": ENCODER},
    {"model": tiny_classifier("electra")},
    {"parts": {**lens_parts(), "train": lens_parts()["train"][:-1]}},
    {"parts": {**lens_parts(), "dev": lens_parts()["dev"][:-1]}},
)


@pytest.mark.parametrize("change", OTHERWISE, ids=lambda change: next(iter(change)))
def test_another_run_in_the_same_folder_is_refused(whole, tmp_path, change):
    with pytest.raises(BadFile, match="of another model, other texts or another recipe; give another folder"):
        trained_lens(whole[0], **change)
    with pytest.raises(Stop):
        trained_lens(tmp_path, stopped_at(5))
    before = files_of(tmp_path)
    with pytest.raises(BadFile, match=r"unfinished run that began otherwise \(with another recipe"):
        trained_lens(tmp_path, **change)
    assert files_of(tmp_path) == before


def test_a_models_folder_is_not_written_to(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadFile, match="holds a model; give another folder for the lens"):
        trained_lens(tmp_path)
    assert set(files_of(tmp_path)) == {"config.json"}


def test_a_spoilt_checkpoint_is_refused(tmp_path):
    with pytest.raises(Stop):
        trained_lens(tmp_path, stopped_at(5))
    path = tmp_path / "head.checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(BadFile, match="no checkpoint of ours"):
        trained_lens(tmp_path)


def test_a_full_disk_raises_and_the_run_can_go_on(whole, tmp_path):
    with full_disk(20_000), pytest.raises(BadFile, match="Cannot write"):
        trained_lens(tmp_path)
    trained_lens(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


def test_the_global_state_is_as_before(tmp_path):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with pytest.raises(Stop):
        trained_lens(tmp_path, stopped_at(5))
    torch.manual_seed(5)
    trained_lens(tmp_path)
    assert torch.equal(torch.get_rng_state(), before)
