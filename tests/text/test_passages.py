"""Parts of a text that stay: by their words, by a regular expression, by a role; and what names no part."""

import re

import pytest

import pellucid
from pellucid.base.errors import BadInput, InputReading
from pellucid.text.example import Example
from pellucid.text.passages import KEEP, PLACE, with_fixed_parts

TEXTS = [Example(("Review: a good film.",), id="a"), Example(("Review: dull.",), id="b")]


def places(keep, examples=TEXTS):
    return [[place[:3] for place in example.meta[KEEP]] for example in with_fixed_parts(examples, keep)]


def test_parts_are_named_by_words_expressions_and_roles():
    assert places("Review:") == [[[0, 0, 7]], [[0, 0, 7]]]
    assert places(["Review:", re.compile(r"[fl]il?m?l?\.")])[0] == [[0, 0, 7], [0, 15, 20]]
    chat = Example(("Be kind. Hello.",), meta={"chat": [["system", 0, 8], ["user", 9, 15]]})
    assert places({"role": "system"}, [chat]) == [[[0, 0, 8]]]
    with pytest.warns(InputReading, match=r"keep='good' is not in 1 of 2 texts \(b\)"):
        assert places("good") == [[[0, 10, 14]], []]


@pytest.mark.parametrize("keep", [3, "", " ", [], [3], {"role": 1}, {"text": "Review"}, "film of", ["Review:", None]])
def test_what_names_no_part_gets_a_sentence(keep):
    model = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["a", "b"])
    with pytest.raises(BadInput, match="keep="):
        pellucid.explain(model, ["Review: a good film."], keep=keep)


def test_a_text_of_which_everything_stays_is_named():
    model = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["a", "b"])
    with pytest.raises(BadInput, match="keep= leaves nothing of example '0'"):
        pellucid.explain(model, ["good"], keep="good")


@pytest.mark.parametrize("value", [True, "yes", 3, ["a"], [[0, 0, 4]], [[0, 0, 4, "good", 1]], {"role": "system"}])
@pytest.mark.parametrize("name", [KEEP, PLACE, "chat", "keep", "place"])
def test_a_column_of_such_a_name_is_the_user_s_own(name, value):
    model = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["a", "b"])
    [result] = pellucid.explain(model, Example(("A good film.",), meta={name: value}))
    assert result.example.meta == {name: value} and len(result) == 4
