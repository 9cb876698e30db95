"""Attempts in a folder: they resume, come back equal, and are never mixed with those of another question."""

import json

import pytest

import pellucid
from pellucid.attacks.storage import read_attempts, save_attempts
from pellucid.base.errors import BadFile
from pellucid.base.manifest import MANIFEST
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
    assert summary.queries.low == 0.0 and summary.edited.low == 0.0 and summary.edited.high == 1.0


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


def test_a_damaged_part_is_named(model, tmp_path):
    attacked(model, tmp_path)
    (tmp_path / "deepwordbug" / MANIFEST).unlink()  # as in an interrupted attack, or one of an earlier version
    part = tmp_path / "deepwordbug" / "parts" / "0000.json"
    part.write_text(part.read_text().replace('"queries": 8', '"queries": 7'))
    with pytest.raises(BadFile, match=r"0000\.json was changed"):
        attacked(model, tmp_path)
