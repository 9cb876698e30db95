"""Any text is attacked: edits lie inside it and between its words, or one sentence says why it cannot be."""

import json
from hashlib import blake2b

import pytest
from hypothesis import strategies as st

import pellucid
from pellucid.attacks.apertium.modes import installed_pivots
from pellucid.attacks.attack_case import edited_segments
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import attacks
from pellucid.text.example import Example
from pellucid.text.units import text_units
from pellucid.text.wordnet import wordnet_folder
from tests.hostile.assertions import assert_good_message
from tests.hostile.generated_cases import generated
from tests.hostile.input_strategies import visible_texts

pytestmark = pytest.mark.skipif(
    not (wordnet_folder() / "data.noun").is_file() or "spanish" not in installed_pivots(),
    reason="WordNet or Debian's package apertium-eng-spa is not installed",
)
GOALS = ("flip", "flip", ("explanation", {"k": 1}), "b")
TRAIN = [Example(("Mary went to Paris.",), "a"), Example(("John left London.",), "b")]


def _answer(read):
    """Two classes by the characters of a text, smooth enough to be moved."""
    numbers = [blake2b(repr(one).encode("utf-8", "replace"), digest_size=2).digest() for one in read]
    shares = [(number[0] * 256 + number[1] + 1) / 65537 for number in numbers]
    return [[1 - share, share] for share in shares]


FUNCTION = pellucid.from_function(_answer, ["a", "b"])


ATTACKABLE = st.one_of(
    visible_texts(),
    visible_texts().map(lambda text: f"Mary has a {text} good film"),
    st.tuples(visible_texts(), visible_texts()),
)
AT_ONCE = 10  # texts of a case: each call reads the dictionaries anew


@generated(
    3,
    2000 // AT_ONCE,
    some=st.lists(ATTACKABLE, min_size=AT_ONCE, max_size=AT_ONCE),
    name=st.sampled_from(attacks.names()),
    goal=st.sampled_from(GOALS),
    seed=st.integers(0, 3),
)
def test_edits_lie_inside_any_text_and_between_its_words(*, tiny_models, some, name, goal, seed):
    settings = {"goal": goal, "seed": seed, "max_queries": 12, "progress": False}
    model = FUNCTION
    if attacks.get(name).facts["needs"] or name == "span_paraphrase":
        model = tiny_models["bert"]
        settings["goal"] = "negative" if goal == "b" else goal
    elif name == "pwws":
        settings |= {"named_entities": True, "train": TRAIN}
    for text in some if _attacked(model, some, name, settings) is None else ():
        _attacked(model, [text], name, settings)  # one that is refused keeps the others from being attacked


def _attacked(model, some, name, settings):
    """The attempts, whose edits fit their texts; None after an error that says what is wrong."""
    try:
        attempts = pellucid.attack(model, some, name, **settings)
    except PellucidError as error:
        assert_good_message(error)
        return None
    for text, attempt in zip(some, attempts, strict=True):
        assert attempt.example.segments == (text if isinstance(text, tuple) else (text,))
        _assert_fits(attempt, attacks.get(name).facts["unit"])
    json.dumps(attempts.record(), allow_nan=False)
    str(attempts).encode("utf-8")
    return attempts


def _assert_fits(attempt, unit):
    segments = attempt.example.segments
    for edit in attempt.edits:
        own = segments[edit.segment]
        words = text_units(own, "word")
        assert own[edit.start : edit.end] == edit.before != edit.after
        assert edit.start in [start for start, _ in words] and edit.end in [end for _, end in words]
        assert unit == "span" or (edit.start, edit.end) in words
    assert len({(edit.segment, edit.start) for edit in attempt.edits}) == len(attempt.edits)
    assert attempt.segments == edited_segments(segments, attempt.edits)


@pytest.mark.parametrize("text", ["", " \n", "half a pair: \ud83d"])
def test_a_text_that_cannot_be_read_is_refused_in_one_sentence(text):
    assert _attacked(FUNCTION, [text], "deepwordbug", {"progress": False}) is None
