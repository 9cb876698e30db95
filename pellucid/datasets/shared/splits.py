"""Train, dev and test parts that never separate a minimal pair and keep the labels balanced."""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b

from pellucid.core.foundation.checks import one_of
from pellucid.core.text.example import Example

SHARES = {"train": 0.70, "dev": 0.15, "test": 0.15}


def split_of(examples: Sequence[Example], split: str) -> list[Example]:
    """The examples of one part, 70 / 15 / 15 %, in their original order.

    Groups (`meta["group"]`, else the example's id) stay together. Groups with the same labels are ordered by a
    digest of their name and cut in proportion, so every part has the same balance.
    """
    one_of("split", split, (*SHARES, "all"))
    if split == "all":
        return list(examples)
    chosen = {name for name, part in _parts(examples).items() if part == split}
    return [example for example in examples if _group(example) in chosen]


def part_by_digest(name: str) -> str:
    """The part that a name falls into, 70 / 15 / 15 %, by a digest of it alone: for sets too large to hold at once."""
    place = _place(name)
    return "train" if place < SHARES["train"] else "dev" if place < 1 - SHARES["test"] else "test"


def is_held_out(name: str) -> bool:
    """Whether a training row is among the 15 % kept for dev, where the original has no dev part."""
    return _place(name) < SHARES["dev"]


def _place(name: str) -> float:
    """A number in [0, 1) that a name always has."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) / 2**64


def _group(example: Example) -> str:
    return str(example.meta.get("group") or example.id)


def _parts(examples: Sequence[Example]) -> dict[str, str]:
    labels: dict[str, list[str]] = defaultdict(list)
    for example in examples:
        labels[_group(example)].append(example.label or "")
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, held in labels.items():
        alike[tuple(sorted(held))].append(name)
    parts: dict[str, str] = {}
    shared = dict.fromkeys(SHARES, 0)
    for held_labels, names in sorted(alike.items()):
        alone = (
            len(held_labels) == 1
        )  # single examples: each label is cut by itself, so every part has its balance
        parts |= _cut(names, len(held_labels), dict.fromkeys(SHARES, 0) if alone else shared)
    return parts


def _cut(names: list[str], size: int, given: dict[str, int]) -> dict[str, str]:
    """Cut groups of `size` examples in proportion; given: examples a part has so far, so that rounding evens out."""
    order = sorted(names, key=lambda name: blake2b(name.encode(), digest_size=8).digest())
    total, first = sum(given.values()) + size * len(order), 0
    cut: dict[str, str] = {}
    for part, share in SHARES.items():
        wanted = round((share * total - given[part]) / size) if part != "test" else len(order)
        taken = order[first : first + max(0, wanted)]
        cut |= dict.fromkeys(taken, part)
        given[part] += size * len(taken)
        first += len(taken)
    return cut
