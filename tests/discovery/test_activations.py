"""Activations as Parquet are those that texts show, whatever their number; and the figure shows every concept's effect."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadSetting
from pellucid.discovery import activations
from pellucid.discovery.figure import ROW
from tests.hostile.command_line import run
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier

TEXTS = [example.text for example in pellucid.examples("pocket", "train")[:40]]


@pytest.fixture(scope="module")
def model():
    return tiny_classifier("bert", LABELS)


def concepts_of(model, method="svd", level="word", n=4):
    return pellucid.find_concepts(model, TEXTS, 1, n=n, method=method, level=level, n_texts=4, progress=False)


@pytest.mark.parametrize("method", ["nmf", "svd"])
def test_rows_are_the_activations_that_a_text_shows(model, method, tmp_path, monkeypatch):
    monkeypatch.setattr(activations, "TOGETHER", 3)
    concepts = concepts_of(model, method)
    files = {rows: tmp_path / f"{rows}.parquet" for rows in ("text", "word")}
    for rows, path in files.items():
        assert pellucid.concept_activations(model, TEXTS[:7], concepts, path, rows=rows, progress=False) == path
    by_text, by_word = (pq.read_table(path).to_pandas() for path in files.values())
    assert len(by_text) == 7 * 4 and pq.ParquetFile(files["text"]).num_row_groups == 3
    for number, text in enumerate(TEXTS[:7]):
        for shown in pellucid.text_concepts(model, text, concepts).concepts:
            row = by_text[(by_text.text == number) & (by_text.concept == shown.id)]
            words = by_word[(by_word.text == number) & (by_word.concept == shown.id)]
            assert row.activation.item() == pytest.approx(shown.activation, rel=1e-4, abs=1e-5)
            assert row.largest.item() == pytest.approx(words.activation.max())
            scores = shown.where.scores[list(shown.where.units.content)]
            np.testing.assert_allclose(words.activation, scores, rtol=1e-4, atol=1e-5)
            assert [text[start:end] for start, end in zip(words.start, words.end, strict=True)] == list(words.word)
            assert set(words.name) == {concepts.concepts[shown.id - 1].name}


def test_concepts_of_texts_have_no_words_and_a_file_has_its_ending(model, tmp_path):
    concepts = concepts_of(model, level="text")
    with pytest.raises(BadSetting, match="of whole texts"):
        pellucid.concept_activations(model, TEXTS, concepts, tmp_path / "a.parquet", rows="word")
    with pytest.raises(BadFile, match="does not end in"):
        pellucid.concept_activations(model, TEXTS, concepts, tmp_path / "a.csv")
    with pytest.raises(BadFile, match="with other weights"):
        pellucid.concept_activations(tiny_classifier("roberta"), TEXTS, concepts, tmp_path / "a.parquet")
    assert not any(tmp_path.iterdir())


def test_the_figure_has_a_row_a_concept_with_its_interval_before_that_of_chance(model, tmp_path):
    pytest.importorskip("matplotlib")
    concepts = concepts_of(model)
    figure = pellucid.figure(concepts, tmp_path / "concepts.svg")
    (panel,) = figure.axes
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert [label.split()[0] for label in labels] == ["1", "2", "3", "4"] and figure.get_figheight() > 4 * ROW
    chance, interval, mean = (line.get_xdata().tolist() for line in panel.lines[:3])
    removal = concepts.concepts[0].removal
    assert chance == [removal.chance.low, removal.chance.high] and mean == [removal.value.mean]
    assert interval == [removal.value.low, removal.value.high]


def test_the_command_writes_the_table(tmp_path):
    pytest.importorskip("matplotlib")
    save_tiny(tmp_path / "model", labels=LABELS)
    command = ["concepts", "find", str(tmp_path / "model"), "pocket", "--layer", "1", "--n", "3", "--n-texts", "3"]
    command += ["--method", "svd", "--limit", "20", "--out", str(tmp_path / "out")]
    status, _, err = run([*command, "--save", str(tmp_path / "words.parquet"), "--rows", "word"])
    assert status == 0, err
    assert "word" in pq.read_table(tmp_path / "words.parquet").column_names
    status, _, err = run(["figure", str(tmp_path / "out"), "--out", str(tmp_path / "concepts.png")])
    assert status == 0 and (tmp_path / "concepts.png").exists(), err
    status, _, err = run([*command, "--save", str(tmp_path / "words.csv")])
    assert status == 2 and ".parquet" in err
