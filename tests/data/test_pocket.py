"""Our own corpora: whole minimal pairs in every part, balanced labels, and evidence that stands in the text."""

from collections import Counter, defaultdict
from itertools import combinations, pairwise

import pytest
import regex

from pellucid.base.kinds import datasets
from pellucid.data.built_in import first_edition
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import SHARES, split_of
from pellucid.data.shared.rows import unmark
from pellucid.text.example import Example, group_of
from pellucid.text.units import text_units
from studies.corpus_facts.facts import PHENOMENA, largest_overlap, words_changed
from studies.corpus_facts.surface_cues import words_of

CORPORA = ("pocket", "pocket_pairs")
NEAR = {"pocket": 0.02, "pocket_pairs": 0.04}  # few and large groups cannot be cut as evenly
CALM = {"pocket": "neutral", "pocket_pairs": "neutral"}  # the label whose reason is what a text does not say
AT_LEAST = {"pocket": 2500, "pocket_pairs": 400}
RAREST = {"pocket": 60, "pocket_pairs": 15}  # how often a phenomenon occurs at least
SHORTEST, LONGEST = 5, 45  # words of a text
MOST_CHANGED = 4  # words that tell a sentence from the other of its minimal pair
REPEATED = 0.6  # share of a hypothesis's words that its premise has too, where that is what misleads

# What can be seen without reading: the tag stands exactly where its sign is.
EMOJI = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}")
SIGNS = {
    "digits": lambda text: regex.search(r"\d", text) is not None,
    "emoji": lambda text: EMOJI.search(text) is not None,
    "multi_sentence": lambda text: sum(map(has_words, pieces(text, "sentence"))) >= 2,
    "question": lambda text: "?" in text,
}
DENIALS = regex.compile(
    r"\b(not?|never|nobodys?|nothing|none|nowhere|nor|neither|without|cannot|hardly|barely|yet to|\w+n['’]t|cant|didnt|dont)\b",
    regex.IGNORECASE,
)


def pieces(text, kind):
    return [text[start:end] for start, end in text_units(text, kind)]


def has_words(sentence):
    return bool(words_of(sentence))


@pytest.fixture(params=CORPORA)
def corpus(request):
    return request.param


def parts_of(corpus):
    return {split: load_examples(corpus, split) for split in SHARES}


def test_the_parts_have_their_shares(corpus):
    parts = {split: [one for one in part if not is_later(one)] for split, part in parts_of(corpus).items()}
    whole = sum(map(len, parts.values()))
    for split, part in parts.items():
        assert len(part) / whole == pytest.approx(SHARES[split], abs=NEAR[corpus])


def is_later(example):
    """Whether a text of pocket is of the second edition."""
    return "-more-" in example.id


def test_the_second_edition_is_read_by_train_alone_and_after_the_first():
    parts = parts_of("pocket")
    assert (len(parts["dev"]), len(parts["test"])) == (186, 187)
    later = [is_later(example) for example in parts["train"]]
    assert later == sorted(later) and sum(later) >= 1200
    assert not any(is_later(example) for split in ("dev", "test") for example in parts[split])
    assert parts["train"][: later.index(True)] == first_edition("train")
    groups = {split: {group_of(example) for example in part} for split, part in parts.items()}
    assert not groups["train"] & (groups["dev"] | groups["test"])


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


def test_labels_are_balanced_in_the_whole_and_in_every_part(corpus):
    even = 1 / len(datasets.get(corpus).facts["classes"])
    for examples in [load_examples(corpus, "all"), *parts_of(corpus).values()]:
        assert all(abs(share - even) <= 0.03 for share in balance(examples).values())


def balance(examples):
    counts = Counter(example.label for example in examples)
    return {label: count / len(examples) for label, count in counts.items()}


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


def test_there_are_enough_texts(corpus):
    assert len(load_examples(corpus, "all")) >= AT_LEAST[corpus]


def test_many_sentences_stand_in_minimal_pairs():
    assert sum("group" in example.meta for example in load_examples("pocket", "all")) >= 300


def test_the_sentences_of_a_minimal_pair_differ_in_few_words():
    groups = defaultdict(list)
    for example in load_examples("pocket", "all"):
        groups[group_of(example)].append(example)
    for group in groups.values():
        for one, other in combinations(group, 2):
            assert words_changed(one, other) <= MOST_CHANGED, (one.id, other.id)


def test_a_group_of_pairs_has_one_premise_and_no_other_group_has_it():
    premises, owners = defaultdict(set), defaultdict(set)
    for example in load_examples("pocket_pairs", "all"):
        premises[group_of(example)].add(example.segments[0])
        owners[example.segments[0]].add(group_of(example))
    assert all(len(texts) == 1 for texts in premises.values())
    assert all(len(groups) == 1 for groups in owners.values())


def test_a_decided_pair_has_evidence_on_both_sides():
    for example in load_examples("pocket_pairs", "all"):
        sides = {mark.segment for mark in example.rationales}
        assert sides == ({1} if example.label == "neutral" else {0, 1}), example.id


def test_texts_are_neither_too_short_nor_too_long(corpus):
    for example in load_examples(corpus, "all"):
        for text in example.segments:
            assert SHORTEST <= len(words_of(text)) <= LONGEST, (example.id, text)


def test_texts_of_different_groups_are_not_alike(corpus):
    examples = load_examples(corpus, "all")
    assert largest_overlap((group_of(one), text) for one in examples for text in one.segments) < 0.3


def test_tags_are_the_documented_ones_and_none_is_rare(corpus):
    counts = Counter(name for example in load_examples(corpus, "all") for name in example.meta["phenomena"])
    assert set(counts) == set(PHENOMENA[corpus])
    assert all(count >= RAREST[corpus] for count in counts.values()), counts


def test_tags_come_once_and_plain_comes_alone(corpus):
    for example in load_examples(corpus, "all"):
        tags = example.meta["phenomena"]
        assert len(set(tags)) == len(tags) and ("plain" not in tags or tags == ["plain"]), example.id


@pytest.mark.parametrize("tag", SIGNS)
def test_tags_stand_where_their_signs_are(tag):
    for example in load_examples("pocket", "all"):
        assert (tag in example.meta["phenomena"]) == SIGNS[tag](example.segments[0]), (
            example.id,
            example.text,
        )


def test_denials_have_a_word_that_denies():
    for example in load_examples("pocket", "all"):
        if "negation" in example.meta["phenomena"]:
            assert DENIALS.search(example.segments[0]), (example.id, example.text)


def test_hypotheses_that_mislead_by_overlap_repeat_their_premise():
    for example in load_examples("pocket_pairs", "all"):
        if "lexical_overlap" in example.meta["phenomena"]:
            premise, hypothesis = (words_of(text) for text in example.segments)
            shared = sum(word in premise for word in hypothesis) / len(hypothesis)
            assert shared >= REPEATED, (example.id, example.text)


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
    dev_ids = {example.id for example in split_of(examples, "dev")}
    assert {example.id for example in split_of(examples[::-1], "dev")} == dev_ids
    changed = [Example((f"other {example.id}",), example.label, (), example.id) for example in examples]
    assert {example.id for example in split_of(changed, "dev")} == dev_ids
