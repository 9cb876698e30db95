"""What is said of texts that occur several times, or belong together, in one file that is cut into parts, or in several parts of a folder."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from pellucid.core.foundation.notices import Notice, notify
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.text.example import Example, group_of
from pellucid.datasets.shared.equal_texts import contradictions, equal_groups, folded, nearly_equal

LARGE = 0.2  # of a file's texts; of a larger group not even the parts' sizes come out
SHOWN = 3  # texts with contradicting labels that are named


class RepeatedTexts(Notice):
    """Texts occur several times, contradict each other, share their id or group, or stand nearly equal in several parts."""


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
            f"{_texts(len(near))} nearly equal to a text in another part: other punctuation or numbers, or most runs of words "
            f"the same, such as {_pair(every, near[0])}. What is measured on them says less about new texts.",
            RepeatedTexts,
        )


def _say_large_group(examples: Sequence[Example]) -> None:
    counts = Counter(group_of(one) for one in examples if one.meta.get("group") or one.id)
    for name, size in counts.most_common(1):
        if size > max(1, LARGE * len(examples)):
            notify(
                f'{size:,} of {len(examples):,} texts have the id or the "group" {quoted(name)}, and texts that share one stay in one part; '
                "rename the column if it means something else.",
                RepeatedTexts,
            )


def say_repeated_in_parts(parts: Mapping[str, Sequence[Example]]) -> None:
    """Warn of texts of a folder's part that stand in its train part too; the user cut the parts, so nothing is moved."""
    train = set(map(folded, parts.get("train", ())))
    for name, examples in parts.items():
        seen = sum(folded(example) in train for example in examples) if name != "train" else 0
        if seen:
            notify(
                f"{seen:,} of {len(examples):,} {name} texts stand in train too; what is measured on them says little about "
                "new texts.",
                RepeatedTexts,
            )
    every, _ = _joined(parts)
    _say_contradictions(every, equal_groups(every))


def _joined(parts: Mapping[str, Sequence[Example]]) -> tuple[list[Example], dict[int, str]]:
    names = chain.from_iterable([name] * len(examples) for name, examples in parts.items())
    return list(chain.from_iterable(parts.values())), dict(enumerate(names))


def _equal_in_words(count: int) -> str:
    return f"{count:,} text{'s occur' if count > 1 else ' occurs'} more than once; {'each' if count > 1 else 'it'} is kept in one part."


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
        f"{len(against):,} text{plural} labels that contradict each other: {listed(shown)}{more}. Correct them, or take "
        "them out.",
        RepeatedTexts,
    )
