"""`pellucid extract`: the folder it writes can be trained on and matched in length, and mistakes end in one
sentence.
"""

import json

import pytest

import pellucid
from pellucid.evidence import extracted_parts
from tests.shared.moments import files_of
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
        "extraction.json",
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


@pytest.fixture
def quiet(run, saved, data, tmp_path, monkeypatch):
    """The words of an extraction in six parts, and its folder."""
    monkeypatch.setattr(extracted_parts, "PART", 2)
    words = ["extract", saved, data, "--extractor", "gradient", "--out"]
    assert run(*words, tmp_path / "quiet")[0] == 0
    return words, tmp_path / "quiet"


def interrupted(run, words, out, monkeypatch, after):
    """Ctrl-C in the work on the part with this number."""
    computed, part_record = [], extracted_parts._part_record

    def interrupting(*inputs):
        if len(computed) == after:
            raise KeyboardInterrupt
        computed.append(None)
        return part_record(*inputs)

    with monkeypatch.context() as patch:
        patch.setattr(extracted_parts, "_part_record", interrupting)
        status, _, err = run(*words, out)
    assert status == 130 and err.startswith("Interrupted; run the same command again") and "extract" in err


def counted(monkeypatch):
    """How many parts are computed from now on."""
    computed, part_record = [], extracted_parts._part_record
    monkeypatch.setattr(extracted_parts, "_part_record", lambda *inputs: computed.append(None) or part_record(*inputs))
    return computed


def test_an_interrupted_extraction_goes_on_to_the_same_bytes(run, quiet, tmp_path, monkeypatch):
    words, whole = quiet
    interrupted(run, words, tmp_path / "out", monkeypatch, after=3)
    assert (tmp_path / "out" / "train.jsonl").exists() and not (tmp_path / "out" / "dev.jsonl").exists()
    computed = counted(monkeypatch)
    status, _, err = run(*words, tmp_path / "out")
    assert (status, err, len(computed)) == (0, "", 3)
    assert files_of(tmp_path / "out") == files_of(whole)
    status, _, err = run(*words, tmp_path / "out")
    assert status == 2 and "is there already" in err


@pytest.mark.parametrize(
    "harm",
    (
        lambda content: content[:-1],
        lambda content: b"",
        lambda content: content.replace(b'"whole": 0', b'"whole": 1'),
        lambda content: content.replace(b"train-0000", b"train-0001"),
        lambda content: json.dumps({**json.loads(content), "lines": []}).encode(),
    ),
)
def test_a_damaged_part_and_file_are_named_and_written_again(run, quiet, tmp_path, monkeypatch, harm):
    words, whole = quiet
    interrupted(run, words, tmp_path / "out", monkeypatch, after=3)
    part, file = tmp_path / "out" / extracted_parts.UNFINISHED / "train-0000.json", tmp_path / "out" / "train.jsonl"
    part.write_bytes(harm(part.read_bytes()))
    file.write_bytes(file.read_bytes()[:-9])
    computed = counted(monkeypatch)
    status, _, err = run(*words, tmp_path / "out")
    assert status == 0 and "changed: unfinished-extraction/train-0000.json, train.jsonl." in err
    assert len(computed) == 4 and files_of(tmp_path / "out") == files_of(whole)


def test_another_extraction_does_not_go_on_from_the_parts(run, quiet, tmp_path, monkeypatch):
    words, _ = quiet
    interrupted(run, words, tmp_path / "out", monkeypatch, after=3)
    before = files_of(tmp_path / "out")
    status, _, err = run(*words[:-1], "--n-spans", 2, "--out", tmp_path / "out")
    assert status == 2 and "holds another extraction that was interrupted; give another folder" in err
    assert files_of(tmp_path / "out") == before


def test_parts_change_no_byte(run, quiet, tmp_path, monkeypatch):
    words, whole = quiet
    monkeypatch.setattr(extracted_parts, "PART", 64)
    assert run(*words, tmp_path / "out")[0] == 0
    ours, theirs = (pellucid.examples(folder, "train") for folder in (tmp_path / "out", whole))
    for one, other in zip(ours, theirs, strict=True):
        assert (one.segments, one.label, one.id) == (other.segments, other.label, other.id)
