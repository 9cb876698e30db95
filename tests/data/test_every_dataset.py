"""Every registered data set: parts that share nothing, declared labels, rationales inside their texts."""

import inspect

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import datasets
from pellucid.data.load import classes_of, load_examples, load_parts

PARTS = ("train", "dev", "test")


@pytest.fixture(params=datasets.names())
def name(request):
    return request.param


def test_it_says_what_it_is(name):
    entry = datasets.get(name)
    assert entry.summary.endswith(".") and entry.paper
    assert entry.facts["task"]
    fewest = 0 if entry.facts["task"] == "translation" else 2
    assert len(set(entry.facts["classes"])) == len(entry.facts["classes"]) >= fewest
    assert list(inspect.signature(entry.make).parameters) == ["split"]


def test_the_parts_are_the_whole_in_its_order(name):
    parts, whole = {part: load_examples(name, part) for part in PARTS}, load_examples(name, "all")
    assert all(parts.values())
    assert sorted(one.id for part in parts.values() for one in part) == sorted(one.id for one in whole)
    for part in parts.values():
        ids = {example.id for example in part}
        assert part == [example for example in whole if example.id in ids]


def test_ids_are_different(name):
    examples = load_examples(name, "all")
    assert len({example.id for example in examples}) == len(examples)


def test_no_text_is_in_two_parts(name):
    texts = [{example.segments for example in load_examples(name, part)} for part in PARTS]
    assert sum(map(len, texts)) == len(set.union(*texts))


def test_no_group_is_in_two_parts(name):
    groups = [{one.meta["group"] for one in load_examples(name, part) if "group" in one.meta} for part in PARTS]
    assert sum(map(len, groups)) == len(set.union(*groups))


def test_the_labels_are_the_declared_classes(name):
    classes = datasets.get(name).facts["classes"]
    for part in PARTS:
        assert {example.label for example in load_examples(name, part)} == set(classes or (None,))
    assert classes_of(name, []) == tuple(classes)


def test_rationales_mark_text_where_they_are_declared(name):
    examples = load_examples(name, "all")
    for example in examples:
        for mark in example.rationales:
            assert example.segments[mark.segment][mark.start : mark.end].strip(), example.id
    assert any(example.rationales for example in examples) == datasets.get(name).facts["rationales"]


def test_reading_again_gives_the_same(name):
    assert load_examples(name, "all") == load_examples(name, "all")


def test_an_unknown_part_raises(name):
    with pytest.raises(BadSetting, match="split='valid' is not possible"):
        load_examples(name, "valid")


def test_settings_are_refused(name):
    with pytest.raises(BadSetting, match=f"{name} is a data set by itself, without settings"):
        load_examples(name, colour="red")


def test_the_public_functions_read_it(name):
    assert pellucid.examples(name, split="dev") == load_parts(name)["dev"]
