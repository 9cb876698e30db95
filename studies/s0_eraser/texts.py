"""The texts of table 3: ERASER's movie reviews, e-SNLI's pairs, or our own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pellucid.data.load import load_examples
from pellucid.text.example import Example
from pellucid.text.lexicon import eraser_tokens
from pellucid.text.units import text_units
from studies.shared.text_choice import with_smallest_digests


@dataclass(frozen=True)
class EraserTask:
    """What is trained on and judged. train, judged: folders in --data. own: our data set. documents: many sentences
    each.
    """

    train: str
    judged: str
    own: str
    documents: bool
    labels: tuple[str, ...]


TASKS = {
    "movies": EraserTask("movies", "movies", "pocket", True, ("negative", "positive")),
    "snli": EraserTask("snli", "esnli", "pocket_pairs", False, ("contradiction", "entailment", "neutral")),
}


@cache
def part_of(data: str, task: str, part: str, most: int | None, words: int | None) -> tuple[Example, ...]:
    """The texts of "train", "dev" or "judged", of each the last sentences up to so many words.

    "judged" are the test texts that people marked. most: texts, None: all. words: None: whole texts.
    """
    about = TASKS[task]
    folder = about.judged if part == "judged" else about.train
    source = about.own if data == "pocket" else str(Path(data) / folder)
    texts = [replace(one, meta={}) for one in load_examples(source, "test" if part == "judged" else part)]
    if words is not None:
        texts = [last_sentences(one, words) for one in texts]
    if part == "judged":
        texts = [one for one in texts if one.rationales]
    return tuple(texts if most is None else with_smallest_digests(texts, most))


def labels_of(data: str, task: str) -> tuple[str, ...]:
    """The classes of a task. Our own texts have other classes."""
    if data == "pocket":
        return tuple(sorted({one.label for one in load_examples(TASKS[task].own, "all") if one.label}))
    return TASKS[task].labels


def last_sentences(example: Example, words: int) -> Example:
    """A text's last whole sentences with their marks: at most so many words between blanks, but at least one sentence.

    The last and not the first, because a review sums up at its end.
    """
    (text,) = example.segments
    start = _start(text, words)
    marks = [
        replace(mark, start=max(mark.start - start, 0), end=mark.end - start)
        for mark in example.rationales
        if mark.end > start
    ]
    return replace(example, segments=(text[start:],), rationales=tuple(marks))


def _start(text: str, words: int) -> int:
    starts = [start for start, _ in text_units(text, "sentence")]
    return next((start for start in starts if _count(text[start:]) <= words), starts[-1])


def _count(text: str) -> int:
    return len(eraser_tokens(text))


def lengths_in_words(texts: Sequence[Example]) -> float:
    """The mean number of words between blanks."""
    return sum(_count(segment) for one in texts for segment in one.segments) / max(len(texts), 1)
