"""Answers of several labels and of values: their names, right and wrong, summaries, and two versions."""

import math

import numpy as np
import pytest
import torch

import pellucid
from pellucid.drawing.wording import answer_name, answer_with_chances
from pellucid.explaining.explain import explain
from pellucid.results.explanation import Prediction
from pellucid.text.example import Example
from tests.shared.parsed import parsed
from tests.shared.tiny import tiny_classifier

LABELS = ("anger", "joy", "fear")


def sigmoid(numbers):
    return (1 / (1 + np.exp(-np.array(numbers, dtype=float)))).tolist()


def several(*logits):
    """A model of three labels, each on or off, whatever the text says."""
    return pellucid.from_function(lambda texts: [sigmoid(logits)] * len(texts), LABELS, problem="multi_label")


def value(number):
    """A model that gives a value."""
    model = tiny_classifier("bert", ("LABEL_0",), problem_type="regression")
    with torch.no_grad():
        model.network.classifier.weight.zero_()
        model.network.classifier.bias.fill_(number)
    return model


def explained(model, labels=(None,)):
    texts = [Example((f"a fine day, number {n}",), label, id=f"t{n}") for n, label in enumerate(labels)]
    return explain(model, texts, "occlusion", progress=False)


@pytest.mark.parametrize(
    ("logits", "names"),
    (((2.0, -1.0, 0.1), ("anger", "fear")), ((-2.0, -1.0, -3.0), ()), ((30.0, -30.0, -30.0), ("anger",))),
)
def test_of_several_labels_all_that_are_likely_are_the_answer(logits, names):
    (one,) = explained(several(*logits))
    assert one.prediction.gives_several and one.prediction.names == names
    assert answer_name(one) == (", ".join(names) or "none")
    assert repr(one.prediction).count("0.") + repr(one.prediction).count("1.") == len(names)


@pytest.mark.parametrize(
    "logits",
    ((2.0, -1.0), (0.0, 0.0), (0.3, 0.2), (20.0, -20.0), (30.0, -30.0), (600.0, -600.0), (900.0, -900.0)),
)
def test_one_label_of_several_classes_is_no_answer_of_several_labels(logits):
    shares = torch.tensor(logits, dtype=torch.float64).softmax(-1).tolist()
    one = Prediction("a", ("a", "b"), logits, tuple(shares))
    assert not one.gives_several and one.names == ("a",)
    assert not Prediction("b", ("a", "b"), (1.0,), tuple(sigmoid([-1.0, 1.0]))).gives_several


def test_an_answer_of_several_labels_is_neither_right_nor_wrong(tmp_path):
    results = explained(several(2.0, -1.0, 0.1), ["anger", "anger, fear", "joy", "envy, joy"] * 10)
    assert [one.is_correct for one in results] == [None] * 40
    summary = results.summary()
    assert summary.accuracy is None and summary.gives_several
    assert summary.predicted == {"anger": 40, "joy": 0, "fear": 40}
    assert summary.unmatched_labels == {"envy": 10}
    assert "anger, fear" in str(results) and answer_with_chances(results[0]) == "anger (88 %), fear (52 %)"
    assert "not simply right or wrong" in pellucid.report(results, path=tmp_path / "page.html").read_text(
        encoding="utf-8"
    )
    pellucid.save(results, tmp_path / "results.parquet")
    assert pellucid.read(tmp_path / "results.parquet") == results


def test_a_value_is_shown_and_its_labels_are_no_classes(tmp_path):
    results = explained(value(1.25), ["-1.00", "0.5", None, "2"] * 10)
    assert [one.predicted_value for one in results] == [1.25] * 40
    assert [one.is_correct for one in results] == [None] * 40
    summary = results.summary()
    assert summary.values == (1.25, 1.25, 1.25) and not summary.unmatched_labels
    drawn = str(results)
    assert (
        "Values: 1.25 to 1.25" in drawn
        and "no class of the model" not in drawn
        and "LABEL_0" not in drawn.split("beginning")[1]
    )
    page = pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Values from 1.25 to 1.25" in page and "no class of the model" not in page
    seen = parsed(page.removeprefix("<!doctype html>"))
    folded = "".join(part.text for part in seen.every("details", css_class="pl-expert"))
    assert seen.text.count("LABEL_0") == folded.count("LABEL_0")  # among the expert's facts alone
    assert "explaining the value (+1.25)" in str(results[0])
    titles = [title.text for title in seen.every(css_class="pl-example-title")]
    assert titles == ["Highest value", "Lowest value", "Middle"]


def test_two_versions_of_several_labels_differ_where_the_labels_do():
    changes = pellucid.diff(explained(several(2.0, -1.0, 0.1)), explained(several(2.0, 1.0, 0.1)))
    assert changes.summary().n_changed == 1 and changes[0].record()["after"] == "anger, joy, fear"
    same = pellucid.diff(explained(several(2.0, -1.0, 0.1)), explained(several(2.5, -1.0, 0.2)))
    assert same.summary().n_changed == 0


def test_of_values_no_share_of_changed_answers_is_known():
    changes = pellucid.diff(explained(value(1.0), [None] * 3), explained(value(2.0), [None] * 3))
    assert math.isnan(changes.summary().means.changed.mean) and changes.summary().means.n == 3
    assert "the versions give values" in " ".join(str(changes).split()) and "→" in str(changes)
    assert (changes[0].record()["before"], changes[0].record()["after"]) == (1.0, 2.0)
