"""Data on the command line: every command reads every format, bad rows are counted, and formats are listed."""

import gzip
import json

import pytest

import pellucid
from tests.data.formats.originals import ORIGINALS, TREES, write
from tests.shared.tiny import save_tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A classifier's folder."""
    return str(save_tiny(tmp_path_factory.mktemp("classifier"), id2label={0: "negative", 1: "neutral", 2: "positive"}))


def test_formats_names_every_format_with_its_files(run):
    listed = json.loads(run("formats", "--json")[1])
    assert {entry["name"] for entry in listed} == set(ORIGINALS)
    assert all(entry["summary"] and entry["files"] for entry in listed)
    status, out, _ = run("formats")
    assert status == 0 and all(entry["name"] in out for entry in listed)


@pytest.mark.parametrize("name", sorted({*ORIGINALS} - {"hugging_face"}))
def test_convert_writes_json_lines_of_any_format(run, tmp_path, name):
    original, out = ORIGINALS[name], tmp_path / "out.jsonl"
    source = original.write(tmp_path / "original")
    settings = [word for key, value in original.settings.items() for word in ("--read", f"{key}={value}")]
    status, output, _ = run("convert", source, out, "--format", name, *settings)
    assert status == 0 and output == f"Written: {len(original.examples)} examples in {out}\n"
    assert {one.id: one for one in pellucid.examples(out)} == {one.id: one for one in original.examples}


def test_explain_reads_a_file_in_a_format_with_its_settings(run, saved, tmp_path):
    write(tmp_path / "dev.txt", TREES)
    words = ("--file", tmp_path, "--split", "dev", "--format", "sst_trees", "--read", "classes=2", "--json")
    status, out, _ = run("explain", saved, *words, "--method", "gradient")
    assert status == 0
    assert [row["label"] for row in json.loads(out)] == ["positive", "negative"]


def test_explain_reads_a_table_as_data(run, saved, tmp_path):
    file = write(tmp_path / "reviews.csv", "text,label\nA fine day,positive\n")
    (row,) = json.loads(run("explain", saved, "--file", file, "--method", "gradient", "--json")[1])
    assert (row["segments"], row["label"]) == (["A fine day"], "positive")


def test_compare_skips_bad_rows_and_counts_them_in_one_sentence(run, saved, tmp_path):
    file = write(tmp_path / "reviews.csv", "text,label\nA fine day,positive\nno label\nA grey day,negative\n")
    words = ("--methods", "gradient", "--metrics", "comprehensiveness", "--resamples", "20")
    status, _, err = run("compare", saved, file, *words)
    assert status == 2
    assert f"{file}, line 3: it has 1 fields, the header 2. Repair the row" in err
    status, out, err = run("compare", saved, file, *words, "--skip-bad-rows")
    assert status == 0 and "gradient" in out
    assert f"1 bad rows of {file} were left out: {file}, line 3: it has 1 fields" in err
    assert "SkippedRows" not in err and "Traceback" not in err


def test_train_reads_a_folder_in_its_format(run, saved, tmp_path):
    rows = [f'"{n % 2 + 1}","{"Fine" if n % 2 else "Dull"} number {n}."' for n in range(60)]
    write(tmp_path / "yelp" / "train.csv", "\n".join([*rows, '"7","spoilt"']) + "\n")
    words = (
        "--format",
        "yelp",
        "--read",
        "polarity=true",
        "--skip-bad-rows",
        "--encoder",
        saved,
        "--epochs",
        1,
    )
    status, out, err = run("train", tmp_path / "yelp", "--out", tmp_path / "model", *words)
    assert status == 0, err
    assert "classes negative, positive" in out
    assert err.count("bad rows of") == 1  # train and dev come from the same file, and equal sentences are printed once


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("convert", "FILE", "OUT", "--format", "agnews"),
            "No format is called 'agnews'. Did you mean 'ag_news'?",
        ),
        (("convert", "FILE", "OUT", "--read", "txt=body"), "Did you mean 'text'?"),
        (("convert", "FILE", "OUT", "--read", "text"), "--read 'text' is not name=value"),
        (("convert", "FILE", "OUT", "--read", "quotes=maybe"), "give true or false"),
        (("convert", "TEXT", "OUT"), "add --format. The formats are: ag_news"),
        (("convert", "FILE", "OUT.csv"), "does not end in .jsonl"),
        (
            ("convert", "pocket", "OUT", "--read", "text=a"),
            "pocket is a data set by itself, without settings",
        ),
        (("explain", "MODEL", "--file", "/nowhere/rows.csv"), "/nowhere/rows.csv"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_status_2(run, saved, tmp_path, words, message):
    places = {
        "MODEL": saved,
        "FILE": write(tmp_path / "rows.csv", "text\nfine\n"),
        "TEXT": write(tmp_path / "rows.text", "fine\n"),
        "OUT": tmp_path / "out.jsonl",
        "OUT.csv": tmp_path / "out.csv",
    }
    status, out, err = run(*(places.get(word, word) for word in words))
    assert status == 2
    assert message in err
    assert err.count("\n") == 1 and "Traceback" not in err and out == ""


def test_training_names_texts_without_a_label_and_can_leave_them_out(run, tmp_path):
    rows = [{"text": f"a {word} film", "label": label} for word, label in (("good", "pos"), ("bad", "neg")) * 4]
    folder = tmp_path / "data"
    folder.mkdir()
    for part in ("train", "dev"):
        unlabelled = {"text": "a film", "label": float("nan")}
        lines = [json.dumps(row) for row in (*rows, unlabelled)]
        (folder / f"{part}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    words = ("train", folder, "--out", tmp_path / "model", "--encoder", "cnn", "--epochs", 1)
    status, _, err = run(*words)
    assert status == 2 and "1 of 9 train examples are of no class among neg, pos" in err
    assert "without a label. Correct them, or leave them out (--skip-bad-rows)" in err
    status, _, err = run(*words, "--skip-bad-rows")
    assert status == 0 and "1 of 9 dev examples have no label and were left out." in err


@pytest.mark.parametrize("name", ("REVIEWS.CSV", "reviews.Csv.GZ"))
def test_endings_may_be_written_in_capitals(run, saved, tmp_path, name):
    content = b"text,label\nA fine day,positive\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("GZ") else content)
    for words in (("--file", tmp_path / name), (tmp_path / name,)):
        (row,) = json.loads(run("explain", saved, *words, "--method", "gradient", "--json")[1])
        assert (row["segments"], row["label"]) == (["A fine day"], "positive")


@pytest.mark.parametrize("name", ("texts.json", "texts.parquet", "texts.XLS", "texts.JSON.gz"))
def test_data_whose_lines_are_no_texts_need_a_format(run, saved, tmp_path, name):
    file = tmp_path / name
    file.write_text('[{"text": "A fine day"}]')
    status, out, err = run("explain", saved, "--file", file, "--method", "gradient")
    assert (status, out) == (2, "") and ("add --format" in err or "save it as .xlsx" in err)


@pytest.mark.parametrize(
    "words", (("--text-column", "text"), ("--label-column", "label"), ("--read", "a=b"), ("--skip-bad-rows",))
)
def test_plain_text_has_no_columns(run, saved, tmp_path, words):
    file = write(tmp_path / "notes.txt", "A fine day\nA grey day\n")
    status, _, err = run("explain", saved, "--file", file, *words)
    assert status == 2 and f"read as plain text, one text a line, so {words[0]} means nothing" in err
    assert run("explain", saved, "--file", file, "--method", "gradient")[0] == 0
