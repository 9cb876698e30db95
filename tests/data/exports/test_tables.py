"""pandas, datasets and shap: every score goes over, at its place, and without the package a sentence says so."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import shap

from pellucid import class_words, examples, to_data_frame, to_dataset, to_shap
from pellucid.base.errors import BadInput, BadSetting, MissingPackage
from pellucid.results.explanation_record import from_record
from pellucid.results.side_by_side import SideBySide
from pellucid.text.example import Example
from pellucid.text.units import all_spans
from tests.shared.explanations import explanation, word_units
from tests.shared.sample_results import sample_table

PAIR = ("The café was closed.", "Nobody ate there.")


def test_a_data_frame_has_a_row_a_unit_with_its_text():
    one, two = explanation("A fine film."), explanation(PAIR)
    frame = to_data_frame([one, two])
    assert len(frame) == len(one.units) + len(two.units)
    assert frame["score"].to_numpy(np.float32).tolist() == [*one.scores.tolist(), *two.scores.tolist()]
    inside = frame[~frame["special"]].iloc[len(one.units.content) :]
    for row in inside.itertuples():
        assert PAIR[row.segment][row.start : row.end] == row.text
    assert set(frame[frame["special"]]["text"]) == {"[CLS]", "[SEP]"}
    assert set(frame["target"]) == {"logit of positive"}


def test_rows_of_scores_are_columns():
    rows = (("layer", ("0", "1")), ("head", ("a", "b", "c")))
    scored = explanation("A fine film.", rows=rows)
    frame = to_data_frame([scored])
    one_head = frame[(frame["layer"] == "1") & (frame["head"] == "b")]
    assert one_head["score"].to_numpy(np.float32).tolist() == scored.scores[1, 1].tolist()
    assert len(frame) == 6 * len(scored.units)


def test_spans_keep_their_characters():
    spans = all_spans(word_units(("A fine film.",)))
    frame = to_data_frame([explanation("A fine film.", units=spans)])
    assert "fine film" in set(frame["text"]) and set(frame["kind"]) == {"span"}


def test_a_data_frame_says_how_sure_and_whether_right():
    right = explanation("A fine film.", example=Example(("A fine film.",), "positive", id="r"))
    frame = to_data_frame([right, explanation("A film.")])
    of_right = frame[frame["id"] == "r"]
    assert set(of_right["correct"]) == {True} and set(of_right["probability"]) == {0.75}
    assert set(of_right["value"]) == {1.5} and set(frame[frame["id"] == "t1"]["correct"]) == {None}


def test_one_explanation_and_several_methods_make_a_data_frame():
    one = explanation("A fine film.")
    assert to_data_frame(one).equals(to_data_frame([one])) and len(to_data_frame(one)) == len(one.units)
    side = SideBySide({"occlusion": [one], "gradient": [replace(one, method="gradient")]})
    assert to_data_frame(side)["method"].value_counts().to_dict() == {
        "occlusion": len(one.units),
        "gradient": len(one.units),
    }


def test_a_comparison_makes_a_row_a_cell():
    table = sample_table()
    frame = to_data_frame(table)
    assert len(frame) == len(table.cells)
    for row, cell in zip(frame.itertuples(), table.cells, strict=True):
        assert (row.method, row.metric, row.mean, row.low, row.verdict) == (
            cell.method,
            cell.metric,
            cell.value.mean,
            cell.value.low,
            cell.verdict,
        )
    over = frame[frame["method"] != "chance"].iloc[0]
    assert over["over_chance_mean"] == table.cells[0].over_chance.mean


def test_words_of_classes_make_a_row_a_word():
    words = class_words([explanation("A fine film.")], min_texts=1)
    frame = to_data_frame(words)
    assert frame["word"].tolist() == [word.word for word in words.words] and "n_texts" in frame


@pytest.mark.parametrize("wrong", ("text", [1], None, {"a": 1}))
def test_what_has_no_rows_is_refused(wrong):
    with pytest.raises(BadInput, match="has no rows; give explanations"):
        to_data_frame(wrong)


def test_no_explanations_make_an_empty_data_frame():
    assert len(to_data_frame([])) == 0


def test_explanations_come_back_from_a_dataset():
    explanations = [explanation("A fine film."), explanation(PAIR)]
    assert [from_record(row) for row in to_dataset(explanations)] == explanations


@pytest.mark.parametrize("name", ("pocket", "pocket_pairs"))
def test_examples_come_back_from_a_dataset(tmp_path, name):
    to_dataset(examples(name)).save_to_disk(tmp_path / "saved")
    assert examples(tmp_path / "saved", format="hugging_face") == examples(name)


def test_a_mixed_or_empty_list_makes_no_dataset():
    for wrong in ([], [explanation(), explanation().example]):
        with pytest.raises(BadInput, match="Give a list of examples, or a list of explanations"):
            to_dataset(wrong)


def test_shap_gets_every_score_and_the_whole_text():
    explanations = [explanation("A fine,  fine film. "), explanation(PAIR)]
    of_shap = to_shap(explanations)
    for number, one in enumerate(explanations):
        row = of_shap[number]
        assert row.values == pytest.approx(one.scores)
        assert "".join(row.data) == "\n".join(one.example.segments)
        assert row.base_values + row.values.sum() == pytest.approx(one.target.value)


def test_shaps_text_plot_accepts_it():
    explanations = [explanation("A fine film."), explanation("<b>Two</b> words")]
    drawn = shap.plots.text(to_shap(explanations), display=False)
    assert "fine" in drawn
    assert "film" in shap.plots.text(to_shap(explanations)[0], display=False)


def test_shap_averages_units_by_their_text_over_texts_of_other_lengths():
    texts = [explanation("A fine,  fine film."), explanation("fine"), explanation(PAIR)]
    mean = to_shap(texts).mean(0)
    of_fine = [score for one in texts for word, score in one if word == "fine"]
    values = dict(zip(mean.feature_names, mean.values, strict=True))
    assert values["fine"] == pytest.approx(np.mean(of_fine)) and "" not in values
    axes = shap.plots.bar(mean, max_display=30, show=False)
    assert "fine" in {label.get_text() for label in axes.get_yticklabels()}
    assert len(to_shap(texts[:1]).mean(0).feature_names) == len({*texts[0].units.labels})


def test_shap_gets_spans_as_words_and_refuses_rows():
    spans = all_spans(word_units(("A fine film.",)))
    scored = explanation("A fine film.", units=spans)
    assert to_shap([scored])[0].values.sum() == pytest.approx(scored.scores.sum(), abs=1e-5)
    with pytest.raises(BadSetting, match="Choose one with"):
        to_shap([explanation(rows=(("draw", ("1", "2")),))])
    with pytest.raises(BadInput):
        to_shap([])


@pytest.mark.parametrize(
    ("export", "package"), ((to_data_frame, "pandas"), (to_dataset, "datasets"), (to_shap, "shap"))
)
def test_without_the_package_it_says_how_to_install_it(monkeypatch, export, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"pip install {package}"):
        export([explanation()])


@pytest.mark.whole
def test_importing_pellucid_imports_none_of_them():
    program = "import sys, pellucid; pellucid.formats(); print([m for m in ('datasets', 'shap') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=300)
    assert done.stdout.strip() == "[]", done.stderr
