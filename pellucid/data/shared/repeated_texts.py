"""What is said of texts that occur several times, or belong together, in one file that is cut into parts, or in several
parts of a folder.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil

import regex

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import Notice, notify
from pellucid.text.example import Example, group_of

LARGE = 0.2  # of a file's texts; of a larger group not even the parts' sizes come out
SHOWN = 3  # texts with contradicting labels that are named


class RepeatedTexts(Notice):
    """Texts occur several times, contradict each other, share their id or group, or stand nearly equal in several
    parts.
    """


def say_repeated_in_file(parts: Mapping[str, Sequence[Example]]) -> None:
    """Warn of texts that one file has several times, which are in one part each, and of large groups.

    parts: the name of a part -> its examples, of all parts that the file was cut into.
    """
    every, part_of = _joined(parts)
    _say_large_group(every)
    groups = equal_groups(every)
    if groups:
        notify(_equal_in_words(len(groups)), RepeatedTexts)
    _say_contradictions(every, groups)
    near = nearly_equal(every, part_of)
    if near:
        notify(
            f"{_texts(len(near))} nearly equal to a text in another part: other punctuation or numbers, or most runs "
            f"of words the same, such as {_pair(every, near[0])}. What is measured on them says less about new texts.",
            RepeatedTexts,
        )


def _say_large_group(examples: Sequence[Example]) -> None:
    counts = Counter(group_of(example) for example in examples if example.meta.get("group") or example.id)
    for name, size in counts.most_common(1):
        if size > max(1, LARGE * len(examples)):
            notify(
                f'{size:,} of {len(examples):,} texts have the id or the "group" {quoted(name)}, and texts that share '
                f"one stay in one part; "
                "rename the column if it means something else.",
                RepeatedTexts,
            )


def say_repeated_in_parts(parts: Mapping[str, Sequence[Example]]) -> None:
    """Warn of texts of a folder's part that stand in its train part too; the user cut the parts, so nothing is
    moved.
    """
    train = set(map(folded, parts.get("train", ())))
    for name, examples in parts.items():
        seen = sum(folded(example) in train for example in examples) if name != "train" else 0
        if seen:
            notify(
                f"{seen:,} of {len(examples):,} {name} texts stand in train too; what is measured on them says little "
                f"about new texts.",
                RepeatedTexts,
            )
    every, _ = _joined(parts)
    _say_contradictions(every, equal_groups(every))


def _joined(parts: Mapping[str, Sequence[Example]]) -> tuple[list[Example], dict[int, str]]:
    names = chain.from_iterable([name] * len(examples) for name, examples in parts.items())
    return list(chain.from_iterable(parts.values())), dict(enumerate(names))


def _equal_in_words(count: int) -> str:
    return (
        f"{count:,} text{'s occur' if count > 1 else ' occurs'} more than once; {'each' if count > 1 else 'it'} is "
        f"kept in one part."
    )


def _texts(count: int) -> str:
    return f"{count:,} text{'s are' if count > 1 else ' is'}"


def _pair(every: Sequence[Example], pair: tuple[int, int]) -> str:
    return " and ".join(every[position].id or f"text {position + 1}" for position in pair)


def _say_contradictions(every: Sequence[Example], groups: Sequence[Sequence[int]]) -> None:
    against = contradictions(every, groups)
    if not against:
        return
    shown = ["; ".join(f"{every[i].id} ({every[i].label})" for i in group[:4]) for group in against[:SHOWN]]
    more = ", …" if len(against) > SHOWN else ""
    plural = "s have" if len(against) > 1 else " has"
    notify(
        f"{len(against):,} text{plural} labels that contradict each other: {listed(shown)}{more}. Correct them, or "
        f"take them out.",
        RepeatedTexts,
    )


# Texts that occur several times in data: equal ones, contradicting labels among them, and nearly equal ones.
#
# Two texts are equal if they differ in case and blanks only. They are nearly equal if they differ in punctuation and
# digits only, or if at least eight of ten of their runs of three words are shared (Broder, 1997, "On the resemblance
# and containment of documents", section 2; counted exactly instead of estimated).

RUN = 3  # words
ALIKE = 0.8  # shared runs, of all runs of either text
NO_WORD = regex.compile(r"[\p{P}\p{S}\p{N}]+")
BETWEEN = "\x1f"  # between the texts of a pair


def folded(example: Example) -> str:
    """The text or pair without differences of case and blanks."""
    return BETWEEN.join(" ".join(unicodedata.normalize("NFC", text).casefold().split()) for text in example.segments)


def equal_groups(examples: Sequence[Example]) -> list[list[int]]:
    """The positions of each text that occurs twice or more, in the order of their first occurrence."""
    return _several(enumerate(map(folded, examples)))


def contradictions(examples: Sequence[Example], groups: Iterable[Sequence[int]]) -> list[list[int]]:
    """Those of the groups whose labels differ."""
    return [
        list(group) for group in groups if len({examples[i].label for i in group if examples[i].label is not None}) > 1
    ]


def nearly_equal(examples: Sequence[Example], parts: Mapping[int, str]) -> list[tuple[int, int]]:
    """Pairs of texts in different parts that are nearly equal, each text of a later part once; equal texts are left
    out.

    parts: position -> the part that a text is in. Exact, by an index of each text's rarest runs of words: 200,000 texts
    of 35 words take about a minute and 2 GB.
    """
    texts = [folded(example) for example in examples]
    words = [NO_WORD.sub(" ", text).split() for text in texts]
    pairs: dict[int, int] = {}
    for group in _several((i, " ".join(text_words)) for i, text_words in enumerate(words) if text_words):
        _join(pairs, group[0], group[1:], texts, parts)
    for first, second in _similar([_runs(text_words) for text_words in words]):
        _join(pairs, first, [second], texts, parts)
    return sorted((first, second) for second, first in pairs.items())


def _join(
    pairs: dict[int, int], first: int, others: Iterable[int], texts: Sequence[str], parts: Mapping[int, str]
) -> None:
    for second in others:
        if texts[first] != texts[second] and parts[first] != parts[second]:
            pairs.setdefault(max(first, second), min(first, second))


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

    Two sets that share the share t of their union have one of the rarest n - ceil(t n) + 1 members of either in common,
    so only texts that meet there are compared.
    """
    counts = Counter(run for of_text in runs for run in of_text)
    meeting: dict[int, list[int]] = defaultdict(list)
    for position, text_runs in enumerate(runs):
        several = [run for run in text_runs if counts[run] > 1]
        n_rarest = len(text_runs) - ceil(ALIKE * len(text_runs)) + 1 - (len(text_runs) - len(several))
        if n_rarest < 1:  # so many of its runs are its own that no text can be alike
            continue
        rarest = sorted(several, key=lambda run: (counts[run], run))[:n_rarest]
        for candidate in sorted({earlier for run in rarest for earlier in meeting[run]}):
            shared = len(text_runs & runs[candidate])
            if shared >= ALIKE * (len(text_runs) + len(runs[candidate]) - shared):
                yield candidate, position
        for run in rarest:
            meeting[run].append(position)
