"""Every registered metric keeps the promises that all metrics share, and those that it declares itself."""

import inspect
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pellucid.base.errors import BadSetting, UnknownName
from pellucid.base.kinds import metrics
from pellucid.explaining.inputs.readings import default_metrics
from pellucid.results.bootstrap import combined
from pellucid.run.model import LACKS
from tests.shared.cases import TEXTS, answer, case_with, examples, mark, model, with_decoy

NAMES = metrics.names()
NEED_MARKS = [name for name in NAMES if "rationales" in metrics.get(name).facts["needs"]]
SETTINGS = [(name, setting) for name in NAMES for setting in metrics.get(name).defaults]


def judge(name, case, **settings):
    """What the metric returns with these settings, by the way that `compare` takes."""
    (call,) = metrics.calls([(name, settings)])
    return call(case)


def number(judged):
    return combined(judged.columns, judged.combine)


@cache
def effects():
    """[example][word]: how far the predicted class's probability falls without the word: scores that are true."""
    case = case_with(examples())
    return [_effects(case, index) for index in range(len(case))]


def _effects(case, index):
    whole = answer(case, index, frozenset())
    n_words = len(case.scores("word")[index])
    return [(whole - answer(case, index, frozenset({word})))[whole.argmax()] for word in range(n_words)]


@cache
def judgeable():
    """Examples that every metric can judge: labelled as the model predicts, with the words marked that matter most, and
    a decoy that matters least.
    """
    predicted = [one.prediction.label for one in case_with(examples()).explanations]
    return [
        with_decoy(
            mark(replace(example, label=label), np.argsort(scores)[-max(1, len(scores) // 3) :].tolist()),
            int(np.argmin(scores)),
        )
        for example, label, scores in zip(examples(), predicted, effects(), strict=True)
    ]


def case_of(texts, scores=3):
    """A case with these scores of the words, or random ones of this seed, whose share of marked words is fixed.

    In a comparison it is taken over all examples, so that the parts do not matter.
    """
    return replace(case_with(texts, scores), marked_share=0.25)


@pytest.mark.parametrize("name", NAMES)
def test_it_declares_what_tables_and_pages_need(name):
    entry = metrics.get(name)
    assert entry.facts["better"] in ("higher", "lower")
    assert entry.facts["lowest"] < entry.facts["highest"]
    assert entry.facts["needs"] <= {"rationales"}
    assert entry.facts["capabilities"] <= LACKS.keys()
    assert entry.summary.endswith(".")
    parameters = list(inspect.signature(entry.make).parameters.values())
    assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == ["case"]
    assert all(one.default is not one.empty for one in parameters[1:])


@pytest.mark.parametrize("name", NAMES)
def test_values_are_within_the_declared_range_one_row_an_example(name):
    facts = metrics.get(name).facts
    for seed in range(4):
        judged = judge(name, case_of(judgeable(), seed))
        assert judged.columns.shape == (len(TEXTS), {"mean": 1, "f1": 2}[judged.combine])
        values = judged.columns[~np.isnan(judged.columns)]
        assert values.size and ((facts["lowest"] <= values) & (values <= facts["highest"])).all()
        assert facts["lowest"] <= number(judged) <= facts["highest"]
        assert (judged.curve is None) == (judged.grid is None)
        assert judged.curve is None or judged.curve.shape == (len(TEXTS), len(judged.grid))


@pytest.mark.parametrize("name", NAMES)
def test_an_examples_value_depends_on_that_example_alone(name):
    """Not on order or neighbours: the other case has another batch, another scheduler and no views yet."""
    whole = judge(name, case_of(judgeable()))
    backwards = judge(name, case_of(judgeable()[::-1]))
    np.testing.assert_allclose(backwards.columns[::-1], whole.columns, atol=1e-5)
    for index, example in enumerate(judgeable()):
        alone = judge(name, case_of([example]))
        np.testing.assert_allclose(alone.columns, whole.columns[index : index + 1], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_true_scores_are_better_than_their_negative(name):
    true, negative = (
        number(judge(name, case_of(judgeable(), [sign * np.array(scores) for scores in effects()]))) for sign in (1, -1)
    )
    assert true > negative if metrics.get(name).facts["better"] == "higher" else true < negative


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ("fine", ("fine", "\u200b")), ids=("one word", "one word and none"))
def test_texts_of_one_word_or_none_are_judged_within_the_range_or_not_at_all(name, text):
    """A model refuses a text of which the tokenizer leaves nothing, but reads it beside another one."""
    (example,) = examples([text])
    assert len(case_with([example]).scores("word")[0]) == 1
    facts, judged = metrics.get(name).facts, judge(name, case_of([example]))
    assert judged.columns.shape[0] == 1
    value = number(judged)
    assert np.isnan(value) or facts["lowest"] <= value <= facts["highest"]


@pytest.mark.parametrize("name", NAMES)
def test_people_s_marks_are_read_where_it_says_so_and_nowhere_else(name):
    bare = [replace(example, rationales=()) for example in judgeable()]
    marked, unmarked = judge(name, case_of(judgeable())), judge(name, case_of(bare))
    if name in NEED_MARKS:
        assert np.isnan(unmarked.columns).any(1).all()
    else:
        np.testing.assert_array_equal(unmarked.columns, marked.columns)


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_wrong_settings_are_refused(name, setting):
    """A value of another kind before anything is computed, an impossible one of the right kind when it is judged."""
    default = metrics.get(name).defaults[setting]
    impossible = ["no such" if isinstance(default, str) else () if isinstance(default, tuple) else -1]
    for value in ({"a": 1}, *(impossible if setting != "seed" else ())):  # any whole number is a seed
        with pytest.raises(BadSetting):
            judge(name, case_of(judgeable()), **{setting: value})


@pytest.mark.parametrize("name", NAMES)
def test_unknown_settings_are_refused(name):
    with pytest.raises(UnknownName, match=f"setting of {name}"):
        metrics.calls([(name, {"no_such": 1})])


def test_metrics_stand_in_tables_by_their_column_and_those_without_one_come_last_by_name():
    columns = {name: metrics.get(name).facts["column"] for name in NAMES}
    numbered = [column for column in columns.values() if column != metrics.optional["column"]]
    assert len(set(numbered)) == len(numbered) == 7
    names = default_metrics(model(), examples())
    assert names[:7] == [
        "hiding", "revealing", "comprehensiveness", "sufficiency", "token_f1", "iou_f1", "auprc",
    ]  # fmt: skip
    assert names == sorted(names, key=lambda name: (columns[name], name))
    assert set(names) == {name for name in NAMES if metrics.get(name).facts["usual"]}
