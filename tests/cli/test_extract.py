"""`pellucid extract`: the folder it writes can be trained on and matched in length, and mistakes end in one
sentence.
"""

import pytest

import pellucid
from tests.shared.tiny import save_tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("model"), labels=("negative", "neutral", "positive"))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for part in ("train", "dev", "test"):
        pellucid.write_json_lines(pellucid.examples("pocket", part)[:4], folder / f"{part}.jsonl")
    return folder


def test_parts_of_spans_are_written_and_matched_in_length(run, saved, data, tmp_path):
    words = ("--extractor", "average_gradient", "--budget", "0.3", "--set", "target=predicted")
    status, out, err = run("extract", saved, data, "--out", tmp_path / "a", *words)
    assert (status, err) == (0, "")
    assert "train: 4 texts" in out and f"pellucid train {tmp_path / 'a'}" in out
    words = ("--extractor", "random_span_of_length", "--like", tmp_path / "a", "--parts", "test", "--seed", 5)
    status, out, _ = run("extract", saved, data, "--out", tmp_path / "b", *words)
    assert status == 0 and "pellucid train" not in out
    for ours, theirs in zip(pellucid.examples(tmp_path / "a"), pellucid.examples(tmp_path / "b"), strict=True):
        assert ours.meta["original"] == theirs.meta["original"]
        ours_words, their_words = (sum(s[4] - s[3] for s in one.meta["spans"]) for one in (ours, theirs))
        assert ours_words == their_words
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [
        "pellucid-manifest.json",
        "test.jsonl",
    ]


def test_one_file_is_cut_as_training_cuts_it(run, saved, tmp_path):
    pellucid.write_json_lines(pellucid.examples("pocket", "test")[:40], tmp_path / "data.jsonl")
    status, _, err = run(
        "extract", saved, tmp_path / "data.jsonl", "--out", tmp_path / "a", "--extractor", "random_span"
    )
    assert (status, err) == (0, "")
    parts = [pellucid.examples(tmp_path / "a", part) for part in ("train", "dev", "test")]
    assert all(parts) and len({one.id for part in parts for one in part}) == sum(map(len, parts)) == 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--extractor", "occlusoin"), "Did you mean 'occlusion'?"),
        (("--extractor", "occlusion", "--budget", "some"), "--budget 'some' is no number"),
        (("--extractor", "occlusion", "--parts", "train,exam"), "--parts 'exam' is no part"),
        (("--extractor", "occlusion", "--like", "DATA"), "holds no extraction"),
        ((), "no span weights"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_status_2(run, saved, data, tmp_path, *, words, message):
    words = (data if word == "DATA" else word for word in words)
    status, out, err = run("extract", saved, data, "--out", tmp_path / "out", *words)
    assert (status, out) == (2, "")
    assert message in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_nothing_that_is_there_is_overwritten(run, saved, data, tmp_path):
    (tmp_path / "test.jsonl").write_text("mine")
    status, _, err = run("extract", saved, data, "--out", tmp_path, "--extractor", "random_span")
    assert status == 2 and "is there already" in err
    assert [path.name for path in tmp_path.iterdir()] == ["test.jsonl"]
