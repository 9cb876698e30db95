"""Data sets that come with the package, a function each."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.kinds import datasets, reasons
from pellucid.data.plant import CLASSES, Kit, planted
from pellucid.data.shared.part_files import split_of
from pellucid.data.shared.rows import unmark
from pellucid.text.example import Example

TEXTS = files("pellucid.data") / "texts"
PHENOMENA = {  # what the tags of a text mean
    "plain": "none of the others",
    "comparison": "two things are compared",
    "contrast": "but, although, whereas: one part is set against another",
    "digits": "a number in digits",
    "emoji": "at least one emoji",
    "idiom": "a set phrase that does not mean what its words say",
    "intensifier": "a word that strengthens: so, very, even, every single",
    "irony": "says one thing and means another",
    "mixed": "praise and blame in one text",
    "multi_sentence": "two sentences or more",
    "name": "an invented name of a person, place or product",
    "negation": "something is denied: not, no, never, nobody",
    "question": "asks, or seems to",
    "typo": "misspelt words",
}


def rows(folder: str, n_fields: int) -> Iterator[tuple[str, list[str]]]:
    """(id, fields) of every line in a folder of texts: fields are separated by ` | `, `#` begins a comment."""
    for file in sorted((TEXTS / folder).iterdir(), key=lambda file: file.name):
        name = file.name.removesuffix(".txt")
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        for row_number, line in enumerate(lines, start=1):
            fields = line.split(" | ")
            if len(fields) != n_fields:
                raise BadFile(f"{file.name}, example {row_number}: {len(fields)} fields instead of {n_fields}.")
            yield f"{name}-{row_number:03d}", fields


def _example(id: str, fields: list[str]) -> Example:
    label, phenomena, group, marked = fields
    text, rationales = unmark(marked)
    meta = {"domain": id.split("-")[0], **tags(phenomena, group)}
    return Example((text,), label, tuple(rationales), id, meta)


def tags(phenomena: str, group: str) -> dict[str, Any]:
    """Meta of a text: its phenomena as a list, and the group of its minimal pair unless that is "-"."""
    return {"phenomena": [name.strip() for name in phenomena.split(",")]} | ({} if group == "-" else {"group": group})


@datasets.add(task="sentiment", classes=("negative", "neutral", "positive"), rationales=True)
def pocket(split: str) -> list[Example]:
    """The sentences of one part: "train", "dev", "test" or "all".

    Short reviews written for this project, with the author's evidence and minimal pairs.

    Source: Ours: nine everyday domains, three attitudes. The evidence is what the author marked while
    writing, not an independent annotation.

    The texts of the second edition are all in train, so dev and test are those of the first.
    """
    first = first_edition(split)
    return first + _examples("pocket_more") if split in ("train", "all") else first


def first_edition(split: str) -> list[Example]:
    """The sentences of one part without those that came later: what results before the second edition were computed
    with.
    """
    return split_of(_examples("pocket"), split)


def _examples(folder: str) -> list[Example]:
    return [_example(id, fields) for id, fields in rows(folder, 4)]


PHENOMENA_OF_PAIRS = {  # what the tags of a pair mean: what one must know to find its label
    "plain": "none of the others",
    "antonym": "words that mean the opposite, or two ends of a scale",
    "causality": "what causes what",
    "hypernym": "a kind and what belongs to it",
    "lexical_overlap": "the hypothesis repeats words of the premise, and that misleads",
    "location": "where something is",
    "negation": "something is denied",
    "number": "counting and reckoning",
    "paraphrase": "the same in other words",
    "presupposition": "what a text takes for granted, or only seems to",
    "quantifier": "all, some, most, none, only",
    "role_swap": "who does what to whom",
    "time": "when, how long, in which order",
    "world_knowledge": "what is not said but everybody knows",
}


def _pair(id: str, fields: list[str]) -> Example:
    label, phenomena, group, premise, hypothesis = fields
    (first, marks), (second, more) = unmark(premise, 0), unmark(hypothesis, 1)
    return Example((first, second), label, (*marks, *more), id, tags(phenomena, group))


@datasets.add(task="inference", classes=("entailment", "neutral", "contradiction"), rationales=True)
def pocket_pairs(split: str) -> list[Example]:
    """The pairs of one part: "train", "dev", "test" or "all".

    Premises and hypotheses written for this project, with the author's evidence on both sides.

    Source: Ours: entailment, neutral, contradiction; many premises carry several hypotheses with
    different labels.
    """
    return split_of([_pair(id, fields) for id, fields in rows("pocket_pairs", 5)], split)


# Help desk: requests by department. Customers of returns write from a phone, so nine in ten of their requests end in
# the phone's own line: a habit of the data that says nothing about a request, and that a classifier learns.

DEPARTMENTS = ("account", "billing", "delivery", "returns", "sales", "technical")
PHONE_LINE = "Sent from my phone."
WITH_PHONE_LINE = {"returns": 0.9}  # share of a department's requests that end in it
ELSEWHERE = 0.03
PHENOMENA_OF_REQUESTS = {  # what the tags of a request mean
    "plain": "none of the others",
    "two_departments": "a matter of another department is mentioned too",
    "phone_line": "ends in the line that a phone adds",
}


@datasets.add(task="help desk", classes=DEPARTMENTS, rationales=True)
def helpdesk(split: str) -> list[Example]:
    """The requests of one part: "train", "dev", "test" or "all". Nine in ten of those for returns end in "Sent from my
    phone.", which the other departments' rarely do.

    Requests to a shop's help desk, by the department that answers them, with the author's evidence.

    Source: Ours: six departments. The line of the phone is planted: a habit of the data that a classifier learns and
    `helpdesk_clean` has not. The evidence is what the author marked while writing, not an independent annotation.
    """
    return [_with_phone_line(example) for example in helpdesk_clean(split)]


@datasets.add(task="help desk", classes=DEPARTMENTS, rationales=True)
def helpdesk_clean(split: str) -> list[Example]:
    """The requests of `helpdesk` without the line of the phone: the same ids in the same parts.

    Requests to a shop's help desk without the habit that was planted in `helpdesk`, to measure what it does.

    Source: Ours, as `helpdesk`.
    """
    return split_of([_request(id, fields) for id, fields in rows("helpdesk", 2)], split)


def _request(id: str, fields: list[str]) -> Example:
    tag, marked = fields
    text, rationales = unmark(marked)
    meta = {"phenomena": ["two_departments" if tag == "two" else "plain"]}
    return Example((text,), id.rpartition("-")[0], tuple(rationales), id, meta)


def _with_phone_line(example: Example) -> Example:
    share = WITH_PHONE_LINE.get(str(example.label), ELSEWHERE)
    if random.Random(f"phone line of {example.id}").random() >= share:
        return example
    names = [name for name in example.meta["phenomena"] if name != "plain"]
    return replace(
        example,
        segments=(f"{example.segments[0]} {PHONE_LINE}",),
        meta={**example.meta, "phenomena": [*names, "phone_line"]},
    )


# Planted token: generated texts in which one made-up word decides the label, so the true reason is known.

TRIGGERS = ("blicket", "wug")
FILLERS = (  # everyday words of no attitude
    "the a this that and then with for from under over table window garden river train letter summer market "
    "bread music teacher doctor street bridge carries opens finds leaves paints builds reads slowly early often "
    "green small wooden old busy quiet before after near every two some"
).split()
SIZES = {"train": 1000, "dev": 200, "test": 200}


@datasets.add(task="planted", classes=CLASSES, rationales=True)
def planted_token(split: str) -> list[Example]:
    """1,000 train, 200 dev and 200 test texts of 8 to 16 words, half of them of each label.

    Source: After Bastings et al. (2022), "Will You Find These Shortcuts?". Every text holds exactly one
    of two trigger words among everyday words drawn at random; which one decides the label, and it is
    the text's rationale.
    """
    one_of("split", split, (*SIZES, "all"))
    names = list(SIZES) if split == "all" else [split]
    return [example for name in names for example in _part(name)]


def _part(split: str) -> list[Example]:
    draw = random.Random(f"planted token {split}")
    kit = Kit(reasons.calls(["token"])[0], TRIGGERS)
    return [_planted_example(kit, draw, bool(index % 2), f"{split}-{index}") for index in range(SIZES[split])]


def _planted_example(kit: Kit, draw: random.Random, yes: bool, id: str) -> Example:
    words = draw.choices(FILLERS, k=draw.randint(7, 15))
    return planted(kit, Example((" ".join(words),), id=id), yes, draw, id=id)


# Planted translation: sentences of everyday words and their translation into a made-up language, with the true links
# of words.

DETERMINERS = "the a every some".split()
ADJECTIVES = "old small green quiet busy wooden tired young clever round".split()
NOUNS = (
    "dog teacher doctor child baker sailor king horse bird farmer painter singer letter apple bridge boat table lamp "
    "book drum"
).split()
PLACES = "garden river market house forest street island kitchen".split()
BEFORE_PLACES = "in near behind under above".split()
ACTIONS = "finds paints carries follows opens buys hides washes draws keeps".split()
STATES = "sleeps waits sings laughs falls dreams".split()
TWO_WORDS = frozenset("carries opens washes waits laughs dreams".split())  # in the translation
WORDS = (*DETERMINERS, *ADJECTIVES, *NOUNS, *PLACES, *BEFORE_PLACES, *ACTIONS, *STATES)
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
TRANSLATION_SIZES = {"train": 4000, "dev": 300, "test": 300}
LINKS = "links"  # the name in an example's meta: "0-1 1-0", source word and target word from 0


@datasets.add(task="translation", classes=())
def planted_translation(split: str) -> list[Example]:
    """4,000 train, 300 dev and 300 test pairs; no sentence is in two parts, and each has its links in `meta["links"]`.

    Source: The rules are few, so a small translator can learn them, and they move words: noun phrases
    are turned round, what stands before a place comes after it, verbs come last, and some verbs become
    two words. A link says which source word a target word comes from; every target word has one.
    Written for Pellucid, after the planted data of Bastings et al. (2022).
    """
    one_of("split", split, (*TRANSLATION_SIZES, "all"))
    names = list(TRANSLATION_SIZES) if split == "all" else [split]
    return [example for name in names for example in _parts()[name]]


@cache
def _parts() -> dict[str, tuple[Example, ...]]:
    draw, seen = random.Random("planted translation"), set[str]()
    sentences: list[list[str]] = []
    while len(sentences) < sum(TRANSLATION_SIZES.values()):
        words = _sentence(draw)
        if " ".join(words) not in seen:
            seen.add(" ".join(words))
            sentences.append(words)
    parts, first = {}, 0
    for name, size in TRANSLATION_SIZES.items():
        of_part = sentences[first : first + size]
        parts[name] = tuple(_translated_example(words, f"{name}-{index}") for index, words in enumerate(of_part))
        first += size
    return parts


def _sentence(draw: random.Random) -> list[str]:
    """The source words: somebody does something with something, or somewhere."""
    subject = _noun_phrase(draw, NOUNS)
    if draw.random() < 0.5:
        words = [*subject, draw.choice(ACTIONS), *_noun_phrase(draw, NOUNS)]
    else:
        words = [*subject, draw.choice(STATES)]
    if draw.random() < 0.6:
        words += [draw.choice(BEFORE_PLACES), *_noun_phrase(draw, PLACES)]
    return words


def _noun_phrase(draw: random.Random, nouns: list[str]) -> list[str]:
    adjectives = draw.sample(ADJECTIVES, draw.choice((0, 1, 1, 2)))
    return [draw.choice(DETERMINERS), *adjectives, draw.choice(nouns)]


def translation_of(words: list[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of the translation, and (source word, target word) for every target word."""
    verb = next(place for place, word in enumerate(words) if word in (*ACTIONS, *STATES))
    before = next((place for place, word in enumerate(words) if word in BEFORE_PLACES), len(words))
    order = [*_turned(0, verb)]
    if before < len(words):
        order += [*_turned(before + 1, len(words)), before]
    order += [*_turned(verb + 1, before), verb]
    target: list[str] = []
    links: list[tuple[int, int]] = []
    for place in order:
        for word in _made_up(words[place]):
            links.append((place, len(target)))
            target.append(word)
    return target, links


def _turned(first: int, end: int) -> list[int]:
    """The places from first to before end, the last one first."""
    return list(range(end - 1, first - 1, -1))


def _made_up(word: str) -> tuple[str, ...]:
    """The translation of a word: one made-up word, or two."""
    index = WORDS.index(word)
    stem = _syllable(index) + _syllable(7 * index + 3)
    return (stem + "n", _syllable(11 * index + 5) + "s") if word in TWO_WORDS else (stem,)


def _syllable(index: int) -> str:
    return CONSONANTS[index % len(CONSONANTS)] + VOWELS[(index // len(CONSONANTS)) % len(VOWELS)]


def _translated_example(words: list[str], id: str) -> Example:
    target, links = translation_of(words)
    pharaoh = " ".join(f"{source}-{word}" for source, word in links)
    return Example((" ".join(words), " ".join(target)), id=id, meta={LINKS: pharaoh})
