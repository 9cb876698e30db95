"""Models of a text and the features beside it: what is explained is words and numbers, on one scale."""

from itertools import product
from math import factorial

import numpy as np
import pandas
import pytest
import torch
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pellucid
from pellucid.base.errors import BadInput, BadSetting, InputReading, ModelCannot, PellucidError, UnknownName
from pellucid.base.kinds import attributions
from pellucid.run.target import Target
from pellucid.text.example import Example
from tests.shared.asking import FEW, ask

LABELS = ("leave", "stay")
ROWS = pandas.DataFrame(
    {"text": ["The patient fell twice.", "Mild cough."], "age": [81, 30], "pressure": [160.5, 120.0], "sex": ["f", "m"]}
)
FEATURES = ("age", "pressure", "sex")
DRAW = np.random.default_rng(5)
BACKGROUND = pandas.DataFrame(
    {
        "age": DRAW.integers(20, 90, 40),
        "pressure": DRAW.normal(130, 20, 40).round(1),
        "sex": DRAW.choice(["f", "m"], 40),
        "ward": "A",
    }
)


def triage(frame):
    """Probabilities of (leave, stay) by rules of words and numbers together."""
    words = frame["text"].str.contains("fell") * (0.5 + (frame["age"] > 70)) - 0.7 * frame["text"].str.contains("Mild")
    logits = (words + (frame["pressure"] - 130) / 40 + 0.3 * (frame["sex"] == "f")).to_numpy(dtype=float)
    stay = 1 / (1 + np.exp(-logits))
    return np.stack([1 - stay, stay], 1)


def model(function=triage, background=BACKGROUND, **settings):
    return pellucid.from_function(function, LABELS, columns=FEATURES, background=background, **settings)


def explained(of=None, rows=ROWS, method="occlusion", **how):
    return pellucid.explain(of or model(), rows, method, progress=False, **how)


def test_the_numbers_of_a_row_reach_the_function_and_get_scores():
    seen = []

    def listening(frame):
        seen.append(frame)
        return triage(frame)

    results = explained(model(listening), output="probability")
    pandas.testing.assert_frame_equal(seen[-1].iloc[:0], ROWS.iloc[:0])  # its columns, in order, with their types
    every = pandas.concat(seen)
    assert {("The patient fell twice.", 81, 160.5, "f"), ("Mild cough.", 30, 120.0, "m")} <= set(
        every.itertuples(index=False, name=None)
    )
    assert set(every["age"]) <= {81, 30, *BACKGROUND["age"]}
    for result, row in zip(results, ROWS.to_dict("records"), strict=True):
        names = [f"age = {row['age']}", f"pressure = {row['pressure']:g}", f"sex = {row['sex']}"]
        assert [word for word, _ in result][-3:] == names
        assert all(score != 0 for word, score in result if word in ("fell", "Mild", names[1]))
        assert result.example.segments == (row["text"], "\n".join(names))
    assert "age = 81" in results[0].to_html() and "age = 81" in str(results[0])


def answers(function, text, features, left):
    """[class]: the mean answer to a text with the features that are left, over the background's rows: re-written."""
    draws = [dict(zip(FEATURES, row, strict=True)) for row in BACKGROUND[list(FEATURES)].itertuples(index=False)]
    rows = [
        {"text": text, **{name: features[name] if name in left else draw[name] for name in FEATURES}} for draw in draws
    ]
    return np.mean([function(pandas.DataFrame([row]))[0] for row in rows], 0)


def pipelines():
    """Two families of fitted pipelines that read a data frame."""
    frame = pandas.concat([BACKGROUND] * 3, ignore_index=True)
    frame["text"] = np.random.default_rng(1).choice(
        ["fell twice", "mild cough", "the patient fell", "no cough"], len(frame)
    )
    frame["day"] = 3  # a column that no part reads
    labels = np.where(triage(frame)[:, 1] > 0.5, "stay", "leave")
    parts = [("words", CountVectorizer(), "text"), ("numbers", StandardScaler(), ["age", "pressure"])]
    parts.append(("sex", OneHotEncoder(sparse_output=False), [2]))
    for classifier in (LogisticRegression(), RandomForestClassifier(20, random_state=0)):
        yield make_pipeline(ColumnTransformer(parts), classifier).fit(frame, labels)


@pytest.mark.parametrize(
    "function", (triage, *(each.predict_proba for each in pipelines())), ids=("rules", "linear", "forest")
)
def test_the_answer_without_a_number_is_the_mean_over_the_background_in_float64(function):
    of = model(function, draws=100)
    batch = of.encode([Example(("He fell twice",), meta={"age": 81, "pressure": 160.5, "sex": "f"})])
    left = [frozenset(), {"sex"}, {"age", "pressure"}, {"age", "pressure", "sex"}]
    rows = [
        batch.edited(0, [1, *(4 + n for n, name in enumerate(FEATURES) if name not in each)], "absent") for each in left
    ]
    expected = [answers(function, "He twice", batch.examples[0].meta, each) for each in left]
    np.testing.assert_allclose(of.trace(rows).logits.exp().numpy(), expected, rtol=1e-9, atol=1e-12)


def test_shapley_values_of_words_and_numbers_are_those_of_their_definition():
    """Of two words and three numbers, by all coalitions."""
    row, meta = "fell Mild", {"age": 75, "pressure": 150.0, "sex": "m"}
    value = {}
    for coalition in product((False, True), repeat=5):
        text = " ".join(word for word, here in zip(row.split(), coalition, strict=False) if here)
        left = {name for name, here in zip(FEATURES, coalition[2:], strict=True) if here}
        value[coalition] = answers(triage, text, meta, left)[1]
    expected = np.zeros(5)
    for player, coalition in product(range(5), value):
        if not coalition[player]:
            size, joined = sum(coalition), (*coalition[:player], True, *coalition[player + 1 :])
            weight = factorial(size) * factorial(4 - size) / factorial(5)
            expected[player] += weight * (value[joined] - value[coalition])
    example, target = Example((row,), meta=meta), Target("stay", "probability")
    for method in ("shapley_sampling", "kernel_shap"):
        (explanation,) = ask(model(draws=40), [example], method, target=target)
        assert explanation.diagnostics["exact"] == 1 and explanation.diagnostics["background_error"] == 0
        np.testing.assert_allclose(explanation.scores[~explanation.special], expected, atol=1e-6)


@pytest.mark.parametrize("pipeline", [*pipelines()], ids=("linear", "forest"))
def test_a_pipeline_says_itself_which_columns_it_reads(pipeline):
    of = pellucid.from_pipeline(pipeline, background=BACKGROUND)
    assert of.columns.text == "text" and tuple(of.columns.kinds) == FEATURES
    rows = ROWS.assign(day=3)
    results = explained(of, rows)
    chances = [result.prediction.probabilities for result in results]
    np.testing.assert_allclose(chances, pipeline.predict_proba(rows), atol=1e-12)
    assert all(result.diagnostics["parity"] == 0 for result in results)
    (strange,) = explained(of, rows[:1].assign(text="Strange cough."))
    assert strange.unread() == ["Strange"] and strange.units.readings[-1] == "whole"
    with pytest.raises(BadSetting, match=r"from_pipeline\(pipeline, background=rows\)"):
        pellucid.explain(pipeline, rows, "occlusion")


def test_a_regressor_of_texts_and_numbers_is_explained():
    frame = pandas.concat([BACKGROUND.assign(note="no cough"), BACKGROUND.assign(note="fell")], ignore_index=True)
    days = 3 * (frame["note"] == "fell") + frame["age"] / 10
    parts = ColumnTransformer([("words", TfidfVectorizer(), "note"), ("age", "passthrough", ["age"])])
    pipeline = make_pipeline(parts, Ridge(alpha=1e-9)).fit(frame, days)
    of = pellucid.from_pipeline(pipeline, background=frame, draws=80)
    (result,) = explained(of, [{"note": "fell", "age": 60, "stars": 4}])
    assert result.target.value == pytest.approx(pipeline.predict(pandas.DataFrame({"note": ["fell"], "age": [60]}))[0])
    assert dict(result)["age = 60"] == pytest.approx(6 - frame["age"].mean() / 10, abs=1e-4)


def test_a_network_of_both_is_explained_as_a_function():
    torch.manual_seed(0)
    network = torch.nn.Linear(3, 2).double()

    def answer(frame):
        numbers = torch.tensor(frame[["age", "pressure"]].to_numpy(dtype=float))
        return network(
            torch.cat([torch.tensor(frame["text"].str.len().to_numpy())[:, None], numbers / 100], 1)
        ).tolist()

    results = explained(model(answer, gives="logits"))
    scores = dict(results[0])
    assert scores["sex = f"] == pytest.approx(0, abs=1e-6) and abs(scores["age = 81"]) > 1e-3


OF_FUNCTIONS = [
    name
    for name in attributions.names()
    if not attributions.get(name).facts["needs"] and not name.startswith("thermostat")
]


@pytest.mark.parametrize("method", OF_FUNCTIONS)
def test_every_method_of_functions_gives_the_same_alone_and_in_any_order(method):
    settings = FEW.get(method, {})
    together = explained(rows=ROWS, method=method, **settings)
    backwards = explained(rows=ROWS[::-1], method=method, **settings)[::-1]
    alone = [explained(rows=ROWS[n : n + 1], method=method, **settings)[0] for n in range(2)]
    for one, other, third in zip(together, backwards, alone, strict=True):
        assert np.array_equal(one.scores, other.scores) and np.array_equal(one.scores, third.scores)
        assert one.units.labels[-1] == f"sex = {one.example.meta['sex']}"


def test_methods_of_gradients_are_refused():
    with pytest.raises(ModelCannot, match="gradient does not work with function, which gives no gradients"):
        explained(method="gradient")


def test_equal_texts_with_other_numbers_are_other_rows():
    rows = pandas.concat([ROWS[:1], ROWS[:1].assign(age=20)])
    one, other = explained(rows=rows)
    assert one.prediction != other.prediction and not np.array_equal(one.scores, other.scores)


def test_how_far_the_draws_can_be_believed():
    """The error is that of leaving out each draw in turn, less for a background that was drawn from without return."""
    of = model(draws=10)
    (result,) = explained(of, ROWS[:1], output="probability", target="stay")
    frame = of.background.frame.assign(text="The patient fell twice.")
    assert len(frame) == 10 and frame.index.isin(BACKGROUND.index).all()
    error = triage(frame)[:, 1].std(ddof=1) / np.sqrt(10) * np.sqrt(1 - 10 / 40)
    assert result.diagnostics["background_draws"] == 10
    assert result.diagnostics["background_error"] == pytest.approx(error)
    assert any("raise draws, 10 now" in caveat for caveat in result.caveats)
    whole = explained(model(draws=40), ROWS[:1])[0]
    assert whole.diagnostics["background_error"] == 0 and not whole.caveats
    assert model(draws=10).background.frame.equals(of.background.frame)
    assert not model(draws=10, background=BACKGROUND[::-1]).hash == of.hash == model(draws=10).hash


def test_a_mask_stands_for_words_and_never_for_numbers():
    of = model(mask="[MASK]", draws=40)
    masked, absent = (explained(of, ROWS[:1], operator=operator)[0] for operator in ("mask", "absent"))
    np.testing.assert_allclose(masked.scores[-3:], absent.scores[-3:])


def test_numbers_of_files_and_of_results_are_read(tmp_path):
    rows = pandas.concat([ROWS, ROWS.assign(age=20)], ignore_index=True)
    rows.assign(label=["stay", "leave"] * 2).to_csv(tmp_path / "rows.csv", index=False)
    of_frame, of_file = explained(rows=rows), explained(rows=tmp_path / "rows.csv")
    run = pellucid.explain_corpus(model(), tmp_path / "rows.csv", "occlusion", folder=tmp_path / "run", progress=False)
    for results in (of_file, run):
        assert [one.scores.tolist() for one in results] == [one.scores.tolist() for one in of_frame]
        assert [one.example.segments for one in results] == [one.example.segments for one in of_frame]
    pellucid.save(of_frame, tmp_path / "rows.parquet")
    read = pellucid.read(tmp_path / "rows.parquet")
    assert read == of_frame
    assert [one.scores.tolist() for one in explained(rows=read)] == [one.scores.tolist() for one in of_frame]
    assert pellucid.predict(model(), rows) == [result.prediction for result in of_frame]


def test_numbers_that_a_function_of_texts_does_not_get_are_named():
    texts = pellucid.from_function(lambda texts: [[0.4, 0.6]] * len(texts), ["leave", "stay"])
    rows = pandas.DataFrame({"text": ["The patient fell."], "age": [81], "pressure": [160.5]})
    with pytest.warns(InputReading, match=r"does not get age, pressure of each row.*columns=\['age', 'pressure'\]"):
        pellucid.explain(texts, rows, "occlusion")


def test_a_feature_is_no_label_and_no_text():
    """Columns of few values, or called as labels often are, would be taken for labels."""
    rows = pandas.DataFrame(
        {"text": ["He fell.", "No pain."] * 4, "score": [1, 2] * 4, "review": ["a b c d", "e f g h"] * 4}
    )
    of = pellucid.from_function(
        lambda frame: [[0.5, 0.5]] * len(frame), LABELS, columns=["score", "review"], background=rows
    )
    results = explained(of, rows)
    assert results[0].example.segments == ("He fell.", "score = 1\nreview = a b c d")
    assert results[0].example.label is None


def test_an_attack_edits_words_and_leaves_numbers():
    attempts = pellucid.attack(model(), ROWS.assign(label=["stay", "leave"]), "deepwordbug", progress=False)
    assert attempts[0].edits and {edit.segment for attempt in attempts for edit in attempt.edits} == {0}


def test_rows_are_judged_as_texts_are():
    rows = ROWS.assign(label=["stay", "leave"])
    table = pellucid.compare(model(), rows, ["occlusion", "kernel_shap"], resamples=20, progress=False)
    assert all(np.isfinite(cell.value.mean) for cell in table.cells)


@pytest.mark.parametrize(
    ("rows", "message"),
    (
        (ROWS.drop(columns="age"), "Row '0' has no column 'age'; the model reads age, pressure, sex beside the text"),
        (ROWS.assign(age=[81, None]), "The column 'age' is empty in row '1'; fill it in, or leave such rows out"),
        (ROWS.assign(age=["old", "30"]), "The column 'age' is 'old' in row '0'; give a finite number"),
        (ROWS.assign(age=[np.inf, 3]), "The column 'age' is 'inf' in row '0'; give a finite number"),
        (ROWS.assign(sex=[1, "m"]), None),
        (ROWS.assign(sex=["f\nage = 3", "m"]), "'sex' is 'f.nage = 3' in row '0'; give one line of text"),
        (["The patient fell twice."], "Row '0' has no column 'age'"),
        (
            [Example(("fell", "twice"))],
            "has the line .twice., and the model reads one text with the columns age, pressure, sex; give a table",
        ),
    ),
)
def test_rows_without_their_numbers_raise_one_sentence(rows, message):
    if message is None:
        assert explained(rows=rows)[0].example.segments[1].endswith("sex = 1")
        return
    with pytest.raises(BadInput, match=message) as raised:
        explained(rows=rows)
    assert "\n" not in str(raised.value)


def test_bad_rows_are_left_out_on_request():
    with pytest.warns(UserWarning, match="1 bad rows of 2 were left out: The column 'age' is empty in row '1'"):
        results = explained(rows=ROWS.assign(age=[81, None]), skip_bad_rows=True)
    assert len(results) == 1


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    (
        ({"background": None}, BadSetting, "needs rows that stand for a number that is taken out"),
        ({"background": BACKGROUND[:0]}, BadInput, "The background has no rows"),
        ({"background": BACKGROUND.drop(columns="age")}, UnknownName, "No column of the background is called 'age'"),
        ({"background": BACKGROUND.assign(age=np.nan)}, BadInput, "'age' of the background has empty values"),
        ({"background": BACKGROUND.assign(age=pandas.NA)}, BadInput, "'age' of the background has empty values"),
        ({"background": BACKGROUND.assign(age=[[1]] * 40)}, BadInput, "of the types list; give finite numbers"),
        ({"background": 3}, BadInput, "The background came as int"),
        ({"background": BACKGROUND, "draws": 0}, BadSetting, "draws=0 is out of range"),
        ({"background": BACKGROUND, "columns": ()}, BadSetting, "came without columns="),
        ({"background": BACKGROUND, "columns": ("age", "age")}, BadSetting, "different names"),
        ({"background": BACKGROUND, "text": "age"}, BadSetting, "none is that of the text"),
    ),
)
def test_settings_that_do_not_fit_raise_one_sentence(settings, error, message):
    with pytest.raises(error, match=message) as raised:
        pellucid.from_function(triage, LABELS, **{"columns": FEATURES, **settings})
    assert isinstance(raised.value, PellucidError) and "\n" not in str(raised.value)


def test_a_function_that_fails_on_rows_is_named_with_its_first_row():
    with pytest.raises(ModelCannot, match=r"failed on 1 rows \(first: .'text': 'The patient fell twice.*KeyError"):
        explained(model(lambda frame: frame["weight"]), ROWS[:1])


def test_a_pipeline_of_two_texts_asks_which():
    parts = ColumnTransformer(
        [("a", CountVectorizer(), "title"), ("b", CountVectorizer(), "body"), ("c", "drop", ["id"])]
    )
    frame = pandas.DataFrame({"title": ["good", "bad"], "body": ["fine day", "dull day"], "id": [1, 2]})
    pipeline = make_pipeline(parts, LogisticRegression()).fit(frame, ["+", "-"])
    with pytest.raises(BadSetting, match=r"reads 2 columns as texts \(title, body\); name the text's with text="):
        pellucid.from_pipeline(pipeline, background=frame)
    of = pellucid.from_pipeline(pipeline, background=frame, text="body")
    assert tuple(of.columns.kinds) == ("title",)
    assert "title = good" in dict(explained(of, frame)[0])
