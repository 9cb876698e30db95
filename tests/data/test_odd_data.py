"""What is said of data that are probably a mistake: classes that differ in case, missing values as classes, large
groups.
"""

import warnings

import pytest

from pellucid.data.shared.part_files import split_parts
from pellucid.data.shared.repeated_texts import RepeatedTexts, say_repeated_in_file
from pellucid.data.shared.rows import OddClasses, say_odd_classes
from pellucid.text.example import Example


def test_classes_that_differ_only_in_case_are_named():
    with pytest.warns(OddClasses, match="Pos, pos are different classes; if they mean the same"):
        say_odd_classes(("Pos", "neg", "pos"))


@pytest.mark.parametrize("name", ("NaN", "null", "N/A"))
def test_a_missing_value_that_became_a_class_is_named(name):
    with pytest.warns(OddClasses, match=f"A class is called {name}"):
        say_odd_classes((name, "neg", "pos"))


def test_ordinary_classes_need_no_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        say_odd_classes(("negative", "neutral", "positive", "no", "0"))


@pytest.mark.parametrize("by", ("id", "group"))
def test_a_group_that_is_too_large_to_be_cut_is_named(by):
    users = ["one", "two"]
    examples = [
        Example((f"text number {n}",), "a" if n % 2 else "b", id=users[n % 2] if by == "id" else f"t{n}")
        for n in range(40)
    ]
    if by == "group":
        examples = [
            Example(one.segments, one.label, id=one.id, meta={"group": users[n % 2]}) for n, one in enumerate(examples)
        ]
    with pytest.warns(RepeatedTexts, match="20 of 40 texts have the id or the .group. '(one|two)'"):
        say_repeated_in_file(split_parts(examples))


def test_small_groups_need_no_word():
    examples = [Example((f"a text about the {n}th thing",), "a", id=f"t{n}", meta={"group": n // 2}) for n in range(40)]
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        say_repeated_in_file(split_parts(examples))
    assert not [one for one in notices if "the id or the" in str(one.message)]


def test_repeated_texts_without_ids_are_no_group():
    examples = [Example(("the same words" if n < 12 else f"the {n}th thing",), "a") for n in range(40)]
    with pytest.warns(RepeatedTexts) as notices:
        say_repeated_in_file(split_parts(examples))
    assert not [one for one in notices if "the id or the" in str(one.message)]


def test_texts_without_ids_are_cut_one_by_one():
    parts = split_parts([Example((f"text {n}",), "ab"[n % 2]) for n in range(40)])
    assert [len(parts[name]) for name in ("train", "dev", "test")] == [28, 6, 6]
