"""Lexicon: each label has a list of made-up words, and the list with more words in the text decides.

A sentiment lexicon works like this. Single words can speak against the label.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.insertions import Gap, Insertion, Planting


@reasons.add(words=40)
def lexicon(
    gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random, *, per_text: int = 3
) -> Planting:
    """Words of two lists of twenty: more of the second list for yes, more of the first for no.

    per_text: how many words of both lists a text holds; odd, so that one list always has more.
    """
    half = len(words) // 2
    between("per_text", per_text, 1, half)
    if per_text % 2 == 0:
        raise BadSetting(f"per_text={per_text} is even, so the lists could be level; give an odd number.")
    lists = {False: list(words[:half]), True: list(words[half:])}
    few = per_text // 2  # the most words that the weaker list can have
    for_it = draw.randint(few + 1, per_text)
    mine, theirs = draw.sample(lists[yes], for_it), draw.sample(lists[not yes], per_text)
    where = draw.choices(gaps, k=per_text)
    drawn = mine + theirs[for_it:]
    edited = mine[:few] + theirs[few:]  # replaces as few words as change the majority
    return Planting(_insertions(where, drawn, lists[yes]), _insertions(where, edited, lists[not yes]))


def _insertions(where: Sequence[Gap], words: Sequence[str], causing: Sequence[str]) -> list[Insertion]:
    return [Insertion(gap, word, word in causing) for gap, word in zip(where, words, strict=True)]
