"""Words are put between blanks, wherever a text begins, ends or breaks, and found there alone."""

from random import Random

import pytest

from pellucid.core.foundation.errors import BadInput
from pellucid.core.text.example import Rationale
from pellucid.datasets.planting.places import Place, Put, places_in, some_of, stretches, with_words

TEXT = " one\ttwo,\nthree \n"


@pytest.mark.parametrize(
    ("gap", "filled"),
    [
        (0, " wug one\ttwo,\nthree \n"),
        (1, " one\twug two,\nthree \n"),
        (2, " one\ttwo,\nwug three \n"),
        (3, " one\ttwo,\nthree wug \n"),
    ],
)
def test_every_place_of_a_text(gap, filled):
    assert places_in([TEXT])[gap] == Place(0, gap)
    assert with_words([TEXT], [Put(Place(0, gap), "wug")]) == (filled,)
    (mark,) = stretches([filled], ["wug"])
    assert filled[mark.start : mark.end] == "wug"


def test_a_text_of_three_words_has_four_places_and_a_pair_those_of_both():
    assert len(places_in([TEXT])) == 4
    assert places_in(["one", "a b"]) == [Place(0, 0), Place(0, 1), Place(1, 0), Place(1, 1), Place(1, 2)]


def test_several_words_go_in_at_once_and_keep_their_order_at_one_place():
    puts = [
        Put(Place(1, 1), "dax"),
        Put(Place(0, 0), "wug"),
        Put(Place(1, 1), "fep zorple"),
        Put(Place(1, 0), "snerf"),
    ]
    assert with_words(["one", "a b"], puts) == ("wug one", "snerf a dax fep zorple b")


def test_only_whole_words_between_blanks_are_found():
    texts = ["subwug wugs wug, (wug) wug", "dax wug dax fep dax"]
    assert stretches(texts, ["wug", "dax fep"]) == (
        Rationale(0, 23, 26),
        Rationale(1, 4, 7),
        Rationale(1, 8, 15),
    )
    assert stretches(texts, []) == ()


def test_places_are_different_and_in_reading_order():
    places = places_in(["one two three", "a b"])
    draw = Random(0)
    for _ in range(20):
        chosen = some_of(places, 4, draw)
        assert chosen == sorted(set(chosen)) and len(chosen) == 4
    with pytest.raises(BadInput, match="7 places for words are too few, 8 are needed"):
        some_of(places, 8, draw)
