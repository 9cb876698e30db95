"""ERASER: examples come back from its files, and predictions keep each unit's score on its tokens."""

import json

import numpy as np
import pytest

from pellucid import examples, write_eraser, write_eraser_examples
from pellucid.base.errors import BadInput, BadSetting
from pellucid.data.exports.eraser import token_scores
from pellucid.text.example import Example, Rationale
from pellucid.text.units import Units, all_spans
from tests.shared.explanations import explanation, word_units


def predictions(tmp_path, *explanations, **settings):
    write_eraser(explanations, tmp_path / "out.jsonl", **settings)
    return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]


ALIGNED = [
    Example(("A  fine\nfilm .",), "good", (Rationale(0, 3, 12),), "news/1 #é"),
    Example(("It rains .", "Wet ."), "yes", (Rationale(0, 3, 8), Rationale(1, 0, 3)), "pair"),
    Example(("Nothing .",), "none", (), "2"),
]


@pytest.mark.parametrize("split", ("train", "dev", "test"))
def test_examples_come_back_equal(tmp_path, split):
    write_eraser_examples(ALIGNED, tmp_path, split)
    assert examples(tmp_path, split, format="eraser") == ALIGNED


def test_rationales_are_widened_to_tokens(tmp_path):
    write_eraser_examples([Example(("A fine-ish film.",), "good", (Rationale(0, 4, 13),), "1")], tmp_path)
    (example,) = examples(tmp_path, format="eraser")
    assert example.rationales == (Rationale(0, 2, 16),)


def test_our_corpus_keeps_texts_labels_and_evidence(tmp_path):
    ours = examples("pocket_pairs")
    write_eraser_examples(ours, tmp_path)
    for one, back in zip(ours, examples(tmp_path, format="eraser"), strict=True):
        assert (one.id, one.segments, one.label) == (back.id, back.segments, back.label)
        for mark in one.rationales:
            assert any(
                mark.segment == wide.segment and wide.start <= mark.start and mark.end <= wide.end
                for wide in back.rationales
            )


@pytest.mark.parametrize(
    ("wrong", "message"),
    (
        ([Example(("a",), "x")], "needs an id and a label"),
        ([Example(("a",), None, (), "1")], "needs an id and a label"),
        (
            [Example(("a",), "x", (), "1"), Example(("b",), "x", (), "1")],
            "Two examples make the document '1'",
        ),
        ([Example((" a",), "x", (Rationale(0, 0, 1),), "1")], "a rationale of blanks alone"),
    ),
)
def test_what_eraser_cannot_hold_is_refused(tmp_path, wrong, message):
    with pytest.raises(BadInput, match=message):
        write_eraser_examples(wrong, tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_soft_scores_are_a_token_each_and_keep_their_sum(tmp_path):
    scores = [9.0, 0.5, 1.0, -0.25, 2.0, 0.125, 0.0625, 9.0]  # [CLS] A fine , fine film . [SEP]
    (row,) = predictions(tmp_path, explanation("A fine, fine film.", scores))
    (rationale,) = row["rationales"]
    assert rationale["docid"] == "t1" == row["annotation_id"]
    assert rationale["soft_rationale_predictions"] == [0.5, 0.75, 2.0, 0.1875]
    assert row["classification"] == "positive"
    assert row["classification_scores"] == {"negative": 0.25, "positive": 0.75}


@pytest.mark.parametrize(
    ("fraction", "hard"),
    ((0.25, [(2, 3)]), (0.5, [(1, 3)]), (1.0, [(0, 3)]), (0, [])),
)
def test_the_hard_rationale_is_the_best_tokens_above_zero(tmp_path, fraction, hard):
    scores = [0.0, 0.5, 1.0, 0.0, 2.0, -1.0, 0.0, 0.0]
    (row,) = predictions(tmp_path, explanation("A fine, fine film.", scores), fraction=fraction)
    spans = row["rationales"][0]["hard_rationale_predictions"]
    assert [(span["start_token"], span["end_token"]) for span in spans] == hard


def test_a_pair_has_two_documents_and_a_query_none(tmp_path):
    pair = explanation(("It rains.", "Wet."), np.arange(8.0))
    (row,) = predictions(tmp_path, pair)
    assert [part["docid"] for part in row["rationales"]] == ["t1_1", "t1_2"]
    assert [len(part["soft_rationale_predictions"]) for part in row["rationales"]] == [2, 1]
    query = Example(("It rains.", "Wet."), id="q", meta={"docids": ["weather"]})
    (row,) = predictions(tmp_path, explanation(("It rains.", "Wet."), np.arange(8.0), example=query))
    assert [part["docid"] for part in row["rationales"]] == ["weather"]


def test_units_wider_than_tokens_and_spans_keep_their_sum():
    whole = Units("sentence", ("A fine film.",), (0,), (0,), (12,))
    assert token_scores(explanation("A fine film.", [3.0], units=whole), 0).tolist() == [1.0, 1.0, 1.0]
    spans = all_spans(word_units(("A fine film.",)))
    scored = explanation("A fine film.", np.ones(len(spans)), units=spans)
    assert token_scores(scored, 0).sum() == pytest.approx(len(spans))


def test_several_rows_and_wrong_fractions_are_refused(tmp_path):
    with pytest.raises(BadSetting, match="Choose one with"):
        predictions(tmp_path, explanation(rows=(("draw", ("1", "2")),)))
    with pytest.raises(BadSetting, match="fraction=2 is out of range"):
        predictions(tmp_path, explanation(), fraction=2)
    with pytest.raises(BadInput, match="needs an id"):
        predictions(tmp_path, explanation(example=Example(("A fine, fine film.",))))


@pytest.mark.parametrize("docids", (3, "ab", ["a", "b", "c"], [], [3], [["a"]], {"a": 1}, True, None))
def test_odd_names_of_documents_give_way_to_the_example_s_own(tmp_path, docids):
    explained = explanation(example=Example(("A fine, fine film.",), id="t1", meta={"docids": docids}))
    (row,) = predictions(tmp_path, explained)
    assert [one["docid"] for one in row["rationales"]] == ["t1"]
