"""What `train` says: texts that occur several times, how often the model is right, and the command that shows
mistakes.
"""

import shlex
from pathlib import Path

import pytest

import pellucid
from pellucid.training.trained_folder import TrainedFolder
from tests.shared.tiny_training import save_encoder

REVIEWS = Path(__file__).parents[2] / "examples" / "data" / "reviews.csv"
STARS = "1=negative,2=negative,3=neutral,4=positive,5=positive"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    save_encoder(folder := tmp_path_factory.mktemp("encoder"))
    return folder


@pytest.mark.whole
def test_train_on_a_spreadsheets_file_says_its_accuracy_and_what_to_try(run, encoder, tmp_path):
    words = ("--encoder", encoder, "--epochs", 1, "--label-map", STARS)
    status, out, err = run("train", REVIEWS, "--out", tmp_path / "model", *words)
    assert status == 0, err
    assert err.count("Read reviews.csv as a table with ';' between fields") == 1
    assert "1 text occurs more than once; it is kept in one part." in err
    parts = pellucid.examples(REVIEWS, "all")
    assert len(parts) == 200
    (line,) = (line for line in out.splitlines() if line.startswith("Accuracy: "))
    assert "of the dev texts (epoch 1 of 1, the best)" in line and "of 30 test texts; always positive" in line
    (line,) = (line for line in out.splitlines() if line.startswith("See its mistakes: "))
    command = shlex.split(line.removeprefix("See its mistakes: pellucid "))
    status, out, err = run(*command[:-1], tmp_path / "mistakes.html", "--json")
    assert status == 0, err
    assert "only the 30 others are judged" in err
    assert (tmp_path / "mistakes.html").is_file()


@pytest.mark.whole
def test_data_without_a_test_part_have_the_accuracy_on_dev_alone(run, encoder, tmp_path):
    examples = pellucid.examples("pocket", "dev")
    for part, some in (("train", examples[:40]), ("dev", examples[40:60])):
        pellucid.write_json_lines(some, tmp_path / "data" / f"{part}.jsonl")
    words = (
        "--encoder",
        encoder,
        "--epochs",
        1,
        "--recipe",
        "layer_decay=0.5",
        "--recipe",
        "freeze_vectors=true",
    )
    status, out, err = run("train", tmp_path / "data", "--out", tmp_path / "model", *words)
    assert status == 0, err
    trained = TrainedFolder(tmp_path / "model").record["recipe"]
    assert (trained["layer_decay"], trained["freeze_vectors"]) == (0.5, True)
    assert "of the dev texts (epoch 1 of 1, the best)." in out and "test texts" not in out
    assert "See its mistakes" not in out
