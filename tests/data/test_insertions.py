"""Words are inserted between blanks, also where a text begins, ends or breaks, and only whole words are occurrences."""

from random import Random

import pytest

from pellucid.base.errors import BadInput
from pellucid.data.reasons import (
    Gap,
    Insertion,
    draw_gaps,
    gaps_in,
    insert_words,
    occurrences,
)
from pellucid.text.example import Rationale

TEXT = " one\ttwo,\nthree \n"


@pytest.mark.parametrize(
    ("index", "filled"),
    [
        (0, " wug one\ttwo,\nthree \n"),
        (1, " one\twug two,\nthree \n"),
        (2, " one\ttwo,\nwug three \n"),
        (3, " one\ttwo,\nthree wug \n"),
    ],
)
def test_every_gap_of_a_text(index, filled):
    assert gaps_in([TEXT])[index] == Gap(0, index)
    assert insert_words([TEXT], [Insertion(Gap(0, index), "wug")]) == (filled,)
    (mark,) = occurrences([filled], ["wug"])
    assert filled[mark.start : mark.end] == "wug"


def test_a_text_of_three_words_has_four_gaps_and_a_pair_those_of_both():
    assert len(gaps_in([TEXT])) == 4
    assert gaps_in(["one", "a b"]) == [Gap(0, 0), Gap(0, 1), Gap(1, 0), Gap(1, 1), Gap(1, 2)]


def test_several_words_go_in_at_once_and_keep_their_order_in_one_gap():
    insertions = [
        Insertion(Gap(1, 1), "dax"),
        Insertion(Gap(0, 0), "wug"),
        Insertion(Gap(1, 1), "fep zorple"),
        Insertion(Gap(1, 0), "snerf"),
    ]
    assert insert_words(["one", "a b"], insertions) == ("wug one", "snerf a dax fep zorple b")


def test_only_whole_words_between_blanks_are_occurrences():
    texts = ["subwug wugs wug, (wug) wug", "dax wug dax fep dax"]
    assert occurrences(texts, ["wug", "dax fep"]) == (
        Rationale(0, 23, 26),
        Rationale(1, 4, 7),
        Rationale(1, 8, 15),
    )
    assert occurrences(texts, []) == ()


def test_drawn_gaps_are_different_and_in_reading_order():
    gaps = gaps_in(["one two three", "a b"])
    draw = Random(0)
    for _ in range(20):
        drawn = draw_gaps(gaps, 4, draw)
        assert drawn == sorted(set(drawn)) and len(drawn) == 4
    with pytest.raises(BadInput, match="7 places for words are too few, 8 are needed"):
        draw_gaps(gaps, 8, draw)
