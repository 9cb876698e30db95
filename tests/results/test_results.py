"""A list of results: it behaves as a list of explanations does, and its filters mean what they say."""

import pandas
import pytest

import pellucid
from pellucid.base.errors import BadSetting, UnknownName
from pellucid.results.results import Results
from tests.shared.answered import answered

RIGHT = answered("a fine film", [0, 2, 1], label="positive", sure=0.9, name="right")
WRONG = answered("a dull film", [0, -2, 1], label="negative", sure=0.55, name="wrong")
OTHER = answered("what a Film", [1, 0, 1], says="negative", label="5 stars", sure=0.7, name="other")
BARE = answered("just a day", [1, 0, 1], says="negative", sure=0.8, name="bare", method="gradient")
ALL = Results((RIGHT, WRONG, OTHER, BARE), seconds=2.0)


def names(results):
    return [one.example.id for one in results]


def test_it_is_a_sequence_equal_to_the_list_of_its_members():
    assert ALL == [RIGHT, WRONG, OTHER, BARE] and Results(tuple(ALL)) == ALL and ALL != [RIGHT]
    assert len(ALL) == 4 and ALL[1] == WRONG and WRONG in ALL and list(ALL) == list(ALL.explanations)
    assert not Results(()) and Results(()) == []


def test_slices_and_sums_are_results():
    assert isinstance(ALL[1:], Results) and names(ALL[1:]) == ["wrong", "other", "bare"]
    first, last = [RIGHT], [BARE]
    assert ALL[:1] + ALL[3:] == ALL[:1] + last == first + ALL[3:] == [RIGHT, BARE]
    assert isinstance(first + ALL[3:], Results)
    assert (ALL + ALL).seconds == 4.0 and ALL[:2].seconds is None
    with pytest.raises(TypeError):
        ALL + 1


@pytest.mark.parametrize(
    ("conditions", "expected"),
    (
        ({"correct": True}, ["right"]),
        ({"correct": False}, ["wrong"]),
        ({"predicted": "negative"}, ["other", "bare"]),
        ({"label": "5 stars"}, ["other"]),
        ({"method": "gradient"}, ["bare"]),
        ({"unsure": True}, ["wrong"]),
        ({"unsure": False}, ["right", "other", "bare"]),
        ({"contains": "FILM"}, ["right", "wrong", "other"]),
        ({"contains": "film", "unsure": False, "predicted": "positive"}, ["right"]),
        ({}, ["right", "wrong", "other", "bare"]),
    ),
)
def test_where_takes_those_that_meet_all_conditions(conditions, expected):
    assert names(ALL.where(**conditions)) == expected


@pytest.mark.parametrize("condition", ("predicted", "label", "method"))
def test_where_refuses_names_that_no_result_has(condition):
    with pytest.raises(UnknownName, match="these results is called 'positiv'"):
        ALL.where(**{condition: "positiv"})


def test_sorted_by_confidence_and_back_to_the_order_of_the_text():
    by_confidence = ALL.sorted_by("confidence")
    assert names(by_confidence) == ["wrong", "other", "bare", "right"]
    assert names(ALL.sorted_by("confidence", ascending=False)) == ["right", "bare", "other", "wrong"]
    assert by_confidence.sorted_by("text_order") == ALL
    assert names(by_confidence[1:].sorted_by("text_order")) == ["right", "other", "bare"]
    with pytest.raises(BadSetting, match="confidence"):
        ALL.sorted_by("length")


def test_its_short_form_says_how_many_and_by_what():
    assert repr(ALL) == "<Results: 4 explanations by occlusion, gradient>"
    assert repr(ALL[:1]) == "<Results: 1 explanation by occlusion>" and repr(Results(())) == "<Results: 0 explanations>"


def test_its_data_frame_has_a_row_a_text():
    frame = ALL.data_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["id"].tolist() == names(ALL) and frame["text"].tolist() == [one.example.text for one in ALL]
    assert frame["correct"].tolist() == [True, False, None, None]
    assert frame["probability"].tolist() == pytest.approx([0.9, 0.55, 0.7, 0.8])
    assert frame["words"][0] == ["a", "fine", "film"] and frame["scores"][0] == [0.0, 2.0, 1.0]


@pytest.fixture(scope="module")
def film_results(bert):
    return pellucid.explain(bert, ["A film.", "Dull", "A film."], method="gradient")


def test_explain_and_read_return_results(film_results, tmp_path):
    assert isinstance(film_results, Results) and film_results.seconds > 0
    pellucid.save(film_results, tmp_path / "run.parquet")
    again = pellucid.read(tmp_path / "run.parquet")
    assert isinstance(again, Results) and again == film_results


def test_methods_side_by_side_are_results(bert):
    side = pellucid.explain_all(bert, ["A film.", "Dull"], ["gradient", "attention"])
    assert isinstance(side["gradient"], Results) and isinstance(side.explanations, Results)
    assert side.seconds == side.explanations.seconds > 0
    assert repr(side) == "<SideBySide: 2 texts by gradient, attention>"
    assert side.explanations.where(method="attention") == side["attention"]


def test_a_notebook_draws_it():
    assert "fine" in ALL._repr_html_()
