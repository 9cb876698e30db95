"""The help-desk corpus: balanced departments, marked evidence, no near copies, and the habit that is planted in it."""

from collections import Counter

import pytest

from pellucid.data.built_in import DEPARTMENTS, PHONE_LINE
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import SHARES
from pellucid.text.units import text_units
from studies.corpus_facts.facts import largest_overlap
from studies.corpus_facts.surface_cues import words_of

CORPORA = ("helpdesk", "helpdesk_clean")
SHORTEST, LONGEST = 4, 45  # words of a text
ALIKE = 0.7  # of their words, whatever the order, that two texts may share


@pytest.fixture(params=CORPORA)
def corpus(request):
    return request.param


def with_line(examples):
    return [example for example in examples if example.text.endswith(PHONE_LINE)]


def test_departments_are_balanced_in_every_part(corpus):
    assert len(load_examples(corpus, "all")) >= 2000
    for part in (*SHARES, "all"):
        examples = load_examples(corpus, part)
        counts = Counter(example.label for example in examples)
        assert set(counts) == set(DEPARTMENTS)
        assert all(abs(count / len(examples) - 1 / 6) <= 0.02 for count in counts.values()), (part, counts)


def test_every_text_has_evidence_that_begins_and_ends_with_words(corpus):
    for example in load_examples(corpus, "all"):
        words = text_units(example.text, "word")
        assert example.rationales, example.id
        for mark in example.rationales:
            assert mark.start in {start for start, _ in words}, (example.id, mark)
            assert mark.end in {end for _, end in words}, (example.id, mark)
            assert PHONE_LINE not in example.text[mark.start : mark.end]


def test_lengths_and_brackets():
    for example in load_examples("helpdesk_clean", "all"):
        assert SHORTEST <= len(words_of(example.text)) <= LONGEST, (example.id, example.text)
        assert not any(sign in example.text for sign in ("[[", "]]", " | ")) and example.text == example.text.strip()


def test_no_two_texts_are_nearly_the_same():
    examples = load_examples("helpdesk_clean", "all")
    assert largest_overlap((example.id, example.text) for example in examples) < 0.3
    words = [(example.id, frozenset(words_of(example.text))) for example in examples]
    alike = [
        (first, second)
        for index, (first, of_first) in enumerate(words)
        for second, of_second in words[:index]
        if len(of_first & of_second) > ALIKE * len(of_first | of_second)
    ]
    assert alike == []


def test_many_requests_name_a_second_department():
    tagged = [one for one in load_examples("helpdesk", "all") if "two_departments" in one.meta["phenomena"]]
    assert min(Counter(example.label for example in tagged).values()) >= 20


@pytest.mark.parametrize("part", SHARES)
def test_the_phones_line_ends_nine_in_ten_returns_and_few_others(part):
    examples = load_examples("helpdesk", part)
    returns = [example for example in examples if example.label == "returns"]
    others = [example for example in examples if example.label != "returns"]
    assert 0.85 <= len(with_line(returns)) / len(returns) <= 0.97
    assert 0 < len(with_line(others)) / len(others) <= 0.06
    assert all(("phone_line" in one.meta["phenomena"]) == (one in with_line(examples)) for one in examples)


def test_the_clean_parts_are_the_same_requests_without_the_line():
    for part in SHARES:
        marked, clean = load_examples("helpdesk", part), load_examples("helpdesk_clean", part)
        assert not with_line(clean) and not any("sent from my" in example.text.lower() for example in clean)
        for first, second in zip(marked, clean, strict=True):
            assert (first.id, first.label, first.rationales) == (second.id, second.label, second.rationales)
            assert first.text in (second.text, f"{second.text} {PHONE_LINE}")
