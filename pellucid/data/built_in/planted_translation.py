"""Planted translation: sentences of everyday words and their translation into a made-up language, with the true links of words.

The rules are few, so a small translator can learn them, and they move words: noun phrases are turned round, what stands before a
place comes after it, verbs come last, and some verbs become two words. A link says which source word a target word comes from;
every target word has one. Written for Pellucid, after the planted data of Bastings et al. (2022).
"""

import random
from functools import cache

from pellucid.base.checks import one_of
from pellucid.base.kinds import datasets
from pellucid.text.example import Example

DETERMINERS = "the a every some".split()
ADJECTIVES = "old small green quiet busy wooden tired young clever round".split()
NOUNS = (
    "dog teacher doctor child baker sailor king horse bird farmer painter singer letter apple bridge boat table lamp book drum"
).split()
PLACES = "garden river market house forest street island kitchen".split()
BEFORE_PLACES = "in near behind under above".split()
ACTIONS = "finds paints carries follows opens buys hides washes draws keeps".split()
STATES = "sleeps waits sings laughs falls dreams".split()
TWO_WORDS = frozenset("carries opens washes waits laughs dreams".split())  # in the translation
WORDS = (*DETERMINERS, *ADJECTIVES, *NOUNS, *PLACES, *BEFORE_PLACES, *ACTIONS, *STATES)
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SIZES = {"train": 4000, "dev": 300, "test": 300}
LINKS = "links"  # the name in an example's meta: "0-1 1-0", source word and target word from 0


@datasets.add(task="translation", classes=())
def planted_translation(split: str) -> list[Example]:
    """4,000 train, 300 dev and 300 test pairs; no sentence is in two parts, and each has its links in `meta["links"]`."""
    one_of("split", split, (*SIZES, "all"))
    names = list(SIZES) if split == "all" else [split]
    return [example for name in names for example in _parts()[name]]


@cache
def _parts() -> dict[str, tuple[Example, ...]]:
    draw, seen = random.Random("planted translation"), set[str]()
    sentences: list[list[str]] = []
    while len(sentences) < sum(SIZES.values()):
        words = _sentence(draw)
        if " ".join(words) not in seen:
            seen.add(" ".join(words))
            sentences.append(words)
    parts, first = {}, 0
    for name, size in SIZES.items():
        own = sentences[first : first + size]
        parts[name] = tuple(_example(words, f"{name}-{number}") for number, words in enumerate(own))
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
    number = WORDS.index(word)
    stem = _syllable(number) + _syllable(7 * number + 3)
    return (stem + "n", _syllable(11 * number + 5) + "s") if word in TWO_WORDS else (stem,)


def _syllable(number: int) -> str:
    return CONSONANTS[number % len(CONSONANTS)] + VOWELS[(number // len(CONSONANTS)) % len(VOWELS)]


def _example(words: list[str], id: str) -> Example:
    target, links = translation_of(words)
    pharaoh = " ".join(f"{source}-{word}" for source, word in links)
    return Example((" ".join(words), " ".join(target)), id=id, meta={LINKS: pharaoh})
