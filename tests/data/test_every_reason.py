"""Every planted reason decides its texts' labels by itself, and what an example carries in `meta` is exact."""

from collections import Counter
from functools import cache
from hashlib import sha256

import pytest

import pellucid
from pellucid.base.kinds import reasons
from pellucid.data.load import load_examples
from pellucid.data.plant import WORDS, edited
from tests.reference.planted import REFERENCES

REASONS = reasons.names()
PAIRS = "pocket_pairs"


@cache
def planted(reason, on="pocket", n=100, distractor=0.9, seed=0):
    return pellucid.plant(reason, on, n=n, distractor=distractor, seed=seed)


def everything(parts):
    return [example for part in parts.values() for example in part]


def made_up(reason):
    """The reason's words and the two decoys: none of them stands in our own corpora."""
    count = reasons.get(reason).facts["words"]
    return WORDS[:count], WORDS[count : count + 2]


def without(segments, words):
    """The texts as they were before these words were put in."""
    for word in words:
        segments = [text.replace(f"{word} ", "").replace(f" {word}", "") for text in segments]
    return tuple(segments)


@pytest.fixture(params=[(reason, on) for reason in REASONS for on in ("pocket", PAIRS)], ids="-".join)
def corpus(request):
    """Every reason, in single texts and in pairs: (its name, its data set, the parts)."""
    reason, on = request.param
    return reason, on, planted(reason, on)


@pytest.fixture(params=REASONS)
def reason(request):
    return request.param


def test_every_reason_has_a_reference():
    assert set(REFERENCES) == set(REASONS)


def test_the_rule_holds_on_every_text_and_on_its_edits(corpus):
    reason, _, parts = corpus
    words, _ = made_up(reason)
    for example in everything(parts):
        (counterfactual,), (redecoyed,) = (edited([example], edit) for edit in ("counterfactual", "distractor_edit"))
        assert REFERENCES[reason].rule(example.segments, words)[0] == example.label == redecoyed.label
        assert REFERENCES[reason].rule(counterfactual.segments, words)[0] == counterfactual.label != example.label


def test_what_is_marked_is_the_reason_and_nothing_else(corpus):
    reason, _, parts = corpus
    words, _ = made_up(reason)
    for example in everything(parts):
        for version in (
            example,
            *edited([example], "counterfactual"),
            *edited([example], "distractor_edit"),
        ):
            marked = [version.segments[mark.segment][mark.start : mark.end] for mark in version.rationales]
            assert marked == REFERENCES[reason].rule(version.segments, words)[1]
            for mark in version.rationales:
                text = f" {version.segments[mark.segment]} "
                assert text[mark.start].isspace() and text[mark.end + 1].isspace()


def test_the_carrier_stays_as_it_was(corpus):
    reason, on, parts = corpus
    words, decoys = made_up(reason)
    carriers = {example.id: example.segments for example in load_examples(on, "all")}
    for example in everything(parts):
        for version in (
            example,
            *edited([example], "counterfactual"),
            *edited([example], "distractor_edit"),
        ):
            assert without(version.segments, [*words, *decoys]) == carriers[example.meta["carrier"]]


def test_a_counterfactual_changes_as_little_as_turns_the_label(corpus):
    reason, _, parts = corpus
    words, _ = made_up(reason)
    for example in everything(parts):
        (other,) = edited([example], "counterfactual")
        assert without(other.segments, words) == without(example.segments, words)  # the decoy stays
        assert changed(example.segments, other.segments, words) in REFERENCES[reason].n_changed


def changed(one, other, words):
    """How many of the reason's words stand in one text, at their position in the carrier, and not in the other."""
    return (positions(one, words) - positions(other, words)).total()


def positions(segments, words):
    """Each of the reason's words with the number of other words before it in its text."""
    counts = Counter()
    for number, text in enumerate(segments):
        before = 0
        for word in text.split():
            counts[number, before, word] += word in words
            before += word not in words
    return counts


def test_another_decoy_is_all_that_a_distractor_edit_changes(corpus):
    reason, _, parts = corpus
    _, decoys = made_up(reason)
    for example in everything(parts):
        ((segment, start, end),) = example.meta["distractors"]
        text = example.segments[segment]
        assert text[start:end] in decoys
        other = decoys[1 - decoys.index(text[start:end])]
        (redecoyed,) = edited([example], "distractor_edit")
        assert redecoyed.segments[segment] == text[:start] + other + text[end:]
        assert len(redecoyed.segments) == len(example.segments)


def test_the_labels_are_balanced_in_every_part(corpus):
    _, _, parts = corpus
    assert {part: len(examples) for part, examples in parts.items()} == {"train": 100, "dev": 20, "test": 20}
    for examples in parts.values():
        assert Counter(example.label for example in examples) == dict.fromkeys(("no", "yes"), len(examples) // 2)


@pytest.mark.parametrize("rate", (0.0, 0.66, 0.9, 1.0))
def test_the_decoy_goes_with_the_label_at_its_rate_and_half_of_the_time_elsewhere(reason, rate):
    for part, examples in planted(reason, distractor=rate).items():
        for label in ("no", "yes"):
            agreeing = [decoy_label(reason, example) == label for example in examples if example.label == label]
            assert sum(agreeing) == round((rate if part == "train" else 0.5) * len(agreeing))


def decoy_label(reason, example):
    ((segment, start, end),) = example.meta["distractors"]
    return ("no", "yes")[made_up(reason)[1].index(example.segments[segment][start:end])]


def test_no_decoys_are_planted_when_none_are_wanted(reason):
    _, decoys = made_up(reason)
    for example in everything(planted(reason, distractor=None)):
        assert not set(decoys) & set(example.text.split())
        assert set(example.meta) == {"reason", "carrier", "counterfactual"}


def test_no_carrier_is_in_two_parts_and_each_serves_both_labels_alike(corpus):
    _, on, parts = corpus
    seen = {}
    for part, examples in parts.items():
        own = {example.id for example in load_examples(on, part)}
        uses = Counter((example.meta["carrier"], example.label) for example in examples)
        for (carrier, label), count in uses.items():
            assert carrier in own and seen.setdefault(carrier, part) == part
            assert uses[carrier, {"no": "yes", "yes": "no"}[label]] == count


@pytest.mark.parametrize("reason", [name for name in REASONS if not REFERENCES[name].single_words])
def test_no_single_word_says_anything(reason):
    words, _ = made_up(reason)
    examples = planted(reason, n=1000)["train"]
    for word in words:
        labels = [example.label for example in examples if word in example.text.split()]
        assert labels.count("yes") / len(labels) == pytest.approx(0.5, abs=0.06)


def test_a_reason_stands_everywhere_in_a_text():
    """Where it stands must say nothing, unless that is the reason."""
    examples = planted("token", n=1000)["train"]
    places = [example.rationales[0].start / len(example.text) for example in examples]
    assert 0.45 < sum(places) / len(places) < 0.55
    assert min(places) == 0 and max(places) > 0.8


def test_a_position_varies_within_its_third():
    (word,), _ = made_up("position")
    examples = planted("position", n=1000)["train"]
    first, last = (
        {example.text.split()[::step].index(word) for example in examples if example.label == label}
        for step, label in ((1, "yes"), (-1, "no"))
    )
    assert first >= set(range(5)) and last >= set(range(5))


def test_the_seed_decides_everything(reason):
    assert pellucid.plant(reason, n=20, seed=3) == pellucid.plant(reason, n=20, seed=3)
    assert pellucid.plant(reason, n=20, seed=3) != pellucid.plant(reason, n=20, seed=4)


def test_ids_differ_and_every_example_names_its_reason(corpus):
    reason, _, parts = corpus
    examples = everything(parts)
    assert len({example.id for example in examples}) == len(examples)
    assert {example.meta["reason"] for example in examples} == {reason}


def test_a_lexicon_may_have_more_words_a_text():
    words, _ = made_up("lexicon")
    for example in everything(pellucid.plant("lexicon", n=20, per_text=7)):
        assert REFERENCES["lexicon"].rule(example.segments, words)[0] == example.label
        assert len(set(words) & set(example.text.split())) == 7
        assert example.meta["reason"] == "lexicon(per_text=7)"


def test_what_was_written_is_read_back_whole(corpus, tmp_path):
    reason, on, parts = corpus
    assert pellucid.plant(reason, on, out=tmp_path / "made", n=100) == parts
    assert {part: load_examples(tmp_path / "made", part) for part in parts} == parts


def test_the_texts_of_planted_token_are_those_of_the_committed_study():
    fields = [(one.segments, one.label, one.rationales, one.id) for one in load_examples("planted_token", "all")]
    assert (
        sha256(repr(fields).encode()).hexdigest() == "e43242dda19827da3f7ae53f0b950ea63d83e53ace761985206c863d98c2e8bc"
    )
