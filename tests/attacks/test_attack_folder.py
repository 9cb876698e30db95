"""Attempts in a folder: they resume, come back equal, and are never mixed with those of another question."""

import contextlib
import json
import shutil

import pytest

import pellucid
from pellucid.attacks.storage import read_attempts, save_attempts
from pellucid.base.errors import BadFile, FolderMended
from pellucid.base.json_text import sealed
from pellucid.base.manifest import MANIFEST, Manifest, digest_inside, read_manifest
from tests.shared.moments import files_of

LINES = ["A good film.", "Dull.", "So good, so good.", "...", *(f"A good day number {n}." for n in range(40))]
TEXTS = [pellucid.Example((line,), "positive") for line in LINES]


@pytest.fixture(scope="module")
def model():
    answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]  # noqa: E731
    return pellucid.from_function(answer, ["negative", "positive"])


def attacked(model, folder=None, texts=TEXTS, **settings):
    return pellucid.attack(model, texts, "deepwordbug", folder=folder, progress=False, **settings)


def test_a_folder_gives_what_memory_gives_and_is_read_back(model, tmp_path):
    attempts = attacked(model, tmp_path / "runs")
    assert list(attempts) == list(attacked(model))
    again = pellucid.read(tmp_path / "runs")
    assert isinstance(again, pellucid.Attempts) and list(again) == list(attempts)
    assert list(pellucid.read(tmp_path / "runs" / "deepwordbug")) == list(attempts)


def test_an_interrupted_attack_goes_on_to_the_same_bytes(model, tmp_path):
    class Stop(KeyboardInterrupt):
        pass

    calls = []

    def answer(texts):
        calls.append(len(texts))
        if len(calls) == 12:
            raise Stop
        return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]

    stopping = pellucid.from_function(answer, ["negative", "positive"], name=model.name)
    with pytest.raises(Stop):
        attacked(stopping, tmp_path / "one")
    done = len(calls)
    attacked(stopping, tmp_path / "one")
    resumed = len(calls) - done
    attacked(stopping, tmp_path / "two")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    before = len(calls)
    attacked(stopping, tmp_path / "two")
    assert len(calls) == before  # nothing is asked again
    assert resumed


@pytest.mark.parametrize(
    ("settings", "differs"),
    (
        ({"seed": 1}, "attack"),
        ({"texts": TEXTS[:3]}, "texts"),
        ({"max_queries": 9}, "attack"),
        ({"goal": "negative"}, "attack"),
    ),
)
def test_another_question_is_refused(model, tmp_path, settings, differs):
    attacked(model, tmp_path)
    with pytest.raises(BadFile, match=f"holds another attack .it differs in {differs}"):
        attacked(model, tmp_path, **settings)


def test_a_dictionary_is_known_by_its_content_and_pivots_only_where_they_are_read(model, tmp_path):
    whole, copy, other = (tmp_path / name / "wordnet" for name in ("whole", "copy", "other"))
    for folder, content in ((whole, "a"), (copy, "a"), (other, "b")):
        folder.mkdir(parents=True)
        (folder / "data.noun").write_text(content)
    attacked(model, tmp_path / "runs", wordnet=whole)
    attacked(model, tmp_path / "runs", wordnet=copy, pivots=["catalan"])
    with pytest.raises(BadFile, match="holds another attack"):
        attacked(model, tmp_path / "runs", wordnet=other)


def test_intervals_stay_within_what_their_numbers_can_be(model):
    texts = [
        ("A good film.", "positive"),
        ("good", "positive"),
        ("A dull day, in which nobody was well.", "negative"),
    ]
    (summary,) = attacked(model, texts=texts).table()
    assert 0 < summary.queries.low < summary.queries.mean and 0 < summary.edited.low < summary.edited.high < 1


@pytest.mark.parametrize("form", ("json", "parquet"))
def test_attempts_come_back_equal_from_a_file(model, tmp_path, form):
    attempts = attacked(model)
    attempts.save(tmp_path / f"attempts.{form}")
    assert list(pellucid.read(tmp_path / f"attempts.{form}")) == list(attempts)


def test_a_changed_or_foreign_file_is_refused(model, tmp_path):
    path = tmp_path / "attempts.json"
    save_attempts(attacked(model)[:1], path)
    whole = json.loads(path.read_text())
    for change in ({"ending": "won"}, {"edited": ["A bad film."]}, {"classes": ["x"]}, {"queries": "many"}):
        path.write_text(json.dumps({**whole, "attempts": [whole["attempts"][0] | change]}))
        with pytest.raises(BadFile, match="does not hold attempts"):
            read_attempts(path)
    path.write_text("[]")
    with pytest.raises(BadFile):
        read_attempts(path)
    with pytest.raises(BadFile, match="no file"):
        read_attempts(tmp_path / "none.parquet")


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """The folders of a quiet attack, and of one on the same texts with another seed."""
    folders = [tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("other")]
    for seed, folder in enumerate(folders):
        attacked(model, folder, seed=seed)
    return [folder / "deepwordbug" for folder in folders]


HARMS = {
    "truncated": lambda content, other: content[:-1],
    "empty": lambda content, other: b"",
    "flipped": lambda content, other: content.replace(b'"queries": 7', b'"queries": 6').replace(b"PAR1", b"PAR3"),
    "written otherwise": lambda content, other: content + b"\n",
    "of another seed": lambda content, other: other,
}


@pytest.mark.parametrize("name", ("parts/0000.json", "attempts.parquet"))
@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_file_is_named_and_written_again(model, whole, tmp_path, name, harm):
    """As in an interrupted attack, or one of an earlier version: no manifest says what is damaged."""
    folder = tmp_path / "deepwordbug"
    shutil.copytree(whole[0], folder, ignore=shutil.ignore_patterns(MANIFEST))
    other = json.loads((whole[1] / "parts" / "0000.json").read_text())
    spoilt = HARMS[harm]((folder / name).read_bytes(), (whole[1] / name).read_bytes())
    assert other["attempts"] and spoilt != (folder / name).read_bytes()
    (folder / name).write_bytes(spoilt)
    with pytest.warns(FolderMended, match=rf"changed: {name}\."):
        attacked(model, tmp_path)
    assert files_of(folder) == files_of(whole[0])


@pytest.mark.parametrize("has_manifest", (True, False))
def test_parts_of_the_first_weeks_are_read_where_a_manifest_vouches_for_them(model, whole, tmp_path, has_manifest):
    """Their seal names the model and not the question, so that a part of another seed would fit."""
    folder = tmp_path / "deepwordbug"
    shutil.copytree(whole[0], folder)
    for number in range(2):
        path = folder / "parts" / f"{number:04d}.json"
        content = json.loads(path.read_text())
        del content["seal"]
        path.write_text(json.dumps(sealed(content, {"model": model.hash, "part": number}), ensure_ascii=False))
    manifest = read_manifest(folder)
    files = {name: digest_inside(folder, name) for name in manifest.files}
    Manifest(manifest.command, manifest.work, files).save(folder)
    before = files_of(folder)
    if has_manifest:
        attacked(model, tmp_path)
        assert files_of(folder) == before
        return
    (folder / MANIFEST).unlink()
    with pytest.warns(FolderMended, match=r"parts/0000\.json, parts/0001\.json"):
        attacked(model, tmp_path)
    assert files_of(folder) == files_of(whole[0])


def test_a_flipped_bit_in_attempts_is_never_read(whole, tmp_path):
    content = (whole[0] / "attempts.parquet").read_bytes()
    expected, path = read_attempts(whole[0] / "attempts.parquet"), tmp_path / "attempts.parquet"
    for place in range(10, len(content), len(content) // 60):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with contextlib.suppress(BadFile):
            assert read_attempts(path) == expected
