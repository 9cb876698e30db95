"""Examples hold texts exactly as they came, and refuse what cannot be explained, in one sentence."""

import pytest

from pellucid.base.errors import BadInput
from pellucid.text.example import Example, Rationale, as_examples


@pytest.mark.parametrize("text", ("", " ", "\n\t \u00a0\u2003"))
@pytest.mark.parametrize("place", (0, 1))
def test_a_blank_text_raises(text, place):
    segments = ("fine", text) if place else (text, "fine")
    with pytest.raises(BadInput, match="A text is empty"):
        Example(segments)
    with pytest.raises(BadInput, match="A text is empty"):
        as_examples([text])


@pytest.mark.parametrize(("text", "place"), (("bad \ud800 half", 4), ("\udfff", 0), ("ok\udc00", 2)))
def test_half_a_surrogate_pair_raises_with_its_place(text, place):
    with pytest.raises(BadInput, match=f"half a surrogate pair at character {place} \\(example e7\\)"):
        Example((text,), id="e7")


@pytest.mark.parametrize("segments", ((), ("a", "b", "c")))
def test_an_example_is_one_text_or_a_pair(segments):
    with pytest.raises(BadInput, match=f"{len(segments)} came"):
        Example(segments)


@pytest.mark.parametrize("text", (None, 5, b"bytes", ["list"]))
def test_a_text_is_a_string(text):
    with pytest.raises(BadInput, match=f"{type(text).__name__} came"):
        Example((text,))


OUTSIDE = (
    Rationale(0, 0, 5),
    Rationale(0, -1, 2),
    Rationale(0, 2, 2),
    Rationale(0, 3, 1),
    Rationale(1, 0, 1),
    Rationale(-1, 0, 1),
)


@pytest.mark.parametrize("mark", OUTSIDE, ids=str)
def test_a_rationale_outside_its_text_raises(mark):
    with pytest.raises(
        BadInput, match=r"Example 'e7': (the mark .* has no characters of its text|a mark is of text number)"
    ):
        Example(("fine",), rationales=(mark,), id="e7")


def test_a_rationale_may_reach_both_ends():
    assert Example(("fine", "x"), rationales=(Rationale(0, 0, 4), Rationale(1, 0, 1))).rationales


@pytest.mark.parametrize(
    "text",
    ("\x00", "\u200b", "👩‍👩‍👧", " a ", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")),
)
def test_odd_texts_stay_as_they_came(text):
    assert Example((text,)).segments == (text,)


def test_what_users_have_becomes_examples():
    ready = Example(("ready",), id="mine")
    examples = as_examples(["one", ("premise", "hypothesis"), ["a", "b"], ready])
    assert [example.segments for example in examples] == [
        ("one",),
        ("premise", "hypothesis"),
        ("a", "b"),
        ("ready",),
    ]
    assert [example.id for example in examples] == ["0", "1", "2", "mine"]
    assert as_examples("one text") == (Example(("one text",), id="0"),)
    assert as_examples(ready) == (ready,)
    assert as_examples(iter(["a", "b"])) == as_examples(["a", "b"])
    assert as_examples([]) == ()


@pytest.mark.parametrize("text", (5, None, ("a",), ("a", "b", "c"), {"text": "a"}, b"a"))
def test_what_is_no_text_raises_with_its_place(text):
    with pytest.raises(BadInput, match=f"Text 1 is {type(text).__name__}"):
        as_examples(["fine", text])


def test_a_listing_shows_both_texts():
    assert Example(("one", "two")).text == "one ⫽ two"


def test_texts_and_rationales_in_lists_are_those_in_tuples():
    one = Example(["a film", "good"], rationales=[Rationale(0, 0, 1)])
    assert one == Example(("a film", "good"), rationales=(Rationale(0, 0, 1),))
    assert isinstance(one.segments, tuple) and isinstance(one.rationales, tuple)
