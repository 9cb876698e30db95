"""Several annotators: metrics judge by each and average, and people judged by each other are the ceiling."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import BadFile, BadInput
from pellucid.comparison.metrics.plausibility import auprc, iou_f1, token_f1
from pellucid.comparison.selection import marked_share
from pellucid.text.example import Example, Rationale, annotators_of, annotators_record
from tests.reference import metrics as slow
from tests.shared.cases import case_with, examples, mark, model

TEXT = examples()[0]
N_WORDS = len(case_with([TEXT]).scores("word")[0])
# Of one annotator: nothing, some, all; annotators may repeat each other and overlap.
WORDS = st.sets(st.integers(0, N_WORDS - 1), max_size=N_WORDS)
ANNOTATORS = st.lists(st.one_of(WORDS, st.just(set()), st.just(set(range(N_WORDS)))), min_size=1, max_size=4).flatmap(
    lambda marks: st.sampled_from([marks, [*marks, marks[0]]])
)


def annotated(example, of_all):
    """The example with these words of each annotator in its meta, and no rationale."""
    marks = [mark(example, sorted(words)).rationales if words else () for words in of_all]
    return replace(example, rationales=(), meta={"annotators": annotators_record(marks)})


def literal(case, of_all, budget):
    """(token F1, precision, recall, AUPRC) of the only text, averaged over annotators who marked a word."""
    (scores,), (segments,) = case.scores("word"), case.segments("word")
    selected = set(slow.top(scores.tolist(), str(budget)))
    rows = []
    for gold in filter(None, of_all):
        spans = slow.spans(selected, segments), slow.spans(set(gold), segments)
        rows.append(
            (
                slow.token_f1(selected, set(gold)),
                *slow.span_precision_and_recall(*spans),
                slow.auprc(scores.tolist(), set(gold)),
            )
        )
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [np.nan] * 4


@settings(max_examples=60, deadline=None)
@given(ANNOTATORS, st.integers(0, 5), st.sampled_from([0.1, 0.3, 0.6]))
def test_scores_are_the_benchmarks_averaged_over_annotators(of_all, seed, budget):
    case = case_with([annotated(TEXT, of_all)], seed)
    ours = [
        token_f1(case, budget=budget).columns[0, 0],
        *iou_f1(case, budget=budget).columns[0],
        auprc(case).columns[0, 0],
    ]
    np.testing.assert_allclose(ours, literal(case, of_all, budget), atol=1e-9)


def test_one_annotator_is_a_rationale():
    one, plain = annotated(TEXT, [{2, 3, 7}]), mark(TEXT, [2, 3, 7])
    for metric in (token_f1, iou_f1, auprc):
        np.testing.assert_array_equal(metric(case_with([one], 1)).columns, metric(case_with([plain], 1)).columns)


def test_the_budget_is_the_mean_over_annotators_who_marked_and_then_over_texts():
    texts = [annotated(TEXT, [{1, 2}, {1, 2, 3, 4}, set()]), annotated(TEXT, [{5}])]
    assert marked_share(model(), texts) == pytest.approx((3 / N_WORDS + 1 / N_WORDS) / 2)


def compared(texts, **settings):
    answer = lambda some: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in some]  # noqa: E731
    function = pellucid.from_function(answer, ["negative", "positive"])
    metrics = ["comprehensiveness", "token_f1", "iou_f1", "auprc"]
    return pellucid.compare(function, texts, ["occlusion"], metrics, **settings)


def two_people(text, first, second):
    spans = [[[text.index(words), text.index(words) + len(words)]] for words in (first, second)]
    return Example((text,), "positive", meta={"annotators": spans})


TEXTS = [
    two_people("A good film.", "good", "good"),
    two_people("A good and long evening.", "good", "good and long"),
    Example(("A good, if odd, day.",), "positive", (Rationale(0, 2, 6),)),
]


def test_people_judged_by_each_other_are_the_ceiling():
    table = compared(TEXTS)
    ceiling = {cell.metric: cell for cell in table.ceiling}
    assert set(ceiling) == {"token_f1", "iou_f1", "auprc"} and "annotators" not in table.methods
    assert {cell.n for cell in table.ceiling} == {2}
    assert ceiling["token_f1"].value.mean == pytest.approx((1 + 0.5) / 2)
    assert ceiling["iou_f1"].value.mean == pytest.approx(0.5)
    by_hand = [slow.auprc_of_ties([0, 1, 0, 0, 0, 0], {1, 2, 3}), slow.auprc_of_ties([0, 1, 1, 1, 0, 0], {1})]
    assert ceiling["auprc"].value.mean == pytest.approx((1 + sum(by_hand) / 2) / 2)
    assert any("The row “annotators”" in caveat and "2 examples" in caveat for caveat in table.caveats)


def test_equal_annotators_agree_to_1_and_single_ones_make_no_row():
    equal = compared([two_people("A good film.", "good", "good"), two_people("A good day.", "good", "good")])
    assert {cell.value.mean for cell in equal.ceiling} == {1.0}
    assert compared(TEXTS[2:]).ceiling == ()


def test_the_ceiling_is_drawn_saved_and_exported(tmp_path):
    table = compared(TEXTS)
    table.save(tmp_path / "table.json")
    assert pellucid.Table.read(tmp_path / "table.json") == table
    assert "annotators" in str(table) and "annotators" in pellucid.latex(table)
    pellucid.report([], table, path=tmp_path / "table.html")
    assert "people, each by the others" in (tmp_path / "table.html").read_text()
    pellucid.write_csv(table, tmp_path / "table.csv")
    assert "annotators,token_f1" in (tmp_path / "table.csv").read_text()


@pytest.mark.parametrize(
    ("annotators", "message"),
    [
        ([[[2, 6]], [[5, 99]]], r"annotator 2 marks the characters 5 to 99 of a text of 12"),
        ([[[6, 6]]], r"annotator 1 marks the characters 6 to 6"),
        ([[[1, 0, 3]]], r"annotator 1 marks text 1, but its texts are numbered from 0 to 0"),
        ([[2, 6]], r"a list with one list of marks for each annotator.*annotator 1 has the mark 2"),
        ([[[2, "6"]]], r"annotator 1 has the mark"),
    ],
)
def test_marks_that_are_none_are_refused_before_any_work(annotators, message):
    with pytest.raises(BadInput, match=message):
        compared([Example(("A good film.",), "positive", meta={"annotators": annotators})])


@pytest.mark.parametrize("other", [["Ann", "Bob"], "Ann", 3, []])
def test_meta_of_that_name_with_another_meaning_is_left_alone(other):
    example = Example(("A good film.",), "positive", (Rationale(0, 2, 6),), meta={"annotators": other})
    assert annotators_of(example) == ((Rationale(0, 2, 6),),)


def test_json_lines_read_annotators_and_refuse_a_line_that_marks_outside_its_text(tmp_path):
    rows = [
        {"text": "A good film.", "label": "positive", "annotators": [[[2, 6]], [[2, 11]], []]},
        {"text": "A good day.", "label": "positive", "annotators": [[[2, 6]]], "evidence": [[7, 10]]},
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    first, second = pellucid.examples(path)
    assert first.rationales == (Rationale(0, 2, 11),) and second.rationales == (Rationale(0, 7, 10),)
    assert annotators_of(first) == ((Rationale(0, 2, 6),), (Rationale(0, 2, 11),))
    path.write_text(json.dumps(rows[0] | {"annotators": [[[2, 60]]]}))
    with pytest.raises(BadFile, match=r"line 1: .*annotator 1 marks the characters 2 to 60 of a text of 12"):
        pellucid.examples(path)


def test_annotators_as_objects_and_marks_under_another_name():
    pair = ("A cat sleeps.", "It is awake.")
    people = [
        {"premise": [[2, 5]], "hypothesis": [[6, 11]], "explanation": "No."},
        {"premise": [], "hypothesis": [[6, 11]]},
        {"premise": [], "hypothesis": []},
    ]
    assert annotators_of(Example(pair, meta={"annotators": people})) == (
        (Rationale(0, 2, 5), Rationale(1, 6, 11)),
        (Rationale(1, 6, 11),),
    )
    votes = {"annotators": [{"label": "a"}, {"label": "b"}], "rationales": [[[2, 6]], [], [[2, 11]]]}
    assert annotators_of(Example(("A good film.",), meta=votes)) == (
        (Rationale(0, 2, 6),),
        (Rationale(0, 2, 11),),
    )
    flat = {"rationales": [[2, 6], [7, 11]]}  # of one person, or of another kind
    assert annotators_of(Example(("A good film.",), meta=flat)) == ()


def test_a_row_with_an_empty_field_of_evidence_keeps_it_empty(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps({"text": "A good film.", "label": "x", "evidence": [], "annotators": [[[2, 6]]]}))
    (example,) = pellucid.examples(path)
    assert example.rationales == () and len(annotators_of(example)) == 1
