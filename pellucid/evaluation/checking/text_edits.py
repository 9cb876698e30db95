"""Edits of texts that change neither their words' number nor, as a rule, their meaning: case, blanks, one synonym."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

import numpy as np

from pellucid.core.foundation.errors import BadFile
from pellucid.core.lexicon.inflection import likeliest_synonym
from pellucid.core.lexicon.wordnet import WordNet
from pellucid.core.passes.seeds import derived_seed
from pellucid.core.text.content_words import is_content_word
from pellucid.core.text.example import Example
from pellucid.core.text.units import text_units

EDITS = ("case", "blanks", "synonyms")
Edit = Callable[[str], str]


def edit_named(name: str, seed: int) -> Edit | None:
    """The edit of that name; None for synonyms where WordNet is not installed. seed: which word gets a synonym."""
    if name == "case":
        return other_case
    if name == "blanks":
        return more_blanks
    try:
        wordnet = WordNet()
    except BadFile:
        return None
    return lambda text: with_synonym(text, wordnet, seed)


def edited(examples: Sequence[Example], edit: Edit) -> list[Example]:
    """The examples with edited texts, without marks; an example that an edit leaves as it was stays."""
    return [
        replace(example, segments=tuple(map(edit, example.segments)), rationales=()) for example in examples
    ]


def other_case(text: str) -> str:
    """The text in lower case, or in capitals where it is in lower case."""
    return text.lower() if text != text.lower() else text.upper()


def more_blanks(text: str) -> str:
    """The text with two blanks for each."""
    return text.replace(" ", "  ")


def with_synonym(text: str, wordnet: WordNet, seed: int) -> str:
    """The text with one content word replaced by its most frequent synonym of one word; as it was where no word has one.

    Which word it is depends on the text and the seed alone. Its part of speech is the likeliest, since nothing here tags texts.
    """
    return next(_synonym_texts(text, wordnet, seed), text)


def synonym_examples(example: Example, most: int, wordnet: WordNet, seed: int) -> list[Example]:
    """At most so many copies of an example, without marks, each with one other word replaced as in `with_synonym`; of a pair's texts in turn."""
    of_texts = [_with_segment(example, number, wordnet, seed) for number in range(len(example.segments))]
    in_turn = (one for group in zip_longest(*of_texts) for one in group if one is not None)
    return [replace(example, segments=segments, rationales=()) for segments in islice(in_turn, most)]


def _with_segment(example: Example, number: int, wordnet: WordNet, seed: int) -> Iterator[tuple[str, ...]]:
    """The texts of an example, with one word of this one replaced."""
    before, after = example.segments[:number], example.segments[number + 1 :]
    for text in _synonym_texts(example.segments[number], wordnet, seed):
        yield (*before, text, *after)


def _synonym_texts(text: str, wordnet: WordNet, seed: int) -> Iterator[str]:
    """The text with one word replaced, a word at a time, in an order that depends on the text and the seed alone."""
    places = [(start, end) for start, end in text_units(text, "word") if is_content_word(text[start:end])]
    for place in np.random.default_rng(derived_seed(seed, "synonym", text)).permutation(len(places)).tolist():
        start, end = places[place]
        if synonym := likeliest_synonym(text[start:end], wordnet):
            yield text[:start] + synonym + text[end:]
