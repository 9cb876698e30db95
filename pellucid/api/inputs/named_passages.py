"""Which passages a caller names: some for every text, or some for each."""

from collections.abc import Sequence

from pellucid.core.foundation.checks import listed_members
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted

Passages = Sequence[str] | Sequence[Sequence[str]]


def named_passages(passages: Passages | None, count: int) -> list[tuple[str, ...]] | None:
    """The passages of each of `count` texts; None where there are none.

    passages: a list of strings, which stand in every text, or a list of such lists, one a text. Raises `BadInput` for anything else.
    """
    if passages is None:
        return None
    members = None if isinstance(passages, str) else listed_members(passages)
    if not members:
        raise BadInput(f"passages={quoted(passages)} names none; give a list of parts of the text.")
    if all(isinstance(member, str) for member in members):
        return [tuple(map(str, members))] * count
    lists = [None if isinstance(member, str) else listed_members(member) for member in members]
    if [] in lists:
        raise BadInput(
            f"passages= names none for text {lists.index([])}; explain texts without passages in a call of their own."
        )
    if not all(own and all(isinstance(passage, str) for passage in own) for own in lists):
        raise BadInput("passages= are strings, or a list of strings for each text; something else came.")
    if len(lists) != count:
        raise BadInput(f"passages= has {len(lists)} lists for {count} texts; give one a text.")
    return [tuple(map(str, own or ())) for own in lists]
