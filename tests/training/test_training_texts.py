"""`train` takes what every door takes: frames, examples, and parts in a mapping."""

import warnings
from pathlib import Path

import pandas as pd
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting

REVIEWS = Path(__file__).parents[2] / "examples" / "data" / "reviews.csv"
STARS = {1: "negative", 2: "negative", 3: "neutral", 4: "positive", 5: "positive"}
QUICK = {"encoder": "cnn", "pooler": "mean", "epochs": 1, "progress": False}


@pytest.fixture(scope="module")
def frame():
    return pd.read_csv(REVIEWS, sep=";")


@pytest.fixture(autouse=True)
def silence():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.whole
def test_a_frame_is_cut_as_its_file_is(frame, tmp_path):
    columns = {"text": "review", "label": "stars", "label_map": STARS}
    numbered = frame.assign(id=[f"reviews-{line}" for line in range(2, len(frame) + 2)])  # as the file names its rows
    from_frame = pellucid.train(numbered, out=tmp_path / "frame", **columns, **QUICK)
    from_file = pellucid.train(REVIEWS, out=tmp_path / "file", **columns, **QUICK)
    assert from_frame.labels == from_file.labels == ("negative", "neutral", "positive")
    seen = [(tmp_path / name / "trained_texts.txt").read_text() for name in ("frame", "file")]
    assert seen[0] == seen[1]


@pytest.mark.whole
def test_parts_stay_as_they_came(frame, tmp_path):
    parts = {"train": frame.iloc[:40], "validation": frame.iloc[40:60]}
    model = pellucid.train(parts, text="review", label="stars", label_map=STARS, out=tmp_path, **QUICK)
    seen = (tmp_path / "trained_texts.txt").read_text().split()
    assert model.labels == ("negative", "neutral", "positive") and len(set(seen)) >= 60


@pytest.mark.whole
def test_examples_are_trained_on(tmp_path):
    examples = [
        pellucid.Example((f"A {word} film, number {n}",), word, id=str(n))
        for n in range(30)
        for word in ("good", "bad")
    ]
    assert pellucid.train(examples, out=tmp_path, **QUICK).labels == ("bad", "good")


@pytest.mark.parametrize(
    ("data", "settings", "error", "message"),
    [
        ("frame", {"format": "table"}, BadSetting, "format= says how files are read"),
        ("frame", {"read": {"text": "review"}}, BadSetting, "read= says how files are read"),
        ("frame", {"label_map": {1: "bad"}}, BadInput, "says nothing of the labels 2, 3, 4, 5"),
        (["A fine film", "A dull film"], {}, BadInput, "two classes or more"),
        (3, {}, BadInput, "came as int"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(frame, tmp_path, data, settings, error, message):
    with pytest.raises(error, match=message):
        pellucid.train(frame if isinstance(data, str) else data, out=tmp_path, **QUICK, **settings)
