"""Texts in two languages, line by line: two files of which the same lines belong together."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.text.example import Example

Line = tuple[int, str]  # its number in the file, and its text


def aligned(
    source: Path, target: Path, sources: Iterable[Line], targets: Iterable[Line]
) -> Iterator[tuple[int, list[str]]]:
    """(line of the source, both texts) of the lines of two files; raises `BadFile`, with both numbers, where one has more of them."""
    pairs = iter(zip_longest(sources, targets))
    counts = [0, 0]
    for one, other in pairs:
        counts = [counts[0] + (one is not None), counts[1] + (other is not None)]
        if one is None or other is None:
            for more, another in pairs:
                counts = [counts[0] + (more is not None), counts[1] + (another is not None)]
            raise BadFile(
                f"{source} has {counts[0]:,} texts and {target} {counts[1]:,}; of aligned files each line has its translation in the other."
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
