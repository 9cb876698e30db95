"""Pocket: a small corpus of remarks that this project wrote, as single texts and as pairs."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from pellucid.base.errors import BadFile
from pellucid.base.kinds import datasets
from pellucid.data.shared.marked_text import unmark
from pellucid.data.shared.splits import split_of
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
        lines = [
            line
            for line in file.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")
        ]
        for number, line in enumerate(lines, start=1):
            fields = line.split(" | ")
            if len(fields) != n_fields:
                raise BadFile(f"{file.name}, example {number}: {len(fields)} fields instead of {n_fields}.")
            yield f"{name}-{number:03d}", fields


def _example(id: str, fields: list[str]) -> Example:
    label, phenomena, group, marked = fields
    text, rationales = unmark(marked)
    meta = {"domain": id.split("-")[0], **tags(phenomena, group)}
    return Example((text,), label, tuple(rationales), id, meta)


def tags(phenomena: str, group: str) -> dict[str, Any]:
    """Meta of a text: its phenomena as a list, and the group of its minimal pair unless that is "-"."""
    return {"phenomena": [name.strip() for name in phenomena.split(",")]} | (
        {} if group == "-" else {"group": group}
    )


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
    """The sentences of one part without those that came later: what results before the second edition were computed with."""
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
