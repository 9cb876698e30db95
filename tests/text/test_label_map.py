"""Labels of data beside classes of a model: what is suggested, and what is not."""

import pytest

from pellucid.text.label_map import suggested_map

BAD_TO_GOOD = ("negative", "neutral", "positive")
SUGGESTED = [
    ("0 1 2", BAD_TO_GOOD, "negative neutral positive"),
    ("LABEL_0 LABEL_2", BAD_TO_GOOD, "negative positive"),
    ("1 3 5", BAD_TO_GOOD, "negative neutral positive"),
    ("1 2 3 4 5", BAD_TO_GOOD, "negative negative neutral positive positive"),
    ("-1 0 1", BAD_TO_GOOD, "negative neutral positive"),
    ("1.0 2.0 3.0", BAD_TO_GOOD, "negative neutral positive"),
    ("1 5", ("positive", "negative"), "negative positive"),
    ("Positive NEGATIVE", BAD_TO_GOOD, "positive negative"),
    ("positiv negativo neutre", BAD_TO_GOOD, "positive negative neutral"),
    ("积极 отрицательный", BAD_TO_GOOD, "positive negative"),
    ("pos neg", ("NEGATIVE", "POSITIVE"), "POSITIVE NEGATIVE"),
    ("0 1", ("LABEL_0", "LABEL_1"), "LABEL_0 LABEL_1"),
    ("1 5", ("1_star", "2_stars", "5_stars"), "1_star 5_stars"),
    ("ja nein", ("no", "yes"), "yes no"),
]


@pytest.mark.parametrize(("labels", "classes", "meant"), SUGGESTED)
def test_what_labels_mean(labels, classes, meant):
    assert suggested_map(labels.split(), classes) == dict(zip(labels.split(), meant.split(), strict=True))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ("sports", BAD_TO_GOOD),
        ("7 9", ("sports", "science")),
        ("4 5 6 7", BAD_TO_GOOD),
        ("good bad", ("sports", "science")),
    ],
)
def test_nothing_is_suggested_where_nothing_speaks_for_it(labels, classes):
    assert suggested_map(labels.split(), classes) == {}


def test_classes_are_no_part_of_a_map():
    assert suggested_map(["positive", "Negative"], BAD_TO_GOOD) == {"Negative": "negative"}


def test_the_middle_of_five_stars_is_left_open_between_two_classes():
    assert suggested_map("1 2 3 4 5".split(), ("negative", "positive")).keys() == set("1245")
