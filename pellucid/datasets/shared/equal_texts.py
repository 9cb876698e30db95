"""Texts that occur several times in data: equal ones, contradicting labels among them, and nearly equal ones.

Two texts are equal if they differ in case and blanks only. They are nearly equal if they differ in punctuation and digits
only, or if at least eight of ten of their runs of three words are shared (Broder, 1997, "On the resemblance and containment
of documents", section 2; counted exactly instead of estimated).
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

import regex

from pellucid.core.text.example import Example

RUN = 3  # words
ALIKE = 0.8  # shared runs, of all runs of either text
NO_WORD = regex.compile(r"[\p{P}\p{S}\p{N}]+")
BETWEEN = "\x1f"  # between the texts of a pair


def folded(example: Example) -> str:
    """The text or pair without differences of case and blanks."""
    return BETWEEN.join(
        " ".join(unicodedata.normalize("NFC", text).casefold().split()) for text in example.segments
    )


def equal_groups(examples: Sequence[Example]) -> list[list[int]]:
    """The positions of each text that occurs twice or more, in the order of their first occurrence."""
    return _several(enumerate(map(folded, examples)))


def contradictions(examples: Sequence[Example], groups: Iterable[Sequence[int]]) -> list[list[int]]:
    """Those of the groups whose labels differ."""
    return [
        list(group)
        for group in groups
        if len({examples[i].label for i in group if examples[i].label is not None}) > 1
    ]


def nearly_equal(examples: Sequence[Example], parts: Mapping[int, str]) -> list[tuple[int, int]]:
    """Pairs of texts in different parts that are nearly equal, each text of a later part once; equal texts are left out.

    parts: position -> the part that a text is in. Exact, by an index of each text's rarest runs of words: 200,000 texts of 35 words take about a minute and 2 GB.
    """
    texts = [folded(example) for example in examples]
    words = [NO_WORD.sub(" ", text).split() for text in texts]
    pairs: dict[int, int] = {}
    for group in _several((i, " ".join(own)) for i, own in enumerate(words) if own):
        _join(pairs, group[0], group[1:], texts, parts)
    for first, second in _similar([_runs(own) for own in words]):
        _join(pairs, first, [second], texts, parts)
    return sorted((first, second) for second, first in pairs.items())


def _join(
    pairs: dict[int, int], first: int, others: Iterable[int], texts: Sequence[str], parts: Mapping[int, str]
) -> None:
    for other in others:
        if texts[first] != texts[other] and parts[first] != parts[other]:
            pairs.setdefault(max(first, other), min(first, other))


def _several(keyed: Iterable[tuple[int, str]]) -> list[list[int]]:
    positions: dict[str, list[int]] = defaultdict(list)
    for position, key in keyed:
        positions[key].append(position)
    return [group for group in positions.values() if len(group) > 1]


def _runs(words: Sequence[str]) -> frozenset[int]:
    """The runs of three words, as numbers; a short text has none, since it shares all or nothing."""
    if len(words) < 2 * RUN:
        return frozenset()
    return frozenset(hash(tuple(words[i : i + RUN])) for i in range(len(words) - RUN + 1))


def _similar(runs: Sequence[frozenset[int]]) -> Iterator[tuple[int, int]]:
    """Pairs that share enough runs.

    Two sets that share the share t of their union have one of the rarest n - ceil(t n) + 1 members of either in common, so
    only texts that meet there are compared.
    """
    counts = Counter(run for own in runs for run in own)
    meeting: dict[int, list[int]] = defaultdict(list)
    for position, own in enumerate(runs):
        several = [run for run in own if counts[run] > 1]
        n_rarest = len(own) - ceil(ALIKE * len(own)) + 1 - (len(own) - len(several))
        if n_rarest < 1:  # so many of its runs are its own that no text can be alike
            continue
        rarest = sorted(several, key=lambda run: (counts[run], run))[:n_rarest]
        for other in sorted({other for run in rarest for other in meeting[run]}):
            shared = len(own & runs[other])
            if shared >= ALIKE * (len(own) + len(runs[other]) - shared):
                yield other, position
        for run in rarest:
            meeting[run].append(position)
