"""Our own corpora: whole minimal pairs in every part, balanced labels, and evidence that stands in the text."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from pellucid.core.errors import BadSetting
from pellucid.core.example import Example
from pellucid.core.kinds import datasets
from pellucid.core.units import text_units
from pellucid.datasets.load import load_examples
from pellucid.datasets.marked_text import unmark
from pellucid.datasets.splits import SHARES, split_of

CORPORA = ("pocket", "pocket_pairs")
NEAR = {"pocket": 0.02, "pocket_pairs": 0.04}  # few and large groups cannot be cut as evenly
CALM = {"pocket": "neutral", "pocket_pairs": "neutral"}  # the label whose reason is what a text does not say


@pytest.fixture(params=CORPORA)
def corpus(request):
    return request.param


def parts_of(corpus):
    return {split: load_examples(corpus, split) for split in SHARES}


def test_the_parts_are_the_whole(corpus):
    parts, whole = parts_of(corpus), load_examples(corpus, "all")
    assert sorted(example.id for part in parts.values() for example in part) == sorted(
        example.id for example in whole
    )
    assert len({example.id for example in whole}) == len(whole)
    for part in parts.values():
        ids = {example.id for example in part}
        assert part == [example for example in whole if example.id in ids]


def test_the_parts_have_their_shares(corpus):
    whole = len(load_examples(corpus, "all"))
    for split, part in parts_of(corpus).items():
        assert len(part) / whole == pytest.approx(SHARES[split], abs=NEAR[corpus])


def test_no_minimal_pair_is_separated(corpus):
    found = defaultdict(set)
    for split, part in parts_of(corpus).items():
        for example in part:
            if "group" in example.meta:
                found[example.meta["group"]].add(split)
    assert found
    assert all(len(splits) == 1 for splits in found.values())


def test_minimal_pairs_differ_in_their_label(corpus):
    groups = defaultdict(list)
    for example in load_examples(corpus, "all"):
        if "group" in example.meta:
            groups[example.meta["group"]].append(example)
    assert all(len(group) >= 2 for group in groups.values())
    assert all(len({example.label for example in group}) >= 2 for group in groups.values())


def test_every_part_has_the_balance_of_the_whole(corpus):
    whole = balance(load_examples(corpus, "all"))
    for part in parts_of(corpus).values():
        assert all(abs(balance(part)[label] - share) <= 0.03 for label, share in whole.items())


def balance(examples):
    counts = Counter(example.label for example in examples)
    return {label: count / len(examples) for label, count in counts.items()}


def test_the_labels_are_the_declared_classes(corpus):
    assert {example.label for example in load_examples(corpus, "all")} == set(
        datasets.get(corpus).facts["classes"]
    )


def test_no_text_comes_twice(corpus):
    texts = Counter(example.segments for example in load_examples(corpus, "all"))
    assert [text for text, count in texts.items() if count > 1] == []


def test_evidence_begins_and_ends_with_words(corpus):
    for example in load_examples(corpus, "all"):
        for mark in example.rationales:
            words = text_units(example.segments[mark.segment], "word")
            assert mark.start in {start for start, _ in words}, (example.id, mark)
            assert mark.end in {end for _, end in words}, (example.id, mark)


def test_evidence_does_not_overlap(corpus):
    for example in load_examples(corpus, "all"):
        marks = sorted((mark.segment, mark.start, mark.end) for mark in example.rationales)
        assert all(one[0] < other[0] or one[2] <= other[1] for one, other in pairwise(marks))


def test_all_but_calm_texts_have_evidence(corpus):
    for example in load_examples(corpus, "all"):
        assert example.rationales or example.label == CALM[corpus], example.id


def test_no_bracket_is_left_in_a_text(corpus):
    for example in load_examples(corpus, "all"):
        assert not any(bracket in text for text in example.segments for bracket in ("[[", "]]", " | "))
        assert all(text == text.strip() for text in example.segments)


def test_an_unknown_part_raises(corpus):
    with pytest.raises(BadSetting, match="split='valid' is not possible"):
        load_examples(corpus, "valid")


def test_marked_text():
    text, marks = unmark("[[A]] fine, [[dull film]].", segment=1)
    assert text == "A fine, dull film."
    assert [(mark.segment, text[mark.start : mark.end]) for mark in marks] == [(1, "A"), (1, "dull film")]
    assert unmark("nothing marked [1]") == ("nothing marked [1]", [])


@pytest.mark.parametrize("marked", ("a ]] b", "a [[ b", "a [[b]] c]]", "[[a [[b]]"))
def test_brackets_that_do_not_match_raise(marked):
    with pytest.raises(ValueError, match="without"):
        unmark(marked)


def test_a_split_depends_on_names_alone():
    examples = [Example((f"text {n}",), "ab"[n % 2], (), f"e{n}") for n in range(60)]
    chosen = {example.id for example in split_of(examples, "dev")}
    assert {example.id for example in split_of(examples[::-1], "dev")} == chosen
    changed = [Example(("other",), example.label, (), example.id) for example in examples]
    assert {example.id for example in split_of(changed, "dev")} == chosen
