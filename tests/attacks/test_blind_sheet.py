"""Texts before and after an attack, judged by people who do not know which is which."""

import csv
import json
from dataclasses import replace

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput

TEXTS = [("=A good film.", "positive"), ("So good a day.", "positive"), ("Dull.", "positive")]


@pytest.fixture(scope="module")
def attempts():
    def answer(texts):
        return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]

    model = pellucid.from_function(answer, ["negative", "positive"])
    return pellucid.attack(model, TEXTS, "deepwordbug", progress=False)


@pytest.fixture
def files(attempts, tmp_path):
    pellucid.write_blind_sheet(attempts, tmp_path / "sheet.csv", tmp_path / "key.json")
    return tmp_path / "sheet.csv", tmp_path / "key.json"


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(path, out, judge):
    """A sheet as a person fills it in. judge: row -> its cells."""
    rows = [row | judge(row) for row in rows_of(path)]
    with out.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return out


def test_the_sheet_does_not_say_which_text_was_edited_and_the_key_does(attempts, files):
    sheet, key = files
    rows, hidden = rows_of(sheet), json.loads(key.read_text())["rows"]
    assert len(rows) == len(attempts.successes()) == 2
    assert "deepwordbug" not in sheet.read_text() and set(rows[0]) == {
        "row",
        "text_a",
        "text_b",
        "label_a",
        "label_b",
        "same_meaning",
    }
    for row, of in zip(rows, hidden, strict=True):
        original = "b" if of["edited"] == "a" else "a"
        assert "good" in row[f"text_{original}"] and row[f"text_{original}"] != row[f"text_{of['edited']}"]
    assert not any(row[side].startswith("=") for row in rows for side in ("text_a", "text_b"))


def test_the_same_seed_gives_the_same_sheet_and_others_change_sides(attempts, tmp_path):
    sides = set()
    for seed in range(8):
        one, other = tmp_path / f"{seed}-one", tmp_path / f"{seed}-other"
        for copy in (one, other):
            pellucid.write_blind_sheet(attempts, copy.with_suffix(".csv"), copy.with_suffix(".json"), seed=seed)
        assert one.with_suffix(".csv").read_bytes() == other.with_suffix(".csv").read_bytes()
        sides |= {row["edited"] for row in json.loads(one.with_suffix(".json").read_text())["rows"]}
    assert sides == {"a", "b"}


def test_labels_are_counted_by_side_and_people_are_compared(files, tmp_path):
    sheet, key = files
    edited = {str(row["row"]): row["edited"] for row in json.loads(key.read_text())["rows"]}

    def stays(row):
        return {"label_a": "positive", "label_b": "Positive ", "same_meaning": "5"}

    def flips(row):
        other = "b" if edited[row["row"]] == "a" else "a"
        return {f"label_{edited[row['row']]}": "negative", f"label_{other}": "positive", "same_meaning": "2"}

    one, two = filled(sheet, tmp_path / "one.csv", stays), filled(sheet, tmp_path / "two.csv", flips)
    (blank,) = pellucid.read_blind_sheets(sheet, key)
    assert blank.n_judged == 0 and blank.same_label.mean != blank.same_label.mean
    (alone,) = pellucid.read_blind_sheets(str(one), key)
    assert (alone.n_judged, alone.same_label.mean, alone.same_meaning.mean) == (2, 1.0, 5.0)
    (both,) = pellucid.read_blind_sheets([one, two], key)
    assert (both.n_judged, both.same_label.mean, both.same_meaning.mean, both.agreement) == (4, 0.5, 3.5, 0.0)


@pytest.mark.parametrize(("sign", "first"), [(";", ""), ("\t", ""), (";", "sep=;\n")])
def test_a_sheet_may_be_saved_by_a_spreadsheet_of_another_country(files, tmp_path, sign, first):
    sheet, key = files
    copy = filled(sheet, tmp_path / "x.csv", lambda row: {"same_meaning": "4", "comment": "schön; gut"})
    with copy.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    with copy.open("w", encoding="cp1252", newline="") as file:
        file.write(first)
        csv.writer(file, delimiter=sign).writerows(rows)
    (scores,) = pellucid.read_blind_sheets(copy, key)
    assert (scores.n_texts, scores.same_meaning.mean) == (2, 4.0)


def test_what_cannot_be_read_is_refused_with_its_line(attempts, files, tmp_path):
    sheet, key = files
    with pytest.raises(BadFile, match="line 2: same_meaning is '9'"):
        pellucid.read_blind_sheets(filled(sheet, tmp_path / "x.csv", lambda row: {"same_meaning": "9"}), key)
    with pytest.raises(BadFile, match="row 1 is there twice"):
        pellucid.read_blind_sheets(filled(sheet, tmp_path / "x.csv", lambda row: {"row": "1"}), key)
    with pytest.raises(BadFile, match="not in the key"):
        pellucid.read_blind_sheets(filled(sheet, tmp_path / "x.csv", lambda row: {"row": "77"}), key)
    with pytest.raises(BadFile, match="is not the key"):
        pellucid.read_blind_sheets(sheet, sheet)
    with pytest.raises(BadFile, match=r"does not end in \.csv"):
        pellucid.write_blind_sheet(attempts, tmp_path / "x.txt", key)
    with pytest.raises(BadInput, match="nothing to judge"):
        pellucid.write_blind_sheet(attempts[2:], tmp_path / "new.csv", tmp_path / "new.json")
    with pytest.raises(BadFile, match=r"'happy' is no class; give one of negative, positive, or nothing"):
        pellucid.read_blind_sheets(filled(sheet, tmp_path / "x.csv", lambda row: {"label_a": "happy"}), key)


def test_a_sheet_is_never_replaced(attempts, files):
    sheet, key = files
    before = sheet.read_bytes(), key.read_bytes()
    with pytest.raises(BadFile, match="exists, and what people filled in may belong to it"):
        pellucid.write_blind_sheet(attempts, sheet, key, seed=5)
    assert (sheet.read_bytes(), key.read_bytes()) == before


def test_people_may_write_any_label_where_a_text_has_several(attempts, tmp_path):
    several = pellucid.Attempts([replace(one, goal="label(label=positive)") for one in attempts])
    sheet, key = tmp_path / "sheet.csv", tmp_path / "key.json"
    pellucid.write_blind_sheet(several, sheet, key)
    judged = filled(sheet, tmp_path / "x.csv", lambda row: {"label_a": "kind, warm", "label_b": "kind, warm"})
    assert pellucid.read_blind_sheets(judged, key)[0].same_label.mean == 1.0


def test_the_key_of_another_sheet_is_refused(attempts, files, tmp_path):
    other = [("It was a good film for all of us.", "positive"), ("A very good idea.", "positive")]
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )
    others = pellucid.attack(model, other, "deepwordbug", progress=False)
    pellucid.write_blind_sheet(others, tmp_path / "other.csv", tmp_path / "other.json")
    with pytest.raises(BadFile, match=r"line 2: the texts are not those of row 1 in the key"):
        pellucid.read_blind_sheets(files[0], tmp_path / "other.json")


def test_a_text_that_several_attacks_edited_stands_in_one_row(attempts, tmp_path):
    again = [replace(one, attack="other", edits=(replace(one.edits[0], after="gud"),)) for one in attempts[:2]]
    both = pellucid.Attempts([*attempts, *again])
    pellucid.write_blind_sheet(both, tmp_path / "sheet.csv", tmp_path / "key.json")
    assert len(rows_of(tmp_path / "sheet.csv")) == 2


def test_judgements_of_one_text_count_as_one_text(files, tmp_path):
    sheet, key = files
    stays = lambda row: {"label_a": "positive", "label_b": "positive"}  # noqa: E731
    one, two = filled(sheet, tmp_path / "one.csv", stays), filled(sheet, tmp_path / "two.csv", stays)
    (alone,) = pellucid.read_blind_sheets(one, key)
    (both,) = pellucid.read_blind_sheets([one, two], key)
    assert both.n_judged == 2 * alone.n_judged and both.same_label == alone.same_label
