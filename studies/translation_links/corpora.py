"""The pairs of the study: a planted translation, whose links are known, and a user's pairs with links by an aligner."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import read_text
from pellucid.data.built_in import LINKS
from pellucid.data.load import load_examples
from pellucid.text.example import Example
from pellucid.writing.links import Links, parsed_links

PLANTED, SILVER = "planted", "silver"


@dataclass(frozen=True)
class LinkedPairs:
    """train, dev: pairs to learn from. test: pairs that are explained. links: those of each test pair."""

    train: Sequence[Example]
    dev: Sequence[Example]
    test: Sequence[Example]
    links: Sequence[Links]


def planted(n_train: int | None, n_test: int) -> LinkedPairs:
    """`planted_translation`."""
    train, dev, test = (load_examples("planted_translation", split) for split in ("train", "dev", "test"))
    lines = [(str(one.meta[LINKS]), one.id) for one in test[:n_test]]
    return LinkedPairs(train[:n_train], dev[:n_train], test[:n_test], _links(test[:n_test], lines))


def silver(pairs: str, links: str, n_test: int) -> LinkedPairs:
    """A folder with train, dev and test as JSON lines (en, de), and a file with a line of links for each test pair.

    Raises `BadInput` for a file with more or fewer lines than test pairs.
    """
    train, dev, test = (
        load_examples(pairs, split, "json_lines", text="en", second="de") for split in ("train", "dev", "test")
    )
    lines = read_text(Path(links)).splitlines()
    if len(lines) != len(test):
        raise BadInput(f"{links} has {len(lines):,} lines for {len(test):,} test pairs; give one a pair.")
    named = [(line, f"{links}, line {number}") for number, line in enumerate(lines, 1)]
    return LinkedPairs(train, dev, test[:n_test], _links(test[:n_test], named[:n_test]))


def corpora_of(pairs: str | None, links: str | None, n_train: int | None, n_test: int) -> dict[str, LinkedPairs]:
    """The planted pairs, and silver ones where both are named. Raises `BadSetting` where one of both is missing."""
    if (pairs is None) != (links is None):
        raise BadSetting("--pairs and --links belong together: the links are those of the test pairs; give both.")
    corpora = {PLANTED: planted(n_train, n_test)}
    return corpora if pairs is None or links is None else corpora | {SILVER: silver(pairs, links, n_test)}


def _links(test: Sequence[Example], lines: Sequence[tuple[str, str]]) -> list[Links]:
    sizes = [[len(text.split()) for text in pair.segments] for pair in test]
    return [
        parsed_links(line, n_source, n_target, where)
        for (n_source, n_target), (line, where) in zip(sizes, lines, strict=True)
    ]
