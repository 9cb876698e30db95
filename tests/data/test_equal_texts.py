"""Texts that occur several times: in one part of a split, and told with contradictions and what is nearly equal."""

import random
import warnings
from itertools import combinations

import pytest

from pellucid.data.load import load_parts
from pellucid.data.shared.part_files import SHARES, split_of
from pellucid.data.shared.repeated_texts import RepeatedTexts, equal_groups, nearly_equal
from pellucid.text.example import Example
from tests.data.formats.originals import write

WORDS = "river stone lamp window paper bread garden music cloud ticket summer winter engine letter".split()


def sentences(n, length=14, seed=0):
    draw = random.Random(seed)
    return [f"{' '.join(draw.choices(WORDS, k=length))} {number}" for number in range(n)]


def one(text, id, label="a", **meta):
    return Example((text,), label, (), id, meta)


def parts_of(examples):
    return {example.id: part for part in SHARES for example in split_of(examples, part)}


def test_equal_texts_are_in_one_part():
    texts = sentences(60)
    examples = [one(text, f"e{n}", "ab"[n % 2]) for n, text in enumerate(texts)]
    examples += [one(f" {text.upper()}  ", f"again{n}", "ab"[n % 3 > 0]) for n, text in enumerate(texts)]
    parts = parts_of(examples)
    assert len(parts) == 120
    assert all(parts[f"e{n}"] == parts[f"again{n}"] for n in range(60))
    sizes = [list(parts.values()).count(part) for part in SHARES]
    assert abs(sizes[0] - 84) <= 6 and min(sizes[1:]) >= 12


def test_groups_that_share_a_text_stay_whole():
    texts = sentences(40)
    examples = [one(text, f"e{n}", group=f"g{n // 2}") for n, text in enumerate(texts)]
    examples.append(one(texts[0], "link", group="g7"))  # g0 and g7 are one now
    parts = parts_of(examples)
    assert len({parts[id] for id in ("e0", "e1", "e14", "e15", "link")}) == 1


def test_texts_without_repetition_are_cut_as_before():
    examples = [one(text, f"e{n}", "ab"[n % 2]) for n, text in enumerate(sentences(40))]
    dev = [example.id for example in split_of(examples, "dev")]
    assert dev == ["e4", "e10", "e11", "e25", "e27", "e30"]  # as of the first version


def test_equal_means_but_for_case_and_blanks():
    texts = ["A fine day.", "a  FINE day. ", "A fine day", "Caf\u00e9", "Cafe\u0301"]
    assert equal_groups([one(text, "") for text in texts]) == [[0, 1], [3, 4]]


def test_near_equals_are_those_that_a_slow_count_finds():
    texts = sentences(31, length=40)
    draw = random.Random(3)
    for text in texts[:20]:
        words = text.split()
        words[draw.randrange(len(words))] = "changed"
        texts.append(" ".join(words))
    examples = [one(text, str(n)) for n, text in enumerate(texts)]
    parts = {n: ("train", "dev", "test")[n % 3] for n in range(len(texts))}

    def runs(text):
        words = [word for word in text.split() if not word.isdigit()]
        return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}

    slow = set()
    for first, second in combinations(range(len(texts)), 2):
        a, b = runs(texts[first]), runs(texts[second])
        if parts[first] != parts[second] and len(a & b) >= 0.8 * len(a | b):
            slow.add(second)
    assert slow and {second for _, second in nearly_equal(examples, parts)} == slow


def test_punctuation_and_digits_make_no_difference_but_equal_texts_are_counted_elsewhere():
    texts = ["Room 12, please!", "room 7 please", "ROOM 12, please!", "Another one"]
    examples = [one(text, str(n)) for n, text in enumerate(texts)]
    assert nearly_equal(examples, {0: "train", 1: "test", 2: "dev", 3: "dev"}) == [(0, 1)]


def test_training_warns_of_equal_contradicting_and_nearly_equal_texts(tmp_path):
    texts = sentences(40)
    rows = [f"{text},{'ab'[n % 2]}" for n, text in enumerate(texts)]
    rows += [f"{texts[4].upper()},a", f"{texts[7]},a"]  # the second one contradicts
    rows += [f"{text}!,{'ab'[n % 2]}" for n, text in enumerate(texts[20:40])]
    file = write(tmp_path / "rows.csv", "text,label\n" + "\n".join(rows) + "\n")
    with pytest.warns(RepeatedTexts) as warned:
        load_parts(file)
    equal, against, near = (str(warning.message) for warning in warned)
    assert equal == "2 texts occur more than once; each is kept in one part."
    assert against.startswith("1 text has labels that contradict each other: rows-9 (b); rows-43 (a).")
    assert "nearly equal to a text in another part" in near


def test_the_parts_of_a_folder_are_compared_and_left_as_they_are(tmp_path):
    for part, texts in (("train", ["A fine day", "Dull"]), ("dev", ["a fine  DAY", "New"])):
        write(tmp_path / f"{part}.jsonl", [{"text": text, "label": "a"} for text in texts])
    with pytest.warns(RepeatedTexts, match="1 of 2 dev texts stand in train too"):
        parts = load_parts(tmp_path)
    assert [len(examples) for examples in parts.values()] == [2, 2]


def test_our_own_data_sets_are_not_remarked_upon():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_parts("pocket")
