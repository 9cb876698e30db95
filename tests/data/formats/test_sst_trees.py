"""SST trees: roots or phrases, five classes or two, brackets and slashes as they were before."""

import pytest

from pellucid.base.errors import BadSetting
from pellucid.data.formats.classes import parse
from pellucid.data.load import load_examples
from tests.data.formats.originals import TREES, write


@pytest.fixture
def source(tmp_path):
    write(tmp_path / "dev.txt", TREES)
    return tmp_path


def read(source, **settings):
    return load_examples(source, "dev", "sst_trees", **settings)


def test_two_classes_leave_neutral_texts_out(source):
    assert [(one.text, one.label) for one in read(source, classes=2)] == [
        ("The tune glows", "positive"),
        ("Flat (", "negative"),
    ]


def test_phrases_are_every_node_of_the_tree(source):
    phrases = [(one.text, one.label) for one in read(source, phrases=True) if one.meta["group"] == "dev-1"]
    assert phrases == [
        ("The tune glows", "very positive"),
        ("The", "neutral"),
        ("tune glows", "very positive"),
        ("tune", "very positive"),
        ("glows", "very positive"),
    ]


def test_two_way_phrases_and_their_ids(source):
    examples = read(source, phrases=True, classes=2)
    assert len({one.id for one in examples}) == len(examples) == 6
    assert {one.label for one in examples} == {"negative", "positive"}


def test_words_are_unescaped_and_non_breaking_spaces_stay():
    words, _ = parse(r"(3 (2 -LRB-) (3 (2 1\/2) (2 8 1) (2 -RSB-)))".replace("8 1", "8\u00a01"))
    assert words == ["(", "1/2", "8\u00a01", "]"]


@pytest.mark.parametrize(
    "tree",
    [
        "",
        "word",
        "()",
        "(3)",
        "(5 (2 a))",
        "(3 (2 a)",
        "(3 (2 a)))",
        "(3 (2 a)) (2 b)",
        ")",
        "(3 (2 ) (2 a))",
    ],
)
def test_what_is_no_tree_raises(tree):
    with pytest.raises(ValueError, match=r"tree|sentiment"):
        parse(tree)


def test_a_deep_tree_is_read():
    words, phrases = parse("(2 " * 5000 + "end" + ")" * 5000)
    assert words == ["end"] and len(phrases) == 5000


def test_another_number_of_classes_raises(source):
    with pytest.raises(BadSetting, match="classes='3' is not possible"):
        read(source, classes=3)
