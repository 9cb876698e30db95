"""The calls that people write without having read anything: each does what is plainly meant and says so, or says how to
write it.
"""

import warnings
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, InputReading, UnknownName, UnmatchedLabels
from pellucid.data.shared.rows import SkippedRows
from pellucid.training.recipes import training_texts

LABELS = ("negative", "positive")
REVIEWS = {"review": ["a lovely film", "a dull film"], "stars": [5, 1]}
READ = [(("a lovely film",), "positive"), (("a dull film",), "negative")]
UNLABELLED = [(texts, None) for texts, _ in READ]
STARS = [(("a lovely film",), "5"), (("a dull film",), "1")]
FEATURES = datasets.Features(
    {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["negative", "positive"])}
)


def answers(texts):
    """A model that knows one word."""
    joined = [" ".join(text) if isinstance(text, tuple) else text for text in texts]
    return [[0.1, 0.9] if "lovely" in text else [0.8, 0.2] for text in joined]


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answers, LABELS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a file of reviews, as the current one."""
    pd.DataFrame(REVIEWS).to_csv(tmp_path / "reviews.csv", index=False)
    monkeypatch.chdir(tmp_path)


def read(model, data, **columns):
    """What `explain` read: the texts and labels of its examples, and what it said."""
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        results = pellucid.explain(model, data, "occlusion", progress=False, **columns)
    return [(one.example.segments, one.example.label) for one in results], [str(one.message) for one in notices]


FRAME = pd.DataFrame(REVIEWS)
STANDARD = pd.DataFrame({"text": REVIEWS["review"], "label": ["positive", "negative"]})
IN_SILENCE = {
    "a string": ("a lovely film", [(("a lovely film",), None)]),
    "a list of strings": (REVIEWS["review"], UNLABELLED),
    "a tuple of three strings": (
        ("a lovely film", "b", "c"),
        [(("a lovely film",), None), (("b",), None), (("c",), None)],
    ),
    "a generator": ((text for text in REVIEWS["review"]), UNLABELLED),
    "a list of pairs": ([("a film", "it is lovely")], [(("a film", "it is lovely"), None)]),
    "an example": (pellucid.Example(("a lovely film",), "positive"), READ[:1]),
    "examples": ([pellucid.Example(*row) for row in READ], READ),
    "a frame with text and label": (STANDARD, READ),
    "dictionaries with text and label": (STANDARD.to_dict("records"), READ),
    "a dictionary of lists": (STANDARD.to_dict("list"), READ),
    "one dictionary": ({"text": "a lovely film", "label": "positive"}, READ[:1]),
    "a series": (FRAME["review"], UNLABELLED),
    "an array of strings": (np.array(REVIEWS["review"]), UNLABELLED),
    "a string of numpy": (np.array("a lovely film"), UNLABELLED[:1]),
    "a data set of the package datasets": (
        datasets.Dataset.from_dict({"text": REVIEWS["review"], "label": [1, 0]}, features=FEATURES),
        READ,
    ),
    "a table of arrow": (pa.table({"text": REVIEWS["review"], "label": ["positive", "negative"]}), READ),
    "a frame without rows": (STANDARD.iloc[:0], []),
    "an empty list": ([], []),
    "a list with the name of a file": (["reviews.csv"], [(("reviews.csv",), None)]),
    "a list with the name of a data set": (["pocket"], [(("pocket",), None)]),
}


@pytest.mark.parametrize("name", IN_SILENCE)
def test_what_has_one_meaning_is_read(model, here, name):
    data, examples = IN_SILENCE[name]
    assert read(model, data) == (examples, [])


NOTICED = {
    "a pair of strings": (
        ("a film", "it is lovely"),
        [(("a film", "it is lovely"), None)],
        "as one pair of texts",
    ),
    "a text with its class": (
        ("a lovely film", "positive"),
        READ[:1],
        "as one text with the label 'positive'",
    ),
    "texts with their classes": (
        list(zip(REVIEWS["review"], ("positive", "negative"), strict=True)),
        READ,
        "as its label",
    ),
    "texts with numbers": (list(zip(*REVIEWS.values(), strict=True)), STARS, "as its label"),
    "a frame of reviews": (
        FRAME,
        STARS,
        "Read the table; texts from the column 'review', labels from 'stars'.",
    ),
    "rows of a frame": (
        FRAME.itertuples(index=False),
        STARS,
        "texts from the column 'review', labels from 'stars'.",
    ),
    "a column of sentences": (
        pd.DataFrame({"what": REVIEWS["review"], "n": [3, 4]}),
        UNLABELLED,
        "texts from the column 'what' (its texts are the longest), no labels.",
    ),
    "a column of classes": (
        pd.DataFrame({"text": REVIEWS["review"], "mood": ["positive", "negative"]}),
        READ,
        "labels from 'mood' (its values are known labels).",
    ),
}


@pytest.mark.parametrize("name", NOTICED)
def test_what_is_plainly_meant_is_read_with_a_notice(model, name):
    data, examples, sentence = NOTICED[name]
    rows, notices = read(model, data)
    assert rows == examples
    assert sentence in notices[0]


def test_a_notice_points_at_the_line_of_the_caller(model):
    with pytest.warns(InputReading) as notices:
        pellucid.explain(model, FRAME, "occlusion", progress=False, label_map={"5": "positive", "1": "negative"})
    assert [Path(notice.filename) for notice in notices] == [Path(__file__)]


REFUSED = {
    "the name of a file": ("reviews.csv", BadInput, r"pathlib\.Path\('reviews\.csv'\).*\['reviews\.csv'\]"),
    "the name of a file that is not there": ("nothing.csv", BadInput, "none of that name"),
    "the name of a data set": ("pocket", BadInput, r"pellucid\.examples\('pocket'\).*\['pocket'\]"),
    "a path to nothing": (Path("nothing.csv"), BadFile, "There is no file"),
    "bytes": (b"a film", BadInput, "decode"),
    "None": (None, BadInput, "came as None"),
    "a number": (3, BadInput, "came as int"),
    "a set": ({"a film"}, BadInput, "no order"),
    "a text that is missing": (["a film", None], BadInput, r"Text 1 is missing \(None\)"),
    "a missing value in a series": (pd.Series(["a film", None]), BadInput, "Text 1 is missing"),
    "a missing value in a column": (
        pd.DataFrame({"text": ["a b", None]}),
        BadInput,
        "row 1 of the column 'text' is missing",
    ),
    "a series of numbers": (pd.Series([1, 2]), BadInput, "Text 0 is the number 1"),
    "texts as lists of words": ([["a", "lovely", "film"]], BadInput, r"' '\.join\(words\)"),
    "a text as a list of two words": ([["lovely", "film"]], BadInput, "list of two words"),
    "classes in some rows only": (
        [("a", "positive"), ("b", "c d")],
        BadInput,
        "in some rows and not in others",
    ),
    "a frame without texts": (pd.DataFrame({"a": [1], "b": [2]}), BadInput, "text=.*columns are: a, b"),
    "a frame with two columns of sentences": (
        pd.DataFrame({"a": ["b c"], "d": ["e f"]}),
        BadInput,
        "could be in 'a', 'd'; name yours with text=, such as text='a'",
    ),
    "a data set of several parts": ({"test": STANDARD, "train": STANDARD}, BadInput, r"data\['test'\]"),
    **{
        f"a {kind} with two columns of one name": (
            table,
            BadInput,
            "several columns called 'text'; give each",
        )
        for kind, table in {
            "frame": pd.DataFrame([["a b", "c d"]], columns=["text", "text"]),
            "table": pa.table([["a b"], ["c d"]], names=["text", "text"]),
            "batch": pa.record_batch([["a b"], ["c d"]], names=["text", "text"]),
        }.items()
    },
    "a name as a number and as text": (
        {1: ["a b"], "1": ["c d"]},
        BadInput,
        "several columns called '1'",
    ),
    "columns of different lengths": ({"text": ["a", "b"], "label": ["c"]}, BadInput, "different lengths"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_be_two_things_or_none_is_refused(model, here, name):
    data, error, sentence = REFUSED[name]
    with pytest.raises(error, match=sentence):
        pellucid.explain(model, data, "occlusion", progress=False)


def test_the_model_in_the_place_of_the_texts(model):
    with pytest.raises(BadInput, match="the model stands first"):
        pellucid.explain(model, model)
    with pytest.raises(BadInput, match="the model stands first"):
        pellucid.explain("what a very lovely film", model)


def test_columns_are_named(model, here):
    assert read(model, FRAME, text="review", label="stars")[0] == STARS
    assert read(model, Path("reviews.csv"), text="review", label="stars")[0] == STARS
    pair = pd.DataFrame({"a": ["one text"], "b": ["another"]})
    assert read(model, pair, text=("a", "b")) == ([(("one text", "another"), None)], [])
    with pytest.raises(UnknownName, match=r"Did you mean 'review'.*There are: review, stars"):
        read(model, FRAME, text="revew")
    with pytest.raises(BadSetting, match="name columns of a table"):
        read(model, "a lovely film", text="review")


def test_results_are_read_again(model):
    results = pellucid.explain(model, [pellucid.Example(*row) for row in READ], "occlusion", progress=False)
    assert read(model, results) == read(model, list(results)) == (READ, [])
    side_by_side = pellucid.explain_all(model, READ[0][0], ["occlusion"], progress=False)
    assert read(model, side_by_side)[0] == UNLABELLED[:1]


def test_saved_examples_come_back_whole():
    marked = pellucid.examples("pocket")[:5]
    assert pellucid.explaining.inputs.examples.examples_from(pellucid.to_dataset(marked)) == tuple(marked)


@pytest.mark.parametrize("door", [pellucid.accuracy, pellucid.compare], ids=["accuracy", "compare"])
def test_doors_of_data_read_a_name(model, door):
    settings = {
        "methods": ["occlusion"],
        "metrics": ["comprehensiveness"],
        "resamples": 10,
        "progress": False,
    }
    label_map = {"neutral": "negative"}
    with pytest.warns(InputReading, match=r"'pocket' as the data of that name .* \['pocket'\]"):
        door(model, "pocket", label_map=label_map, **(settings if door is pellucid.compare else {}))


def test_doors_of_data_read_a_frame_and_a_file(model, here):
    label_map = {"1": "negative", 5: "positive"}
    for data in (FRAME, Path("reviews.csv"), "reviews.csv"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert pellucid.accuracy(model, data, text="review", label="stars", label_map=label_map).mean == 1


def test_texts_are_planted_in_from_a_frame():
    texts = [one.text for one in pellucid.examples("pocket", "train")]
    parts = pellucid.plant("token", pd.DataFrame({"text": texts}), n=10)
    assert len(parts["train"]) == 10


def test_labels_that_are_no_classes_get_a_notice_with_the_map_to_write(model):
    suggestion = r"label_map=\{'1': 'negative', '5': 'positive'\}"
    with pytest.warns(UnmatchedLabels, match=suggestion):
        pellucid.explain(model, FRAME, "occlusion", text="review", label="stars", progress=False)
    with pytest.raises(BadInput, match=suggestion):
        pellucid.accuracy(model, FRAME, text="review", label="stars")
    with pytest.warns(UnmatchedLabels, match=suggestion):
        table = pellucid.compare(
            model,
            FRAME,
            ["occlusion"],
            text="review",
            label="stars",
            resamples=10,
            progress=False,
        )
    assert "are no classes of the model, so" in " ".join(table.caveats)


def test_labels_are_renamed_by_a_map(model):
    columns = {"text": "review", "label": "stars"}
    assert read(model, FRAME, label_map={1: "negative", 5: "positive"}, **columns) == (READ, [])
    with pytest.raises(BadInput, match="says nothing of the labels 5"):
        read(model, FRAME, label_map={1: "negative"}, **columns)
    with pytest.raises(BadSetting, match="which is no class"):
        read(model, FRAME, label_map={1: "bad", 5: "positive"}, **columns)


@pytest.mark.parametrize(
    ("columns", "tail"),
    [
        ({"Comment": REVIEWS["review"], "mark": [5, 1]}, "texts from the column 'Comment', no labels."),
        (
            {"text": REVIEWS["review"], "kind": ["positive", "negative"]},
            "labels from 'kind' (its values are known labels).",
        ),
        (
            {"review": REVIEWS["review"], "stars": [5, 1], "class": ["a", "b"]},
            "they could be in 'stars', 'class'; name one",
        ),
        (
            {"Premise": ["a b", "c d"], "Hypothesis": ["e", "f"]},
            "texts from the columns 'Premise' and 'Hypothesis', no labels.",
        ),
    ],
    ids=["another name", "classes", "several labels", "a pair in capitals"],
)
def test_a_table_is_read_as_the_file_of_the_same_content(model, here, columns, tail):
    frame = pd.DataFrame(columns)
    frame.to_csv("same.csv", index=False)
    (in_memory, first), (in_file, second) = (read(model, data) for data in (frame, Path("same.csv")))
    assert in_memory == in_file
    assert tail in first[0]
    assert first[0].removeprefix("Read the table; ") == second[0].removeprefix("Read same.csv; ")


@pytest.mark.parametrize("door", [pellucid.explain, pellucid.compare, pellucid.error_analysis])
def test_labels_that_are_needed_are_refused_with_the_map_to_write(model, door):
    target = {} if door is pellucid.error_analysis else {"target": "gold"}
    with pytest.raises(BadInput, match=r"label_map=\{'1': 'negative', '5': 'positive'\}"):
        door(model, FRAME, text="review", label="stars", **target)


def test_a_folder_of_unclear_form_names_a_way_that_works(model, here):
    folder = Path("unclear")
    folder.mkdir(exist_ok=True)
    with pytest.raises(BadFile, match=r"pellucid\.examples\('unclear', format=…\)"):
        pellucid.explain(model, folder)


def test_texts_without_any_evidence_are_none_of_the_patterns():
    constant = pellucid.from_function(lambda texts: [[0.2, 0.8] for _ in texts], ["bad", "good"])
    examples = [pellucid.Example((f"a film {n}",), "good" if n % 2 else "bad", id=str(n)) for n in range(8)]
    record = pellucid.error_analysis(constant, examples, progress=False).record()
    counts = {group["name"]: (group["among_wrong"], group["among_right"]) for group in record["patterns"]}
    assert counts.pop("none_of_these") == (4, 4) and set(counts.values()) == {(0, 0)}


def test_each_explanation_has_settings_of_its_own(bert):
    references = ("A good film.", "Nobody came.", "It is.")
    target = pellucid.HiddenState(1)
    one, other = pellucid.explain(
        bert, ["so good", "not bad"], "guan_perturbation", target=target, n_steps=2, reference=references
    )
    one.settings["reference"].append("changed")
    assert other.settings["reference"] == list(references)


GAPS = pd.DataFrame({"text": ["a lovely film", None, float("nan"), "  ", "a dull film"], "label": ["positive"] * 5})


@pytest.mark.parametrize(
    "data", [GAPS, GAPS.to_dict("records"), GAPS["text"], list(GAPS["text"]), pa.Table.from_pandas(GAPS)]
)
def test_rows_without_a_text_are_left_out_and_counted_on_request(model, data):
    with pytest.raises(BadInput):
        pellucid.explain(model, data, "occlusion")
    with pytest.warns(SkippedRows, match=r"^3 bad rows of 5 were left out: .*missing"):
        results = pellucid.explain(model, data, "occlusion", skip_bad_rows=True)
    assert [result.example.text for result in results] == ["a lovely film", "a dull film"]
    assert [result.example.id for result in results] == ["0", "4"]


def test_bad_rows_are_refused_with_the_way_out_and_all_of_them_are_no_data(model):
    with pytest.raises(BadInput, match=r"skip_bad_rows=True"):
        pellucid.compare(model, GAPS, ["occlusion"])
    with pytest.raises(BadInput, match=r"^No row can be read; 3 are bad, the first: The text in row 0"):
        pellucid.accuracy(model, GAPS.iloc[1:4], skip_bad_rows=True)
    with pytest.warns(SkippedRows):
        table = pellucid.compare(model, GAPS, ["occlusion"], ["comprehensiveness"], resamples=10, skip_bad_rows=True)
    assert table.about["examples"] == 2


def test_training_from_a_frame_leaves_out_bad_rows_too():
    with pytest.warns(SkippedRows, match="3 bad rows of 5"):
        texts = training_texts(GAPS, None, None, None, skip_bad_rows=True)
    assert sum(map(len, texts.parts.values())) == 2
