"""Choosing texts on the command line and in Python, reading a spreadsheet's file, and what each command says of it."""

import csv
import json
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from tests.data.formats.originals import write
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier, tiny_composed

REVIEWS = Path(__file__).parents[2] / "examples" / "data" / "reviews.csv"
STARS = "1=negative,2=negative,3=neutral,4=positive,5=positive"
QUICK = ("--method", "gradient", "--json")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A classifier's folder."""
    return str(save_tiny(tmp_path_factory.mktemp("classifier"), labels=("negative", "neutral", "positive")))


@pytest.fixture(scope="module")
def model(saved):
    return pellucid.load(saved)


@pytest.fixture
def texts(model):
    """Labelled texts of which the model gets some right and some wrong."""
    plain = [f"{word} film number {n}" for n, word in enumerate("fine dull grey lovely odd warm".split() * 4)]
    return [pellucid.Example((text,), LABELS[n % 3], (), str(n)) for n, text in enumerate(plain)]


def answers(model, examples):
    return [one.prediction for one in pellucid.explain(model, examples, "gradient")]


def test_wrong_and_right_part_the_texts(model, texts):
    wrong, right = (pellucid.select(model, texts, only=only) for only in ("wrong", "right"))
    assert wrong and right and sorted([*wrong, *right], key=lambda one: int(one.id)) == texts
    assert all(one.label != answer.label for one, answer in zip(wrong, answers(model, wrong), strict=True))


def test_unsure_is_a_small_margin(model, texts):
    margins = [sorted(answer.probabilities)[-1] - sorted(answer.probabilities)[-2] for answer in answers(model, texts)]
    expected = [one for one, margin in zip(texts, margins, strict=True) if margin < 0.2]
    assert expected and pellucid.select(model, texts, only="unsure") == expected


def test_confidence_sorts_the_surest_first_and_limit_comes_last(model, texts):
    chances = [answer.probability for answer in answers(model, pellucid.select(model, texts, sort="confidence"))]
    assert chances == sorted(chances, reverse=True)
    best = pellucid.select(model, texts, sort="confidence", limit=2)
    assert best == pellucid.select(model, texts, sort="confidence")[:2]


def test_a_sample_is_seeded_and_in_order(model, texts):
    sample = pellucid.select(model, texts, sample=7)
    assert len(sample) == 7 and sample == pellucid.select(model, texts, sample=7)
    assert [int(one.id) for one in sample] == sorted(int(one.id) for one in sample)
    assert sample != pellucid.select(model, texts, sample=7, seed=1)
    assert pellucid.select(model, texts, sample=99) == texts


def test_what_cannot_be_selected_is_refused(model, texts):
    with pytest.raises(
        BadInput, match=r"24 of 24 texts have labels that are no classes of the model \(5\).*label_map="
    ):
        pellucid.select(model, [pellucid.Example(one.segments, "5") for one in texts], only="wrong")
    with pytest.raises(BadSetting, match="only='false'"):
        pellucid.select(model, texts, only="false")
    with pytest.raises(BadSetting, match="limit=0"):
        pellucid.select(model, texts, limit=0)
    with pytest.raises(ModelCannot, match="several labels"):
        pellucid.select(tiny_classifier(problem_type="multi_label_classification"), ["a"], sort="confidence")


def test_a_file_among_the_words_is_read_as_data_with_a_notice(run, saved):
    status, out, err = run("explain", saved, REVIEWS, "--limit", 3, *QUICK)
    assert status == 0 and len(json.loads(out)) == 3
    assert f"{REVIEWS} is a file and is read as data (the same as --file {REVIEWS})." in err
    assert (
        "Read reviews.csv as a table with ';' between fields; texts from the column 'review', labels from 'stars'.\n"
        in err
    )
    assert "200 of 200 texts have labels that are no classes of the model (1, 2, 3, 4, 5)" in err
    assert f'write --label-map "{STARS}".' in err
    assert "InputReading" not in err


def test_a_label_map_is_followed(run, saved):
    status, out, err = run("explain", saved, "--data", REVIEWS, "--label-map", STARS, "--sample", 20, *QUICK)
    assert status == 0 and "no classes" not in err
    assert {row["label"] for row in json.loads(out)} == {"negative", "neutral", "positive"}


def test_only_sort_and_limit_reach_the_texts(run, saved):
    words = ("--data", REVIEWS, "--label-map", STARS, "--only", "wrong", "--sort", "confidence", "--limit", 4)
    rows = json.loads(run("explain", saved, *words, *QUICK)[1])
    assert len(rows) == 4 and all(row["label"] != row["predicted"] for row in rows)


@pytest.mark.parametrize("name", ("pocket", "planted_token"))
def test_the_name_of_a_data_set_is_no_text(run, saved, name):
    status, out, err = run("explain", saved, name)
    assert (status, out) == (2, "")
    assert f"write --data {name} for its texts" in err and f"echo {name} | pellucid COMMAND MODEL -" in err
    assert len(json.loads(run("explain", saved, "-", *QUICK, stdin=f"{name}\n")[1])) == 1
    assert len(json.loads(run("explain", saved, "--data", name, "--limit", 2, *QUICK)[1])) == 2


def test_a_file_that_is_not_there_is_no_text(run, saved):
    status, out, err = run("explain", saved, "nothing.csv")
    assert (status, out) == (2, "") and "nothing.csv looks like a file" in err
    assert len(json.loads(run("explain", saved, "-", *QUICK, stdin="nothing.csv\n")[1])) == 1


def test_a_file_among_texts_is_refused(run, saved):
    status, _, err = run("explain", saved, "A fine film.", REVIEWS)
    assert status == 2 and f"give it alone: --file {REVIEWS}" in err


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        ("explain", ("--method", "occlusion,gradient"), "write --methods occlusion,gradient."),
        ("explain", ("--method", "all"), "write --methods all."),
        ("explain", ("--method", "gradient", "--methods", "all"), "not both"),
        ("compare", ("--method", "occlusion,gradient"), "write --methods occlusion,gradient."),
        ("compare", ("--label-map", "1:negative"), "is not label=class"),
        ("compare", ("--label-map", "1=bad"), "'bad', which is no class"),
        ("compare", ("--label-map", "1=negative"), "says nothing of the labels 2, 3, 4, 5"),
        ("compare", ("--text-column", "reviews"), "Did you mean 'review'?"),
        ("compare", ("--only", "wrong"), f'write --label-map "{STARS}".'),
        ("compare", ("--target", "gold"), f'write --label-map "{STARS}".'),
        ("explain", ("--target", "gold"), f'write --label-map "{STARS}".'),
        ("errors", (), f'write --label-map "{STARS}".'),
        ("errors", ("--only", "false", "--label-map", STARS), "only='false'"),
    ],
)
def test_a_mistake_is_one_sentence_in_the_command_lines_own_words(run, saved, command, words, message):
    data = ("--data", REVIEWS) if command == "explain" else (REVIEWS,)
    status, out, err = run(command, saved, *data, *words)
    assert (status, out) == (2, "") and message in err
    assert "read={" not in err and "text=" not in err and "Traceback" not in err


def test_one_method_by_either_option(run, saved):
    for option in ("--method", "--methods"):
        (row,) = json.loads(run("explain", saved, "A fine film.", option, "occlusion", "--json")[1])
        assert row["method"] == "occlusion"
    words = ("--metrics", "comprehensiveness", "--resamples", 10, "--sample", 3)
    table = run("compare", saved, "pocket", "--method", "occlusion", *words)[1]
    assert "\nocclusion " in table and "\nchance " in table and "gradient" not in table


def test_columns_are_named_by_options(run, tmp_path):
    file = write(tmp_path / "rows.csv", "body;comment;mark;kind\nA fine day;A dull day;3;good\n")
    assert "such as --text-column 'body'" in run("convert", file, tmp_path / "out.jsonl")[2]
    words = ("--text-column", "comment", "--label-column", "kind", "--label-map", "good=fine")
    assert run("convert", file, tmp_path / "out.jsonl", *words)[0] == 0
    (example,) = pellucid.examples(tmp_path / "out.jsonl")
    assert (example.text, example.label) == ("A dull day", "fine")


def test_convert_takes_a_sample(run, tmp_path):
    words = ("--sample", 9, "--limit", 5, "--seed", 3)
    for name in ("a.jsonl", "b.jsonl"):
        assert run("convert", REVIEWS, tmp_path / name, *words)[0] == 0
    assert (tmp_path / "a.jsonl").read_text() == (tmp_path / "b.jsonl").read_text()
    assert len(pellucid.examples(tmp_path / "a.jsonl")) == 5


def test_plant_reads_a_spreadsheets_file(run, tmp_path):
    book = openpyxl.Workbook()
    for row in csv.reader(REVIEWS.read_text(encoding="utf-8-sig").splitlines(), delimiter=";"):
        book.active.append(row)
    book.save(tmp_path / "reviews.xlsx")
    status, out, err = run(
        "plant",
        "token",
        "--on",
        tmp_path / "reviews.xlsx",
        "--sample",
        150,
        "--n",
        50,
        "--out",
        tmp_path / "o",
    )
    assert status == 0, err
    assert "50 train" in out


def test_a_row_a_text_is_written_as_csv(run, saved, tmp_path):
    file = write(tmp_path / "rows.csv", "text,label\n=1+1 is fine,positive\nDull,negative\n")
    out = tmp_path / "scores.csv"
    assert run("explain", saved, "--file", file, "--csv", out, *QUICK)[0] == 0
    rows = list(csv.DictReader(out.read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["id"], row["text"], row["label"]) for row in rows] == [
        ("rows-2", "'=1+1 is fine", "positive"),
        ("rows-3", "Dull", "negative"),
    ]
    status, printed, err = run("explain", saved, "--file", file, "--csv", tmp_path / "scores.txt", *QUICK)
    assert (status, printed) == (2, "") and "--csv " in err and "does not end in .csv" in err


@pytest.mark.parametrize(
    ("pooler", "own"),
    (("span", "span_attention"), ("rationale", "rationale"), ("mean", "integrated_gradients")),
)
def test_a_self_explaining_model_is_explained_by_its_own_method(pooler, own):
    model = tiny_composed(pooler)
    (result,) = pellucid.explain(model, "A gripping, lovely film.")
    assert result.method == own
    (other,) = pellucid.explain(model, "A gripping, lovely film.", target=LABELS[0])
    assert other.method == "integrated_gradients"


def test_commands_that_read_data_have_the_same_options(run):
    shared = ("--format", "--read", "--skip-bad-rows", "--text-column", "--label-column", "--label-map")
    some = ("--limit", "--sample", "--seed")
    for command in ("explain", "spans", "extract", "compare", "errors", "train", "plant", "convert"):
        text = run(command, "--help")[1]
        wanted = shared if command == "train" else (*shared, *some)
        more = ("--only", "--sort") if command in ("explain", "spans", "extract", "compare", "errors") else ()
        assert not [option for option in (*wanted, *more) if option not in text], command


def test_the_table_of_many_texts_says_how_to_see_more_in_options(run, saved):
    status, out, _ = run("explain", saved, REVIEWS, "--label-map", STARS, "--method", "gradient", "--sample", 30)
    assert status == 0 and "--full prints every text whole" in out and "print(" not in out
    assert ".summary()" not in out and len(out.splitlines()) <= 42
    listed = [line for line in out.splitlines() if line.startswith("reviews-")]
    assert len(listed) == 18 and all(line.split()[0][8:].isdecimal() for line in listed)


def test_one_notice_names_all_labels_that_fit_no_class(run, saved):
    words = (
        REVIEWS,
        "--sample",
        3,
        "--metrics",
        "comprehensiveness",
        "--methods",
        "gradient",
        "--resamples",
        10,
    )
    status, _, err = run("compare", saved, *words)
    assert status == 0 and err.count("have labels that are no classes") == 1 and "200 of 200 texts" in err


def test_selection_in_python_reads_what_the_command_line_reads(run, saved, model):
    words = ("--label-map", STARS, "--only", "wrong", "--sort", "confidence", "--sample", 9, "--limit", 5)
    rows = json.loads(run("explain", saved, REVIEWS, *words, *QUICK)[1])
    settings = {"only": "wrong", "sort": "confidence", "sample": 9, "limit": 5}
    label_map = dict(pair.split("=") for pair in STARS.split(","))
    frame = pd.read_csv(REVIEWS, sep=";")
    for data in (REVIEWS, frame):
        selection = pellucid.select(model, data, label_map=label_map, **settings)
        assert [one.text for one in selection] == [" ".join(row["segments"]) for row in rows]
