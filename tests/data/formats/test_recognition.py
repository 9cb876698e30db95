"""Files as spreadsheets write them: separators, encodings, decimal commas and columns are recognised, and that is
said.
"""

import gzip
import warnings
from zipfile import ZipFile

import pytest

import pellucid
from pellucid.base.checks import command_line_syntax
from pellucid.base.errors import BadFile, BadSetting, InputReading, UnknownName
from pellucid.data.load import load_examples
from tests.data.formats.originals import example, write

ROWS = (("review", "stars"), ("Ein schöner Film über Bäume", "4"), ("Größer als erwartet, leider öde", "2"))
EXPECTED = [example(text, stars, f"reviews-{n}") for n, (text, stars) in enumerate(ROWS[1:], start=2)]


def table(delimiter=";", encoding="utf-8", rows=ROWS):
    return "".join(delimiter.join(f'"{field}"' for field in row) + "\r\n" for row in rows).encode(encoding)


def sentence(file, **settings):
    """What is said about a file, in one warning."""
    with pytest.warns(InputReading) as warned:
        load_examples(file, **settings)
    (warning,) = warned
    assert warning.filename == __file__  # the line that read the file
    return str(warning.message)


@pytest.mark.parametrize(
    ("delimiter", "encoding", "form"),
    [
        (";", "utf-8", "a table with ';' between fields"),
        (";", "utf-8-sig", "a table with ';' between fields"),
        ("\t", "utf-16", "a table with tabs between fields, UTF-16"),
        (";", "utf-16-le", "a table with ';' between fields, UTF-16"),
        ("|", "utf-16-be", "a table with '|' between fields, UTF-16"),
        (";", "utf-32", "a table with ';' between fields, UTF-32"),
        (",", "cp1252", "a table in Windows-1252 (Western European)"),
        (";", "latin-1", "a table with ';' between fields, Windows-1252 (Western European)"),
    ],
)
@pytest.mark.parametrize("name", ("reviews.csv", "reviews.csv.gz"))
def test_separators_and_encodings_are_recognised(tmp_path, delimiter, encoding, form, name):
    file = tmp_path / name
    content = table(delimiter, encoding)
    file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert load_examples(file) == EXPECTED
    assert sentence(file) == f"Read {name} as {form}; texts from the column 'review', labels from 'stars'."


def test_what_goes_without_saying_has_no_notice(tmp_path):
    plain = write(tmp_path / "plain.csv", 'text,label\n"A fine; day | indeed",good\nDull;very;dull,bad\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_examples(plain)[0] == example("A fine; day | indeed", "good", "plain-2")
        named = write(tmp_path / "named.csv", "body;stars\nFine;4\n")
        load_examples(named, delimiter=";", text="body", label="stars")


@pytest.mark.parametrize(
    "content",
    [
        b"text,label\nna\xc3\xafve,a\ncaf\xe9,b\n",  # UTF-8 and another encoding
        "text,label\nŽluťoučký kůň pěl,a\n".encode("cp1250"),
        "text,label\nПривет и пока,a\n".encode("cp1251"),
        "text,label\nGęś i żółw się śmieją,b\n".encode("iso8859-2"),
        b"text,label\nfine\x81,a\n",
    ],
)
def test_other_encodings_are_not_read_as_the_western_one(tmp_path, content):
    file = write(tmp_path / "rows.csv", content)
    with pytest.raises(BadFile, match=r"rows\.csv, line \d: it is not UTF-8 text.*encoding='cp1250'"):
        load_examples(file)


def test_an_encoding_can_be_named(tmp_path):
    file = write(tmp_path / "rows.csv", "text,label\nŽluťoučký kůň,a\n".encode("cp1250"))
    assert load_examples(file, encoding="cp1250")[0].text == "Žluťoučký kůň"
    with pytest.raises(BadSetting, match="encoding='cp99' is not known"):
        load_examples(file, encoding="cp99")


def test_a_line_that_declares_the_separator_is_no_row(tmp_path):
    file = write(tmp_path / "rows.csv", "sep=|\ntext|label\nA, b; c|good\n")
    assert load_examples(file) == [example("A, b; c", "good", "rows-3")]


def test_the_sign_that_fits_the_rows_wins_over_one_inside_a_name(tmp_path):
    file = write(
        tmp_path / "rows.csv",
        "text, as written;label\nA fine, long, odd day here;good\nDull and grey it was;bad\n",
    )
    assert [one.label for one in load_examples(file, text="text, as written")] == ["good", "bad"]


def test_labels_with_decimal_commas_are_numbers_with_points(tmp_path):
    file = write(tmp_path / "rows.csv", "text;stars\nFine;4,0\nDull;1,50\nSo so;3\n")
    assert [one.label for one in load_examples(file)] == ["4", "1.5", "3"]
    assert "labels with decimal commas" in sentence(file)
    several = write(tmp_path / "several.csv", "text;label\nFine;1,2\nDull;a\n")  # not all are numbers
    assert [one.label for one in load_examples(several)] == ["1,2", "a"]


@pytest.mark.parametrize(
    ("names", "texts", "label"),
    [
        ("Kommentar;Sterne", "Kommentar", "Sterne"),
        ("Avis;Étiquette", "Avis", "Étiquette"),
        ("opinión;clase", "opinión", "clase"),
        ("отзыв;оценка", "отзыв", "оценка"),
        ("评论;评分", "评论", "评分"),
        ("Review Text;Rating", "Review Text", "Rating"),
        ("content;sentiment", "content", "sentiment"),
    ],
)
def test_columns_are_known_by_names_in_many_languages(tmp_path, names, texts, label):
    file = write(tmp_path / "rows.csv", f"{names}\nA fine day;good\n")
    assert load_examples(file) == [example("A fine day", "good", "rows-2")]
    assert f"texts from the column '{texts}', labels from '{label}'" in sentence(file)


LONG = [f"A text with quite a few words, number {n}, about nothing" for n in range(9)]


def test_columns_are_known_by_their_content(tmp_path):
    rows = "".join(f"{n};{text};{'ab'[n % 2]};{n * 7}\n" for n, text in enumerate(LONG))
    file = write(tmp_path / "rows.csv", f"x1;x2;x3;x4\n{rows}")
    assert [(one.text, one.label) for one in load_examples(file)] == [
        (text, "ab"[n % 2]) for n, text in enumerate(LONG)
    ]
    assert sentence(file).endswith(
        "texts from the column 'x2' (its texts are the longest), labels from 'x3' (it has few distinct values)."
    )


def test_several_columns_that_could_be_the_text_are_refused_with_the_way_out(tmp_path):
    file = write(tmp_path / "rows.csv", "comment;body;stars\nA fine day it was;A dull day it is;3\n")
    with pytest.raises(BadFile, match=r"its texts could be in 'comment', 'body'.*text='comment'.*columns are: comment"):
        load_examples(file)
    with command_line_syntax(), pytest.raises(BadFile, match="such as --text-column 'comment'"):
        load_examples(file)
    assert load_examples(file, text="body")[0].text == "A dull day it is"


def test_several_columns_that_could_be_the_label_are_named_and_none_is_read(tmp_path):
    file = write(tmp_path / "rows.csv", "text;stars;class\nA fine day;4;good\n")
    assert load_examples(file)[0].label is None
    assert "no labels: they could be in 'stars', 'class'; name one, such as label='stars'" in sentence(file)
    with command_line_syntax():
        assert "name one, such as --label-column stars" in sentence(file)


def test_a_column_about_the_text_is_no_label(tmp_path):
    rows = "".join(f"{text};{'xy'[n % 2]}\n" for n, text in enumerate(LONG))
    assert load_examples(write(tmp_path / "rows.csv", f"text;shop\n{rows}"))[0].label is None


def test_fields_of_json_lines_are_recognised_likewise(tmp_path):
    rows = [{"body": f"{text}.", "stars": n % 5, "page": [1]} for n, text in enumerate(LONG)]
    file = write(tmp_path / "rows.jsonl", rows)
    assert [(one.text, one.label) for one in load_examples(file)][:2] == [
        (f"{LONG[0]}.", "0"),
        (f"{LONG[1]}.", "1"),
    ]
    assert sentence(file) == "Read rows.jsonl; texts from the column 'body', labels from 'stars'."
    wide = tmp_path / "wide.jsonl"
    wide.write_bytes(file.read_bytes().decode().encode("utf-16"))
    assert [one.text for one in load_examples(wide)] == [one.text for one in load_examples(file)]


def test_a_row_without_the_recognised_field_is_a_bad_row(tmp_path):
    file = write(tmp_path / "rows.jsonl", [{"body": "A fine day"}, {"body": "Another one"}, {"x": 1}])
    with pytest.raises(BadFile, match=r"rows\.jsonl, line 3: no field is plainly a text"):
        load_examples(file)


def test_a_sheet_is_read_by_its_name(tmp_path):
    file = write(tmp_path / "book.xlsx", [("review", "stars"), ("A fine day", 4)])
    assert load_examples(file, sheet="Sheet") == [example("A fine day", "4", "book-2")]
    with pytest.raises(UnknownName, match=r"No sheet is called 'Shet'\. Did you mean 'Sheet'"):
        load_examples(file, sheet="Shet")


@pytest.mark.parametrize("content", (b"no archive", b""))
def test_what_is_no_spreadsheet_is_refused(tmp_path, content):
    with pytest.raises(BadFile, match="is no Excel file"):
        (tmp_path / "book.xlsx").write_bytes(content)
        load_examples(tmp_path / "book.xlsx")


def test_an_archive_without_a_book_is_refused(tmp_path):
    with ZipFile(tmp_path / "book.xlsx", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(BadFile, match="is no Excel file"):
        load_examples(tmp_path / "book.xlsx")


def test_old_spreadsheets_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(BadFile, match=r"save it as \.xlsx or \.csv"):
        load_examples(write(tmp_path / "book.xls", b"x"))


def test_a_spreadsheet_without_the_package_says_what_to_install(tmp_path, monkeypatch):
    file = write(tmp_path / "book.xlsx", [("review", "stars"), ("A fine day", 4)])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(pellucid.PellucidError, match="pip install openpyxl"):
        load_examples(file)
