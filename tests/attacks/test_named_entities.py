"""Names become the commonest name of their kind in other classes' training texts."""

import re
from collections import Counter

import pytest

import pellucid
from pellucid.attacks.apertium.modes import installed_pivots
from pellucid.attacks.apertium.tagged_words import Tagger
from pellucid.attacks.dictionaries import name_counts
from pellucid.base.errors import BadSetting
from pellucid.text.example import Example

pytestmark = pytest.mark.skipif(
    "spanish" not in installed_pivots(), reason="Debian's package apertium-eng-spa is not installed"
)
KINDS = {"person": ("Mary", "John", "Peter"), "place": ("Paris", "London", "Berlin")}
TRAIN = [
    Example(("Mary and John met in Paris.",), "good"),
    Example(("Mary loved London.",), "good"),
    Example(("Peter was bored in Berlin. Peter left.",), "bad"),
    Example(("John saw Berlin, and then London.",), "bad"),
]
TEXT = "Mary went to Paris with a friend."


@pytest.fixture(scope="module")
def model():
    weights = {"Mary": 0.5, "Paris": 0.8, "friend": 0.2, "London": 0.1}

    def answer(texts):
        values = [min(0.95, 0.1 + sum(weights.get(word, 0) for word in re.findall(r"\w+", text))) for text in texts]
        return [[1 - value, value] for value in values]

    return pellucid.from_function(answer, ["bad", "good"])


def by_hand(kind, label):
    """Occurrences in the texts of all other classes, one name after the other."""
    counts = Counter(
        word
        for one in TRAIN
        if one.label != label
        for word in re.findall(r"\w+", one.segments[0])
        if word in KINDS[kind]
    )
    return sorted(counts, key=lambda name: (-counts[name], name))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", ("good", "bad", "neither"))
def test_the_commonest_names_are_those_counted_by_hand(kind, label):
    tagger = Tagger()
    assert name_counts(TRAIN, tagger).commonest(kind, label) == by_hand(kind, label)
    tagger.close()


def test_texts_with_several_labels_count_where_the_label_is_not_among_theirs():
    tagger = Tagger()
    texts = [Example(("Mary slept.",), "calm,happy"), Example(("Peter slept.",), "calm")]
    counts = name_counts(texts, tagger, several=True)
    assert [counts.commonest("person", label) for label in ("happy", "calm")] == [["Peter"], []]
    assert name_counts(texts, tagger).commonest("person", "happy") == ["Mary", "Peter"]
    tagger.close()


def test_an_attack_exchanges_a_name_for_the_commonest_of_its_kind(model):
    plan = pellucid.AttackPlan("occlusion", ("named_entities",))
    (attempt,) = pellucid.attack(model, TEXT, plan, train=TRAIN, progress=False)
    assert attempt.is_success
    assert {edit.before: edit.after for edit in attempt.edits}.items() <= {
        "Mary": by_hand("person", "good")[0],
        "Paris": by_hand("place", "good")[0],
    }.items()


def test_pwws_has_them_as_an_option(model):
    without = pellucid.attack(model, TEXT, "pwws", progress=False)
    names = pellucid.attack(model, TEXT, "pwws", named_entities=True, train=TRAIN, progress=False)
    assert not {edit.before for edit in without[0].edits} & {"Mary", "Paris"}
    assert "Paris" in {edit.before for edit in names[0].edits}


def test_without_training_texts_it_says_what_to_give(model):
    with pytest.raises(BadSetting, match="labelled texts; give some by train="):
        pellucid.attack(model, TEXT, "pwws", named_entities=True, progress=False)


def test_other_training_texts_are_another_question(model, tmp_path):
    settings = {"named_entities": True, "progress": False, "folder": tmp_path}
    pellucid.attack(model, TEXT, "pwws", train=TRAIN, **settings)
    with pytest.raises(pellucid.PellucidError, match="it differs in attack"):
        pellucid.attack(model, TEXT, "pwws", train=TRAIN[:2], **settings)
