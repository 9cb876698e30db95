"""CSV: every row and number, in a form that spreadsheets open, and no text that they would compute."""

import csv
import re
from pathlib import Path

import pandas
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput
from pellucid.results.side_by_side import SideBySide
from tests.shared.answered import answered
from tests.shared.sample_results import sample_table

FINE = answered("a fine, dull film", [0.5, 2, 0, -1, 0.25], label="positive", name="r1")


def rows(results, path):
    """What a reader of CSV sees."""
    pellucid.write_csv(results, path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_a_text_with_its_strongest_words(tmp_path):
    (row,) = rows([FINE], tmp_path / "run.csv")
    assert (row["id"], row["text"], row["label"], row["predicted"]) == (
        "r1",
        "a fine, dull film",
        "positive",
        "positive",
    )
    assert (row["correct"], row["probability"], row["value"]) == ("True", "0.9", "1.0")
    assert (row["words_for"], row["words_against"]) == ("fine +2, a +0.5, film +0.25", "dull -1")
    assert row["words_and_scores"] == "a +0.5, fine +2, , +0, dull -1, film +0.25"
    assert not {"words", "scores"} & set(row)


def test_results_and_methods_side_by_side_and_one_explanation(tmp_path):
    assert rows(FINE, tmp_path / "one.csv") == rows(SideBySide({"occlusion": [FINE]}), tmp_path / "side.csv")


def test_words_and_comparisons(tmp_path):
    words = pellucid.class_words([FINE], min_texts=1)
    written = rows(words, tmp_path / "words.csv")
    assert [row["word"] for row in written] == [word.word for word in words.words]
    assert {row["low"] for row in written} == {""}  # one text has no interval
    table = sample_table()
    frame = rows(table, tmp_path / "table.csv")
    assert [float(row["mean"]) for row in frame] == [cell.value.mean for cell in table.cells]


FORMULAS = ("=1+1", "+49 is a number", "-5+2", "@home", "\tx", "\rx", "\nx")
FULL_WIDTH = tuple("＝＋－＠﹦﹢﹣﹫")
BEHIND = (
    " =1",
    "\u00a0=1",
    "\u3000＝1",
    "\u200b@x",
    "\ufeff=1",
    "\x00=1",
    "\x1b\x85 +x",
    "\u2028-x",
    "\u202e=1",
)


@pytest.mark.parametrize("text", (*FORMULAS, *(f"{sign}1+x" for sign in FULL_WIDTH), *BEHIND))
def test_a_text_that_is_a_formula_is_not_computed(tmp_path, text):
    (row,) = rows([answered(text, name=text)], tmp_path / "run.csv")
    assert row["text"] == row["id"] == f"'{text}"
    for harmless in (f"a {text}", f" “{text}”", " ‑ x", "-5"):
        (row,) = rows([answered(harmless)], tmp_path / "run.csv")
        assert row["text"] == harmless


def test_whatever_writes_csv_leaves_no_formula():
    source = Path(pellucid.__file__).parent
    writers = [path for path in source.rglob("*.py") if re.search(r"csv\.\w*[wW]riter\(|to_csv\(", path.read_text())]
    assert len(writers) >= 2 and all("uncomputed(" in path.read_text() for path in writers)


def test_negative_numbers_stay_numbers(tmp_path):
    pellucid.write_csv(pellucid.class_words([FINE], min_texts=1), tmp_path / "words.csv")
    assert pandas.read_csv(tmp_path / "words.csv")["mean"].min() == -1.0


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"does not end in \.csv"):
        pellucid.write_csv([FINE], tmp_path / "run.txt")
    with pytest.raises(BadInput, match="has no rows"):
        pellucid.write_csv("run", tmp_path / "run.csv")
    pellucid.write_csv([], tmp_path / "none.csv")
    assert not list(tmp_path.glob("run.*"))
