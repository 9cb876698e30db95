"""Texts with [[marked]] evidence, as an author types them: the form of our own corpus's files."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.text.example import Example, Rationale

OPEN, CLOSE = "[[", "]]"


def unmark(marked: str, segment: int = 0) -> tuple[str, list[Rationale]]:
    """The plain text, and where its [[...]] parts lie; raises `ValueError` when brackets do not match."""
    text, rationales = "", []
    head, *marked_parts = marked.split(OPEN)
    if CLOSE in head:
        raise ValueError(f"{CLOSE} without {OPEN}")
    text += head
    for part in marked_parts:
        evidence, close, after = part.partition(CLOSE)
        if not close or CLOSE in after:
            raise ValueError(f"{OPEN} without {CLOSE}, or {CLOSE} without {OPEN}")
        rationales.append(Rationale(segment, len(text), len(text) + len(evidence)))
        text += evidence + after
    return text, rationales


# One rationale from several annotators: what anyone marked, or what most of them marked.


AGREEMENTS = ("union", "majority")


def agreed_rationales(text: str, marked: Sequence[Sequence[bool]], agreement: str, segment: int = 0) -> list[Rationale]:
    """The parts of a text that enough annotators marked.

    marked: for each annotator, whether each character is marked. agreement: "union" needs one annotator, "majority"
    more than half of them. Marked parts with only blanks between them are joined.
    """
    one_of("agreement", agreement, AGREEMENTS)
    enough = 1 if agreement == "union" else len(marked) // 2 + 1
    rationales: list[Rationale] = []
    for position, votes in enumerate(map(sum, zip(*marked, strict=True))):
        if votes < enough or text[position].isspace():
            continue
        if rationales and not text[rationales[-1].end : position].strip():
            rationales[-1] = Rationale(segment, rationales[-1].start, position + 1)
        else:
            rationales.append(Rationale(segment, position, position + 1))
    return rationales


# Texts in two languages, line by line: two files of which the same lines belong together.


Line = tuple[int, str]  # its number in the file, and its text


def aligned(
    source: Path, target: Path, sources: Iterable[Line], targets: Iterable[Line]
) -> Iterator[tuple[int, list[str]]]:
    """(line of the source, both texts) of the lines of two files; raises `BadFile`, with both numbers, where one has
    more of them.
    """
    pairs = iter(zip_longest(sources, targets))
    counts = [0, 0]
    for one, other in pairs:
        counts = [counts[0] + (one is not None), counts[1] + (other is not None)]
        if one is None or other is None:
            for more, another in pairs:
                counts = [counts[0] + (more is not None), counts[1] + (another is not None)]
            raise BadFile(
                f"{source} has {counts[0]:,} texts and {target} {counts[1]:,}; of aligned files each line has its "
                f"translation in the other."
            )
        yield one[0], [one[1], other[1]]


def pair_of(texts: list[str], languages: tuple[str, str], id: str, **meta: object) -> list[Example]:
    """A pair as an example; raises `ValueError` for an empty side."""
    if len(texts) != len(languages):
        raise ValueError(f"it has {len(texts)} fields; {languages[0]} and {languages[1]} are due")
    stripped = tuple(text.strip() for text in texts)
    for text, language in zip(stripped, languages, strict=True):
        if not text:
            raise ValueError(f"its {language} is empty")
    return [Example(stripped, id=id, meta=dict(meta))]
